/** Runs the commands of a runbook's page as they stand there, in bash, with the real gcloud and the real command line. */
import { spawn } from 'node:child_process';
import { chmodSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { callerEnvironment } from '../../local/demo/plinth-process.js';
import { local, people } from '../../local/stack/deployment.js';
import { cliPath } from '../support/plinth-here.js';

export const folder = join('docs', 'operate', 'runbooks');
export const pageNames = (): string[] =>
  readdirSync(folder)
    .filter((file) => file.endsWith('.md') && file !== 'README.md')
    .map((file) => file.replace(/\.md$/, ''))
    .sort();
export const pageText = (name: string): string => readFileSync(join(folder, `${name}.md`), 'utf8');

export interface Block {
  /** `google`: nothing here answers it. That gcloud takes it is all that can be seen. */
  readonly at: 'anywhere' | 'google';
  readonly script: string;
}

/** Fenced blocks in their order. */
export const blocksOf = (name: string): Block[] =>
  [...pageText(name).matchAll(/^```(\w*)[ ]?(\w*)\n([\s\S]*?)^```$/gm)].map(([, , where, script = '']) => ({
    at: where === 'google' ? 'google' : 'anywhere',
    script,
  }));

export interface Ran {
  readonly exitCode: number | null;
  /** Both streams, in their order. */
  readonly text: string;
}

export interface Place {
  readonly folder: string;
  readonly env: Readonly<Record<string, string>>;
}

/** What README of the runbooks has people set, and what else a page names. */
export const variablesOf = (more: Readonly<Record<string, string>> = {}): Record<string, string> => ({
  PROJECT: local.project,
  REGION: local.region,
  // Some commands of gcloud want to know of an account, though they have a token.
  CLOUDSDK_CORE_ACCOUNT: people.admin,
  CLOUDSDK_CORE_DISABLE_USAGE_REPORTING: 'true',
  CLOUDSDK_COMPONENT_MANAGER_DISABLE_UPDATE_CHECK: 'true',
  ...more,
});

/** `plinth` on the PATH of a place. */
export function programFolder({ folder }: Place): string {
  const bin = join(folder, '.bin');
  mkdirSync(bin, { recursive: true });
  const file = join(bin, 'plinth');
  writeFileSync(file, `#!/bin/sh\nexec '${process.execPath}' '${cliPath}' "$@"\n`);
  chmodSync(file, 0o755);
  return bin;
}

/** `flags` of bash: by default the first command that fails ends it. */
export function runScript(script: string, place: Place, flags = '-euo'): Promise<Ran> {
  const env = callerEnvironment(place);
  return new Promise((resolve, reject) => {
    const child = spawn('bash', [flags, 'pipefail', '-c', script], {
      cwd: place.folder,
      env: { ...env, PATH: `${programFolder(place)}:${env['PATH']}` },
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    let text = '';
    for (const stream of [child.stdout, child.stderr]) {
      stream.setEncoding('utf8').on('data', (piece: string) => {
        text += piece;
      });
    }
    child.once('error', reject);
    child.once('close', (exitCode) => resolve({ exitCode, text }));
  });
}
