/** What bash offers with the script that `plinth completion` prints. */
import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { expect } from 'chai';
import { loadCommands } from '../../cli/commands/index.js';
import { type CompletionFolder, cases, createCompletionFolder } from './completion-cases.js';

const commands = await loadCommands();

const run = promisify(execFile);

describe('plinth completion', function () {
  this.timeout(60_000);
  let folder: CompletionFolder;
  before(() => {
    folder = createCompletionFolder();
  });
  after(() => folder.remove());

  it('names the shells that there are', async () => {
    const { code, stderr } = await folder.run(['completion', 'ksh']);
    expect([code, stderr]).to.deep.equal([
      2,
      'Error: The input is not valid.\n  <shell> must be one of bash, zsh, fish\n',
    ]);
  });

  it('knows every command and every flag of each, in each shell', async () => {
    for (const shell of ['bash', 'zsh', 'fish']) {
      const script = folder.read(await folder.scriptFor(shell));
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
          await folder.scriptFor('bash'),
          ...words,
        ],
        folder.options,
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
});
