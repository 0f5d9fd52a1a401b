/** The page of pools, as people follow it: `npm run local`, a token, and its commands. */
import { execFile } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { expect } from 'chai';
import { runPlinth } from '../../local/demo/plinth-process.js';
import { people } from '../../local/stack/deployment.js';
import { envFileOf, startLocal } from '../support/halves.js';

const tokenProgram = fileURLToPath(new URL('../../local/token.js', import.meta.url));

describe('the page of pools', function () {
  this.timeout(240_000);
  let folder: string;

  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'plinth-pools-page-'));
  });
  afterEach(() => rmSync(folder, { recursive: true, force: true }));

  it('runs as it is printed', async () => {
    const page = readFileSync(fileURLToPath(new URL('../../../docs/operate/pools.md', import.meta.url)), 'utf8');
    const [, section = ''] = page.split('## Try it locally');
    const lines = [...section.matchAll(/```\n([\s\S]*?)```/g)].flatMap(([, block = '']) => block.trim().split('\n'));
    const [start = '', source, token, ...commands] = lines;
    expect([source, token]).to.deep.equal([
      'set -a; . /tmp/plinth.env; set +a',
      `export PLINTH_TOKEN=$(npm run -s local:token -- ${people.admin})`,
    ]);
    const [, words = ''] = /^npm run local -- (.*)$/.exec(start) ?? [];
    const args = [...words.matchAll(/'([^']*)'|(\S+)/g)].map(([, quoted, bare]) => quoted ?? bare ?? '');
    const envFile = join(folder, 'env');
    const run = startLocal(
      args.map((arg) => (arg === '/tmp/plinth.env' ? envFile : arg)),
      folder,
    );
    const env = await envFileOf(run, envFile);
    const asked = await promisify(execFile)(process.execPath, [tokenProgram, people.admin], { cwd: folder });
    const operator = { folder, env: { ...env, PLINTH_TOKEN: asked.stdout.trim() } };
    expect(commands).to.have.length.above(2);
    for (const command of commands) {
      const made = await runPlinth(command.replace(/^npx plinth /, '').split(' '), operator);
      expect(made.exitCode, `${command}\n${made.stdout}${made.stderr}`).to.equal(0);
      expect(made.stdout, command)
        .to.include('europe-west4')
        .and.match(/ of 2\b|drained/);
    }
    run.child.kill('SIGINT');
    expect(await run.ended, run.output()).to.equal(0);
  });
});
