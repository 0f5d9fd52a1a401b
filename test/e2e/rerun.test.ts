/** The same command again: whatever it changes on machines or in the project is among the changes that it names. */
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { homeOf } from '../../local/demo/plinth-process.js';
import type { BootstrapView } from '../../shared/bootstrap/bootstrap.js';
import { testKey } from '../cli/run-cli.js';
import { type Caller, makeScene, type Scene, succeeded } from '../support/scene.js';

describe('the same command again', function () {
  this.timeout(120_000);
  let scene: Scene;
  let alice: Caller;
  let made: BootstrapView;

  before(async () => {
    scene = await makeScene();
    alice = await scene.caller();
    made = succeeded(await alice.bootstrap('again'));
  });
  after(() => scene?.close());

  it('names the SSH key that replaces another one on the machines', async () => {
    const folder = join(homeOf(alice.folder), '.ssh');
    mkdirSync(folder);
    writeFileSync(join(folder, 'id_rsa.pub'), `${testKey}\n`);
    const plan = await alice.bootstrap('again', { 'dry-run': true });
    const again = await alice.bootstrap('again');
    succeeded(again);
    for (const { result } of [plan, again]) {
      expect(result.changes?.map(({ option }) => option)).to.deep.equal(['--ssh-public-key-path']);
      const [{ from, to } = {}] = result.changes ?? [];
      expect([from, to].map(String).join(' ')).to.match(/^SHA256:\S{43} SHA256:\S{43}$/);
    }
    const third = await alice.bootstrap('again', { 'dry-run': true });
    expect(third.result.changes).to.deep.equal([]);
  });

  it('names a limit of the cost that brings the end of the project nearer', async () => {
    const limited = { 'max-cost': '3' } as const;
    const before = await scene.view(made.id);
    const plan = await alice.bootstrap('again', { ...limited, 'dry-run': true });
    const again = await alice.bootstrap('again', limited);
    expect(succeeded(again).deadlineAt < before.deadlineAt).to.equal(true);
    const change = { option: '--max-cost', from: null, to: '3.00' };
    for (const { result } of [plan, again]) expect(result.changes).to.deep.equal([change]);
    const same = await alice.bootstrap('again', { ...limited, 'dry-run': true });
    expect(same.result.changes).to.deep.equal([]);
  });
});
