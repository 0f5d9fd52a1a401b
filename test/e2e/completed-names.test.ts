/** Names that completion offers: what commands have seen is there at the next Tab, and nothing that a shell would run. */
import { execFileSync } from 'node:child_process';
import { expect } from 'chai';
import { callerEnvironment } from '../../local/demo/plinth-process.js';
import { lifeOf } from '../support/life.js';
import { runAt } from '../support/plinth-here.js';
import { type Caller, makeScene, type Scene, succeeded } from '../support/scene.js';

describe('completion of names', function () {
  this.timeout(240_000);
  let scene: Scene;
  let alice: Caller;
  let script: string;

  before(async () => {
    scene = await makeScene();
    await lifeOf(scene).pause();
    alice = await scene.caller();
    succeeded(await alice.bootstrap('completed'));
    script = (await plinth('completion', 'bash')).stdout;
  });
  after(() => scene?.close());

  const plinth = (...args: string[]) => runAt(args, alice);
  /** What bash offers for the last of the words. */
  const offered = (...words: string[]): string[] => {
    const typed = `${script}\nCOMP_WORDS=("$@") COMP_CWORD=$(($# - 1)); _plinth; printf '%s\\n' "\${COMPREPLY[@]}"`;
    return execFileSync('bash', ['--norc', '--noprofile', '-c', typed, 'bash', 'plinth', ...words], {
      cwd: alice.folder,
      env: callerEnvironment(alice),
      encoding: 'utf8',
    })
      .split('\n')
      .filter((line) => line !== '')
      .sort();
  };

  it('offers no project before one was seen, and those of the list afterwards, until they are gone', async () => {
    expect(offered('beta', 'bootstrap-cloud', 'extend', 'comp')).to.deep.equal([]);
    await alice.plinth('list');
    expect(offered('beta', 'bootstrap-cloud', 'extend', 'comp')).to.deep.equal(['completed']);
  });

  it('offers machines and steps of the project that was looked at', async () => {
    await alice.plinth('status', 'completed');
    expect(offered('beta', 'bootstrap-cloud', 'ssh', 'completed', 'k0s')).to.deep.equal(['k0s-1', 'k0s-2', 'k0s-3']);
    expect(offered('beta', 'bootstrap-cloud', 'logs', 'completed', 'rec')).to.deep.equal(['records']);
  });

  it('offers organizations by name, and by id where a shell would read more into the name', async () => {
    await plinth('org', 'create', 'acme');
    await plinth('org', 'create', '$(touch run)');
    await plinth('org', 'list');
    const all = offered('org', 'members', '');
    expect(all).to.have.length(2).and.to.include('acme');
    expect(all.find((each) => each !== 'acme')).to.match(/^[0-9a-f-]{36}$/);
    expect(alice.has('run')).to.equal(false);
  });

  it('offers teams by their number', async () => {
    const { stdout } = await plinth('team', 'create', 'platform', '--json');
    await plinth('team', 'list');
    const { team } = JSON.parse(stdout.trim());
    expect(offered('team', 'members', '')).to.deep.equal([String(team.teamId)]);
  });

  it('keeps them for their owner alone', async () => {
    const [{ HOME = '' }] = [callerEnvironment(alice)];
    const modes = execFileSync('find', [`${HOME}/.cache/plinth/names`, '-printf', '%m %y\n'], { encoding: 'utf8' });
    expect(new Set(modes.trim().split('\n'))).to.deep.equal(new Set(['700 d', '600 f']));
  });
});
