/** Plans at the command line against the simulated cloud: agreed to in a file, refused once they differ, kept to by a removal. */
import { expect } from 'chai';
import { forge1Pat } from '../../local/forge1/forge1.js';
import type { PlanDocument } from '../../shared/bootstrap/plan.js';
import type { Beginning } from '../../shared/bootstrap/preflight.js';
import { type Life, lifeOf } from '../support/life.js';
import { runAt } from '../support/plinth-here.js';
import { argsOf, type Caller, type Flags, makeScene, type Scene, succeeded } from '../support/scene.js';

interface Checked {
  readonly check: { readonly beginning: Beginning };
}

describe('a plan in a file', function () {
  this.timeout(240_000);
  let scene: Scene;
  let life: Life;
  let alice: Caller;
  before(async () => {
    scene = await makeScene();
    life = lifeOf(scene);
    await life.pause();
    alice = await scene.caller();
  });
  after(() => scene?.close());

  const plinth = (...args: string[]) => runAt(['beta', 'bootstrap-cloud', ...args], alice);
  const made = () => Object.keys(scene.cloud.world.table('projects')).length;

  it('is written without making anything, carried out as it was agreed to, and says afterwards that it has been', async () => {
    const agreed = argsOf('agreed', { 'feature-flags': 'one' });
    const before = made();
    const early = JSON.parse((await plinth(...agreed, '--check', '--json')).stdout) as Checked;
    expect(early.check.beginning, 'without a key').to.include({ vms: 8 }).and.not.have.property('hash');
    const written = await plinth(...agreed, '--plan', 'agreed.json');
    expect(written.exitCode, written.stderr).to.equal(0);
    expect(written.stdout)
      .to.match(/^ +make +VM k0s-1/m)
      .and.to.include('--forge1-app-client-secret');
    expect(made()).to.equal(before);
    const checked = JSON.parse((await plinth(...agreed, '--check', '--json')).stdout) as Checked;
    const outcome = await alice.bootstrap('agreed', { 'feature-flags': 'one', apply: 'agreed.json' });
    expect(succeeded(outcome).name).to.equal('agreed');
    const { hash } = JSON.parse(alice.read('agreed.json')) as PlanDocument;
    const shown = outcome.events.find(({ type }) => type === 'beginning');
    expect([checked.check.beginning.hash, shown?.['hash']], 'what --check tells, and the screen').to.deep.equal([
      hash,
      hash,
    ]);
    expect(shown).to.include({ vms: 8 }).and.to.have.property('forecast');
    const kept = await plinth(...agreed, '--dry-run');
    expect(kept.stdout)
      .to.match(/^ +keep +VM k0s-1/m)
      .and.not.to.match(/^ +make /m);

    // In place of what it has changed.
    const first = await plinth(...agreed, '--apply', 'agreed.json');
    expect(first.stderr).to.match(/^Error: This plan has been carried out, so nothing was done\.\nSee the project: /);
    const flags = {
      'feature-flags': ['one', 'two'],
      'vault-uri': 'https://vault.example.com',
      'datacenter-name': 'new',
    };
    await plinth(...argsOf('agreed', flags), '--plan', 'again.json');
    succeeded(await alice.bootstrap('agreed', { ...flags, apply: 'again.json' }));
    const refused = await plinth(...argsOf('agreed', flags), '--apply', 'again.json');
    expect([refused.exitCode, refused.stderr.split('\n')[0]], refused.stderr).to.deep.equal([
      5,
      'Error: This plan has been carried out, so nothing was done.',
    ]);
    expect(refused.stderr).to.include('status agreed').and.not.to.include('in the plan');
  });

  it('is refused with each difference once it no longer fits', async () => {
    const before = made();
    await plinth(...argsOf('differs'), '--plan', 'differs.json');
    const refused = await plinth(...argsOf('differs', { 'spot-vms': true }), '--apply', 'differs.json');
    expect(refused.exitCode).to.equal(5);
    expect(refused.stderr).to.include('The plan no longer fits, so nothing was done');
    expect(refused.stderr).to.include('--spot-vms is false in the plan, and would be true now');
    expect(refused.stderr).to.include('USD an hour is');
    expect(made()).to.equal(before);
  });

  it('names what a resume makes, changes, keeps and gives up, the config too, and does just that; a removal takes all of it', async () => {
    const artifact: Flags = {
      'registry-type': 'artifact-registry',
      'registry-user': undefined,
      'vault-uri': 'https://vault.example.com',
    };
    const whole: Flags = { ...artifact, 'cloud-acme-issuer': true };
    const view = succeeded(await alice.bootstrap('gives-up', whole));
    const planOf = async (flags: Flags) => {
      const dry = await plinth(...argsOf('gives-up', flags), '--dry-run', '--json');
      return (JSON.parse(dry.stdout.trim().split('\n').at(-1) ?? '') as { plan: PlanDocument }).plan;
    };
    const configIn = async (flags: Flags) =>
      (await planOf({ ...whole, ...flags })).items.find(({ id }) => id === 'config:dc1')?.action;
    const rewriting: readonly Flags[] = [
      { 'feature-flags': 'more' },
      { 'cluster-admin-email': 'admin@example.com' },
      { 'forge2-app-client-id': 'other', 'forge2-app-client-secret': 'secret-of-forge2' },
      { 'vault-password': 'another-secret' },
      { 'vault-uri': undefined },
      { 'kube-distro-version': 'v1.30.0+k0s.0' },
    ];
    for (const flags of rewriting) expect(await configIn(flags), JSON.stringify(flags)).to.equal('change');
    for (const flags of [{}, { 'project-ttl': '4h' }, { 'forge1-pat': forge1Pat }]) {
      expect(await configIn(flags), JSON.stringify(flags)).to.equal('keep');
    }

    const changed: Flags = {
      ...artifact,
      'project-ttl': '3h',
      'forge1-pat': forge1Pat,
      'forge1-team-org': 'example',
      'forge1-team-slug': 'platform',
    };
    const shown = await plinth(...argsOf('gives-up', changed), '--plan', 'gives-up.json');
    expect(shown.exitCode, shown.stderr).to.equal(0);
    expect(shown.stdout)
      .to.match(/^ +make +.*example\/platform/m)
      .and.to.match(/^ +change +Project .*removed after 3h/m)
      .and.to.match(/^ +keep +VM k0s-1/m)
      .and.to.match(/^ +give-up +.*external account key/m);
    const { items } = JSON.parse(alice.read('gives-up.json')) as PlanDocument;
    const idsOf = (action: string) => items.flatMap((each) => (each.action === action ? [each.id] : []));
    expect([idsOf('make'), idsOf('give-up')]).to.deep.equal([['team-keys'], ['eab-key:dc1']]);
    succeeded(await alice.bootstrap('gives-up', { ...changed, apply: 'gives-up.json' }));

    // What was given up is looked after no more.
    expect(new Set((await planOf(changed)).items.map(({ action }) => action))).to.deep.equal(new Set(['keep']));

    const written = await plinth('cleanup', 'gives-up', '--plan', 'goes.json');
    expect(written.exitCode, written.stderr).to.equal(0);
    expect(written.stdout)
      .to.include(`project ${view.projectId}, and all that is in it`)
      .and.to.include(`secret ${view.id}-acme-eab-key-dc1`);
    const wrong = await plinth('cleanup', 'agreed', '--apply', 'goes.json');
    expect([wrong.exitCode, wrong.stderr.includes('is a plan of another bootstrap: gives-up')]).to.deep.equal([
      2,
      true,
    ]);
    const removed = await plinth('cleanup', 'gives-up', '--apply', 'goes.json');
    expect(removed.exitCode, removed.stderr).to.equal(0);
    await scene.stack.settle();
    expect((await life.record(view.id))?.state).to.equal('removed');
  });
});
