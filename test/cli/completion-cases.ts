/** What is typed, what the shells must offer, and a folder with the scripts that `plinth completion` prints. */
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { createSandbox, type Sandbox } from './run-cli.js';

interface Case {
  readonly title: string;
  /** What is typed, up to where Tab is pressed. */
  readonly typed: string;
  readonly offers: readonly string[];
}
export const cases: readonly Case[] = [
  { title: 'a command', typed: 'plinth team mig', offers: ['migrate'] },
  {
    title: 'the commands beneath a word',
    typed: 'plinth beta cleanup schedule ',
    offers: ['pause', 'resume', 'run', 'status'],
  },
  {
    title: 'a command after flags and their values',
    typed: 'plinth --endpoint https://x --json org cr',
    offers: ['create'],
  },
  { title: 'a flag', typed: 'plinth beta bootstrap-cloud --registry-t', offers: ['--registry-type'] },
  {
    title: 'a flag of plinth itself',
    typed: 'plinth beta bootstrap-cloud ssh demo --print',
    offers: ['--print-config'],
  },
  {
    title: 'the values of a flag',
    typed: 'plinth beta bootstrap-cloud --registry-type ',
    offers: ['artifact-registry', 'forge1', 'local-container'],
  },
  {
    title: 'the role of a member',
    typed: 'plinth team add-member 42 bob@example.com --role ',
    offers: ['admin', 'member'],
  },
  { title: 'an argument of a few words', typed: 'plinth completion ', offers: ['bash', 'fish', 'zsh'] },
  {
    title: 'files where a path is wanted',
    typed: 'plinth beta bootstrap-cloud --install-local inst',
    offers: ['installer file.tar.gz'],
  },
  { title: 'projects that were seen', typed: 'plinth beta bootstrap-cloud status s', offers: ['second', 'standing'] },
  {
    title: 'machines that were seen',
    typed: 'plinth beta bootstrap-cloud ssh standing k0s',
    offers: ['k0s-1', 'k0s-2'],
  },
  { title: 'steps that were seen', typed: 'plinth beta bootstrap-cloud logs standing ins', offers: ['install'] },
  { title: 'organizations that were seen', typed: 'plinth org members ac', offers: ['acme'] },
  { title: 'teams that were seen', typed: 'plinth team members 17', offers: ['173906288'] },
  { title: 'nothing where anything may stand', typed: 'plinth beta bootstrap-cloud --project-name ', offers: [] },
  { title: 'nothing after an argument', typed: 'plinth beta bootstrap-cloud status demo ', offers: [] },
];

/** What commands have seen, in the form that they keep. */
const seen = {
  projects: ['first', 'second', 'standing'],
  hosts: ['jumpbox', 'k0s-1', 'k0s-2'],
  steps: ['host-setup', 'install'],
  organizations: ['acme', 'other'],
  teams: ['173906288', '200000000'],
};

export interface CompletionFolder extends Sandbox {
  /** The name of a shell's script there, printed once. */
  scriptFor(shell: string): Promise<string>;
  /** How a shell is to be started there. */
  readonly options: { readonly cwd: string; readonly env: NodeJS.ProcessEnv };
}

export function createCompletionFolder(): CompletionFolder {
  const sandbox = createSandbox();
  sandbox.write('installer file.tar.gz', '');
  const names = join(sandbox.home, '.cache', 'plinth', 'names');
  mkdirSync(names, { recursive: true });
  for (const [file, lines] of Object.entries(seen)) writeFileSync(join(names, file), `${lines.join('\n')}\n`);
  const scripts = new Map<string, Promise<string>>();
  async function printed(shell: string): Promise<string> {
    const { code, stdout, stderr } = await sandbox.run(['completion', shell]);
    if (code !== 0 || stderr !== '') throw new Error(`plinth completion ${shell} ended with ${code}: ${stderr}`);
    sandbox.write(`plinth.${shell}`, stdout);
    return `plinth.${shell}`;
  }
  return {
    ...sandbox,
    scriptFor(shell) {
      const known = scripts.get(shell) ?? printed(shell);
      scripts.set(shell, known);
      return known;
    },
    options: {
      cwd: sandbox.folder,
      env: { PATH: process.env['PATH'], HOME: sandbox.home, LC_ALL: 'C.UTF-8' },
    },
  };
}
