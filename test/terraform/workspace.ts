/** Our terraform in a folder of its own with the real binary, offline: the providers come from a mirror beside it. */
import { execFile } from 'node:child_process';
import { chmodSync, cpSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect } from 'chai';
import { type ProviderName, providers, versionOf } from './provider-schema.js';

export interface TerraformRun {
  readonly exitCode: number;
  /** Both streams, as terraform wrote them. */
  readonly output: string;
}

export interface Workspace {
  readonly folder: string;
  /** In the folder, or in one beneath it. */
  terraform(args: readonly string[], within?: string): Promise<TerraformRun>;
  close(): void;
}

/** What comes first in a workspace. */
export const init: readonly string[] = ['init', '-backend=false', '-input=false', '-no-color'];

export const terraformFolder = fileURLToPath(new URL('../../../terraform/', import.meta.url));

const architectures: Readonly<Record<string, string>> = { x64: 'amd64', arm64: 'arm64' };

/** Terraform's mirrors hold a program for each system: here a line of shell that starts ours. */
function putInMirror(root: string, name: ProviderName, version: string): void {
  const system = `${process.platform}_${architectures[process.arch] ?? process.arch}`;
  const folder = join(root, 'mirror/registry.terraform.io/hashicorp', name, version, system);
  mkdirSync(folder, { recursive: true });
  const program = join(folder, `terraform-provider-${name}_v${version}`);
  const provider = fileURLToPath(new URL('provider.js', import.meta.url));
  writeFileSync(program, `#!/bin/sh\nexec '${process.execPath}' '${provider}' ${name}\n`);
  chmodSync(program, 0o755);
}

/** `change` is made to the copy before anything is read of it; `version` is what the mirror calls the provider google. */
export function makeWorkspace(change: (folder: string) => void = () => {}, version = versionOf('google')): Workspace {
  const root = mkdtempSync(join(tmpdir(), 'plinth-terraform-'));
  const folder = join(root, 'terraform');
  cpSync(terraformFolder, folder, { recursive: true, filter: (path) => !path.includes('/.terraform') });
  change(folder);
  for (const name of providers) putInMirror(root, name, name === 'google' ? version : versionOf(name));
  const cliConfig = join(root, 'terraform.rc');
  writeFileSync(
    cliConfig,
    `provider_installation {\n  filesystem_mirror {\n    path = "${join(root, 'mirror')}"\n  }\n}\n`,
  );
  const env = {
    PATH: process.env['PATH'],
    HOME: root,
    TF_CLI_CONFIG_FILE: cliConfig,
    TF_DISABLE_PLUGIN_TLS: '1',
    TF_IN_AUTOMATION: '1',
    CHECKPOINT_DISABLE: '1',
    NO_COLOR: '1',
  };
  return {
    folder,
    terraform: (args, within = '.') =>
      new Promise((resolve, reject) => {
        const options = { cwd: join(folder, within), env, maxBuffer: 64 * 1024 * 1024 };
        execFile('terraform', [...args], options, (error, stdout, stderr) => {
          if (error !== null && typeof error.code !== 'number') {
            reject(
              new Error(
                `terraform cannot be run; install it (https://developer.hashicorp.com/terraform/install): ${error.message}`,
              ),
            );
          } else resolve({ exitCode: typeof error?.code === 'number' ? error.code : 0, output: `${stdout}${stderr}` });
        });
      }),
    close: () => rmSync(root, { recursive: true, force: true }),
  };
}

/** Runs terraform in a workspace of its own, once it is initialized. */
export async function inWorkspace<T>(work: (workspace: Workspace) => Promise<T>, change?: (folder: string) => void) {
  const workspace = makeWorkspace(change);
  try {
    const { exitCode, output } = await workspace.terraform(init);
    expect(exitCode, output).to.equal(0);
    return await work(workspace);
  } finally {
    workspace.close();
  }
}
