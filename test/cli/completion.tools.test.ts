/** What zsh and fish offer with the scripts that `plinth completion` prints. */
import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import { promisify } from 'node:util';
import { expect } from 'chai';
import { type CompletionFolder, cases, createCompletionFolder } from './completion-cases.js';

const run = promisify(execFile);

describe('plinth completion', function () {
  this.timeout(60_000);
  let folder: CompletionFolder;
  before(() => {
    folder = createCompletionFolder();
  });
  after(() => folder.remove());

  describe('in fish', () => {
    for (const { title, typed, offers } of cases) {
      it(`offers ${title}`, async () => {
        const text = 'source $argv[1]; complete -C $argv[2]';
        const { stdout } = await run(
          'fish',
          ['--no-config', '-c', text, await folder.scriptFor('fish'), typed],
          folder.options,
        );
        const found = stdout.split('\n').flatMap((line) => (line === '' ? [] : [line.split('\t')[0]]));
        expect(found.sort()).to.deep.equal(offers);
      });
    }
  });

  describe('in zsh', () => {
    /** Typed at a terminal, with Tab where | stands; the command that comes of it. */
    async function completed(typed: string): Promise<string> {
      const file = await folder.scriptFor('zsh');
      const shell = spawn('script', ['-qfec', 'zsh -f -i', '/dev/null'], {
        ...folder.options,
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
        await until(() => folder.has('typed'));
        return folder.read('typed').trimEnd().split('\n').join(' ');
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
      ['plinth beta bootstrap-cloud status sec|', 'beta bootstrap-cloud status second'],
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
