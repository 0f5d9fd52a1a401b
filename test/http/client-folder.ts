/** One of tools/clients/, each with packages of its own, copied elsewhere: programs run in it. */
import { spawn } from 'node:child_process';
import { cpSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { expect } from 'chai';
import { projectFolder } from '../support/recording-store.js';

export interface ClientFolder {
  readonly path: string;
  write(name: string, content: string): void;
  /** Gives what it printed. */
  run(program: string, args: readonly string[], more?: Readonly<Record<string, string>>): Promise<string>;
  /** Installs what its lock names. It waits for the registry. */
  npmCi(): Promise<void>;
  remove(): void;
}

export function clientFolder(name: string): ClientFolder {
  const path = mkdtempSync(join(tmpdir(), `plinth-${name}-`));
  cpSync(join(projectFolder, 'tools/clients', name), path, { recursive: true });
  const folder: ClientFolder = {
    path,
    write: (file, content) => writeFileSync(join(path, file), content),
    async run(program, args, more = {}) {
      const own = Object.entries(process.env).filter(([variable]) => !/^npm_/i.test(variable));
      const env = { ...Object.fromEntries(own), NO_COLOR: '1', ...more };
      const child = spawn(program, args, { cwd: path, env, stdio: ['ignore', 'pipe', 'pipe'] });
      const [stdout, stderr, code] = await Promise.all([
        text(child.stdout),
        text(child.stderr),
        new Promise<number | null>((resolve, reject) => child.once('error', reject).once('close', resolve)),
      ]);
      expect(code, `${program} ${args.join(' ')} in tools/clients/${name}:\n${stdout}${stderr}`).to.equal(0);
      return stdout;
    },
    async npmCi() {
      await folder.run('npm', ['ci', '--ignore-scripts', '--no-audit', '--no-fund', '--prefer-offline']);
    },
    remove: () => rmSync(path, { recursive: true, force: true }),
  };
  return folder;
}
