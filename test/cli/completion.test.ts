/** What the shells offer: the real bash, zsh and fish with the scripts that `plinth completion` prints. */
import { execFile, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import { promisify } from 'node:util';
import { expect } from 'chai';
import { commands } from '../../cli/commands/index.js';
import { createSandbox, type Sandbox } from './run-cli.js';

const run = promisify(execFile);

interface Case {
  readonly title: string;
  /** What is typed, up to where Tab is pressed. */
  readonly typed: string;
  readonly offers: readonly string[];
}
const cases: readonly Case[] = [
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
  { title: 'nothing where anything may stand', typed: 'plinth beta bootstrap-cloud --project-name ', offers: [] },
  { title: 'nothing after an argument', typed: 'plinth beta bootstrap-cloud status demo ', offers: [] },
];

describe('plinth completion', function () {
  this.timeout(60_000);
  let sandbox: Sandbox;
  before(() => {
    sandbox = createSandbox();
    sandbox.write('installer file.tar.gz', '');
  });
  after(() => sandbox.remove());

  const scripts = new Map<string, Promise<string>>();
  /** Its file, printed once. */
  const scriptFor = (shell: string): Promise<string> => {
    const known = scripts.get(shell) ?? printed(shell);
    scripts.set(shell, known);
    return known;
  };
  async function printed(shell: string): Promise<string> {
    const { code, stdout, stderr } = await sandbox.run(['completion', shell]);
    expect([code, stderr]).to.deep.equal([0, '']);
    sandbox.write(`plinth.${shell}`, stdout);
    return `plinth.${shell}`;
  }
  const options = () => ({
    cwd: sandbox.folder,
    env: { PATH: process.env['PATH'], HOME: sandbox.home, LC_ALL: 'C.UTF-8' },
  });
  /** CI has them all. */
  const need = (test: Mocha.Context, shell: string): void => {
    if (spawnSync(shell, ['--version']).error !== undefined && process.env['CI'] !== 'true') test.skip();
  };

  it('names the shells that there are', async () => {
    const { code, stderr } = await sandbox.run(['completion', 'ksh']);
    expect([code, stderr]).to.deep.equal([
      2,
      'Error: The input is not valid.\n  <shell> must be one of bash, zsh, fish\n',
    ]);
  });

  it('knows every command and every flag of each, in each shell', async () => {
    for (const shell of ['bash', 'zsh', 'fish']) {
      const script = sandbox.read(await scriptFor(shell));
      for (const { words, flags = {} } of commands) {
        expect(script).to.include(words);
        for (const name of Object.keys(flags)) expect(script).to.include(shell === 'fish' ? `-l ${name}` : `--${name}`);
      }
    }
  });

  describe('in bash', () => {
    /** As bash's readline calls it: parted at blanks, and at =. */
    async function offered(typed: string): Promise<string[]> {
      const words = typed.split(/ +|(?==)|(?<==)/);
      const { stdout } = await run(
        'bash',
        [
          '--norc',
          '--noprofile',
          '-c',
          // biome-ignore lint/suspicious/noTemplateCurlyInString: it is bash that reads it
          'source "$1"; shift; complete -p plinth >/dev/null || exit; COMP_WORDS=("$@") COMP_CWORD=$(($# - 1)); _plinth; for each in "${COMPREPLY[@]}"; do echo "$each"; done',
          'bash',
          await scriptFor('bash'),
          ...words,
        ],
        options(),
      );
      return stdout
        .split('\n')
        .filter((line) => line !== '')
        .sort();
    }
    for (const { title, typed, offers } of cases) {
      it(`offers ${title}`, async () => {
        expect(await offered(typed)).to.deep.equal(offers);
      });
    }
    it('offers the values of a flag after =, too', async () => {
      expect(await offered('plinth beta bootstrap-cloud --registry-type=')).to.have.lengthOf(3);
      expect(await offered('plinth beta bootstrap-cloud --registry-type=fo')).to.deep.equal(['forge1']);
    });
  });

  describe('in fish', () => {
    before(function () {
      need(this, 'fish');
    });
    for (const { title, typed, offers } of cases) {
      it(`offers ${title}`, async () => {
        const text = 'source $argv[1]; complete -C $argv[2]';
        const { stdout } = await run('fish', ['--no-config', '-c', text, await scriptFor('fish'), typed], options());
        const found = stdout.split('\n').flatMap((line) => (line === '' ? [] : [line.split('\t')[0]]));
        expect(found.sort()).to.deep.equal(offers);
      });
    }
  });

  describe('in zsh', () => {
    before(function () {
      need(this, 'zsh');
    });
    /** Typed at a terminal, with Tab where | stands; the command that comes of it. */
    async function completed(typed: string): Promise<string> {
      const file = await scriptFor('zsh');
      const shell = spawn('script', ['-qfec', 'zsh -f -i', '/dev/null'], {
        ...options(),
        stdio: ['pipe', 'pipe', 'inherit'],
      });
      let seen = '';
      shell.stdout.on('data', (data: Buffer) => {
        seen += data.toString();
      });
      const until = async (done: () => boolean): Promise<void> => {
        while (!done()) {
          if (shell.exitCode !== null) throw new Error(`zsh ended:\n${seen}`);
          await sleep(20);
        }
      };
      try {
        const setup = [
          'PROMPT= RPROMPT=',
          'autoload -Uz compinit',
          'compinit -D -u',
          `source ./${file}`,
          'plinth() { print -rl -- "$@" >typed.new; mv typed.new typed }',
          'rm -f typed',
          // Parted, so that what is echoed is not taken for what is said.
          'print RE""ADY',
        ];
        shell.stdin.write(`${setup.join('; ')}\n`);
        await until(() => seen.includes('READY'));
        shell.stdin.write(`${typed.replaceAll('|', '\t')}\n`);
        await until(() => sandbox.has('typed'));
        return sandbox.read('typed').trimEnd().split('\n').join(' ');
      } finally {
        const closed = once(shell, 'close');
        if (!shell.stdin.destroyed) shell.stdin.end('exit\n');
        // One that has not come to its prompt does not hear it.
        const late = setTimeout(() => shell.kill('SIGKILL'), 10_000);
        if (shell.exitCode === null) await closed;
        clearTimeout(late);
      }
    }
    for (const [typed, wanted] of [
      ['plinth team mig|', 'team migrate'],
      ['plinth beta cleanup sch|pau|', 'beta cleanup schedule pause'],
      ['plinth beta bootstrap-cloud --registry-t|art|', 'beta bootstrap-cloud --registry-type=artifact-registry'],
      ['plinth team add-member 42 bob@example.com --role mem|', 'team add-member 42 bob@example.com --role member'],
      ['plinth completion f|', 'completion fish'],
      [
        'plinth beta bootstrap-cloud --install-local inst|',
        'beta bootstrap-cloud --install-local installer file.tar.gz',
      ],
    ] as const) {
      it(`makes of "${typed}" what is meant`, async () => {
        expect(await completed(typed)).to.equal(wanted);
      });
    }
  });
});
