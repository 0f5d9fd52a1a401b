/** One round of questions: what only the identity of the cloud steps can ask is one call of `check`, which only reads. */
import { expect } from 'chai';
import { functionAccount, local, people } from '../../local/stack/deployment.js';
import { collections, functionNames } from '../../shared/names.js';
import { runAt } from '../support/plinth-here.js';
import { argsOf, changesIn, clientSecret, makeScene, outcomeOf, type Scene } from '../support/scene.js';

const { project, name: zone } = local.standingZone;
const zoneFlags = { 'dns-project-id': project, 'dns-zone-name': zone };

const reads = [
  'cloudbilling.billingAccounts.testIamPermissions',
  'cloudresourcemanager.folders.testIamPermissions',
  'cloudresourcemanager.organizations.search',
  'cloudresourcemanager.projects.testIamPermissions',
  'dns.managedZones.get',
  'dns.managedZones.testIamPermissions',
  'dns.resourceRecordSets.list',
  'orgpolicy.folders.policies.getEffectivePolicy',
  'pubsub.projects.topics.testIamPermissions',
  'secretmanager.projects.secrets.testIamPermissions',
  'secretmanager.projects.secrets.versions.access',
  'secretmanager.projects.secrets.versions.list',
  'serviceusage.services.batchGet',
];

describe('what is asked as the cloud steps before a bootstrap begins', function () {
  this.timeout(120_000);
  let scene: Scene;
  const written: string[] = [];
  before(async () => {
    scene = await makeScene({
      settings: { PLINTH_DNS_ZONES: `${project}/${zone}` },
      wrapStore: (store) => ({
        ...store,
        commit(writes) {
          written.push(...writes.map(({ collection }) => collection));
          return store.commit(writes);
        },
      }),
    });
  });
  after(() => scene?.close());

  const contextOf = () => {
    const { functionsHalf } = scene.stack;
    return functionsHalf?.contextOf(functionNames.bootstraps) ?? expect.fail('no functions');
  };

  it('is one call of check, with the options and no secret, and neither a message nor a document', async () => {
    const bodies: string[] = [];
    const context = contextOf();
    const { askCheck, publisher } = context;
    const { publish } = publisher;
    let published = 0;
    Object.assign(context, {
      askCheck: (body: object, ...rest: []) => {
        bodies.push(JSON.stringify(body));
        return askCheck?.(body, ...(rest as unknown as [object]));
      },
    });
    Object.assign(publisher, {
      publish: (...args: Parameters<typeof publish>) => {
        published += 1;
        return publish(...args);
      },
    });
    written.length = 0;
    const args = ['beta', 'bootstrap-cloud', '--check', '--json', ...argsOf('asked-once', zoneFlags)];
    const { exitCode, stderr } = await runAt(args, await scene.caller());
    Object.assign(context, { askCheck });
    Object.assign(publisher, { publish });
    expect(exitCode, stderr).to.equal(0);
    expect(bodies).to.have.length(1);
    expect(bodies[0]).to.include('asked-once').and.not.to.include(clientSecret);
    expect(published).to.equal(0);
    // The round that it found nothing in the way, for the beginning.
    expect(written.filter((each) => each === collections.preflights)).to.have.length(1);
  });

  it('is read, by these methods of Google alone', async () => {
    const since = scene.cloud.calls.last();
    const args = ['beta', 'bootstrap-cloud', '--check', '--json', ...argsOf('reads', zoneFlags)];
    const checked = outcomeOf(await runAt(args, await scene.caller()));
    const looked = await runAt(['doctor', '--deployment', '--json'], await scene.caller(people.admin));
    expect([checked.exitCode, looked.stdout.includes('function-check')], looked.stderr).to.deep.equal([0, true]);
    const by = functionAccount(functionNames.check);
    const calls = scene.cloud.calls.list({ since }).filter(({ caller }) => caller === by);
    expect([...new Set(calls.map(({ method }) => method))].sort()).to.deep.equal(reads);
    expect(changesIn(scene.cloud, since).filter(({ caller }) => caller === by)).to.deep.equal([]);
  });

  it('is unknown where check does not answer, and the rest is told all the same', async () => {
    const context = contextOf();
    const { askCheck } = context;
    Object.assign(context, { askCheck: undefined });
    const args = ['beta', 'bootstrap-cloud', '--check', '--json', ...argsOf('silent', zoneFlags)];
    const { result, exitCode } = outcomeOf(await runAt(args, await scene.caller()));
    Object.assign(context, { askCheck });
    const { findings } = result['check'] as { findings: readonly { code: string; state: string; what: string }[] };
    const stateOf = (code: string) => findings.find((each) => each.code === code)?.state;
    expect([exitCode, stateOf('parent'), stateOf('billing-account')]).to.deep.equal([0, 'unknown', 'ok']);
  });
});
