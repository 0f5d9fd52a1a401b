/** A bootstrap, whatever it is, and its removal, held against the plan of the removal. */
import { expect } from 'chai';
import fc from 'fast-check';
import type { PlanDocument } from '../../shared/bootstrap/plan.js';
import { type Life, lifeOf } from '../support/life.js';
import { runAt } from '../support/plinth-here.js';
import { type Caller, domainOf, type Flags, makeScene, outcomeOf, type Scene } from '../support/scene.js';
import { changeShared, inSharedZone } from '../support/shared-zone.js';
import { expectPlanned, standingThings } from '../support/standing-things.js';

/** Where the bootstrap or its removal meets a refusal for good. */
const methods = [
  'compute.instances.insert',
  'compute.networks.insert',
  'dns.changes.create',
  'secretmanager.projects.secrets.create',
  'artifactregistry.projects.locations.repositories.create',
] as const;

export const choices = fc.record({
  shared: fc.boolean(),
  multiDc: fc.boolean(),
  issuer: fc.boolean(),
  artifacts: fc.boolean(),
  /** A second command no longer asks for the issuer. */
  givesUp: fc.boolean(),
  /** It is cut off in the middle of another run. */
  runsAgain: fc.boolean(),
  /** It fails there, or is whole. */
  failsAt: fc.option(fc.constantFrom(...methods)),
  /** Others have names beneath its domain, and a project beside it. */
  strangers: fc.boolean(),
  /** The plan is carried out as it was agreed to, or removed without one. */
  agreed: fc.boolean(),
});
export type Choice = typeof choices extends fc.Arbitrary<infer T> ? T : never;

/** Returns what bootstraps and removes, and tells what is gone. */
export function useRemovals(): (choice: Choice) => Promise<readonly string[]> {
  let scene: Scene;
  let life: Life;
  let alice: Caller;
  let count = 0;
  before(async () => {
    scene = await makeScene();
    life = lifeOf(scene);
    await life.pause();
    alice = await scene.caller();
  });
  after(() => scene?.close());
  afterEach(() => scene.cloud.faults.clear());

  const flagsOf = ({ shared, multiDc, issuer, artifacts }: Choice): Flags => ({
    ...(shared ? inSharedZone : {}),
    ...(multiDc ? { 'multi-dc': true as const } : {}),
    ...(issuer ? { 'cloud-acme-issuer': true as const } : {}),
    ...(artifacts ? { 'registry-type': 'artifact-registry', 'registry-user': undefined } : {}),
  });
  const cleanup = (name: string, ...flags: string[]) =>
    runAt(['beta', 'bootstrap-cloud', 'cleanup', name, ...flags], alice);

  async function check(choice: Choice): Promise<readonly string[]> {
    count += 1;
    const name = `planned-${count}`;
    const { failsAt, strangers, agreed, givesUp, runsAgain } = choice;
    if (failsAt !== null) {
      scene.cloud.faults.add({ method: failsAt, times: 0, code: 403, status: 'PERMISSION_DENIED' });
    }
    const { result } = await alice.bootstrap(name, flagsOf(choice));
    scene.cloud.faults.clear();
    const id = result.bootstrap?.id;
    // What is refused beforehand has nothing to remove.
    if (id === undefined) {
      expect(failsAt, 'only a refusal ends before there is a record').not.to.equal(null);
      return [];
    }
    if (givesUp) await alice.bootstrap(name, flagsOf({ ...choice, issuer: false }));
    if (runsAgain) await runAt(['beta', 'bootstrap-cloud', 'restart-vms', name], alice);
    if (strangers) {
      const theirs = { name: `their-${name}.${domainOf(name)}.`, type: 'A', ttl: 60, rrdatas: ['203.0.113.9'] };
      await changeShared(scene, { additions: [theirs] });
    }
    const written = await cleanup(name, '--plan', `${name}.json`, '--json');
    expect(written.exitCode, written.stderr).to.equal(0);
    const { plan } = outcomeOf(written).result as unknown as { plan: PlanDocument };
    const before = await standingThings(scene);
    const removed = await cleanup(name, ...(agreed ? ['--apply', `${name}.json`] : ['--yes']));
    expect(removed.exitCode, removed.stderr).to.equal(0);
    await scene.stack.settle();
    expect((await life.record(id))?.state).to.equal('removed');
    const gone = expectPlanned(
      before,
      await standingThings(scene),
      plan.items.flatMap(({ what }) => what),
    );
    const stood = before.has(`project ${result.bootstrap?.projectId}`);
    expect(gone.includes(`project ${result.bootstrap?.projectId}`)).to.equal(stood);
    return gone;
  }

  return check;
}
