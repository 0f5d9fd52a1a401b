/** Values that are wrong: told before anything is made or changed, and corrected by the same command while nothing depends on them. */
import { expect } from 'chai';
import { functionAccount, local } from '../../local/stack/deployment.js';
import { functionNames } from '../../shared/names.js';
import { lifeOf } from '../support/life.js';
import {
  type Caller,
  failedWith,
  makeScene,
  type Outcome,
  refusedWith,
  type Scene,
  succeeded,
} from '../support/scene.js';

describe('wrong values', function () {
  this.timeout(240_000);
  let scene: Scene;
  let alice: Caller;
  let since: number;

  before(async () => {
    scene = await makeScene();
  });
  after(() => scene?.close());
  beforeEach(async () => {
    alice = await scene.caller();
    since = scene.cloud.calls.last();
  });
  afterEach(() => scene.cloud.faults.clear());

  const noAccount = '0F0F0F-0F0F0F-0F0F0F';
  const faultsOf = ({ result }: Outcome): string[] => {
    const { errors = [] } = (result.problem ?? {}) as { readonly errors?: readonly { readonly path: string }[] };
    return errors.map(({ path }) => path).sort();
  };
  const writes = (): string[] =>
    scene.cloud.calls
      .list({ since })
      .map(({ method }) => method)
      // A message asks the cloud lane to look beforehand.
      .filter((method) => !/\.(?:(?:get|list|search|access)\w*|testIamPermissions|topics\.publish)$/.test(method));

  it('are told all at once, and nothing is made', async () => {
    const flags = { region: 'nowhere-west1', 'billing-account': noAccount, 'install-version': '9.9.9' };
    const refused = await alice.bootstrap('all-wrong', flags);
    expect(refused.exitCode, refused.stderr).to.equal(2);
    expect(faultsOf(refused)).to.deep.equal(['--billing-account', '--install-version', '--region']);
    expect(writes()).to.deep.equal([]);
    expect((await alice.plinth('list')).stdout).not.to.contain('all-wrong');
  });

  it('are looked for in one reading of each secret, though the same command checks and goes on', async () => {
    succeeded(await alice.bootstrap('read-once'));
    // A record that changes between the check and the beginning is read again. So cleanup rests, all work is over, and sweep
    // has looked at what the bootstrap costs.
    const life = lifeOf(scene);
    await life.pause();
    await scene.stack.settle();
    await life.swept();
    since = scene.cloud.calls.last();
    const again = await alice.bootstrap('read-once', { 'vault-uri': 'https://vault.example.com', verbose: true });
    succeeded(again);
    const reads = scene.cloud.calls
      .list({ since, method: 'secretmanager.projects.secrets.versions.access' })
      .filter(({ caller }) => caller === functionAccount(functionNames.bootstraps))
      .map(({ params }) => String(params['name']).replace(/.*-(caller|age-identity)\b.*/, '$1'));
    // A try whose answer is late on a busy machine is made again.
    const tries = again.stderr.match(/^.*POST \/bootstraps: .*$/gm) ?? [];
    expect(tries, again.stderr).not.to.deep.equal([]);
    // The identity opens the files that are sent along.
    const once = tries.flatMap(() => ['age-identity', 'caller']);
    expect(reads.sort(), again.stderr).to.deep.equal(once.sort());
  });

  it('a zone that is not there is told as that', async () => {
    const refused = await alice.bootstrap('no-zone', { region: 'europe-west4', zone: 'europe-west4-z' });
    expect([refused.exitCode, faultsOf(refused)]).to.deep.equal([2, ['--zone']]);
  });

  it('a billing account that is closed, or that plinth may not see, changes nothing of what stands', async () => {
    const view = succeeded(await alice.bootstrap('pays'));
    const accounts = scene.cloud.world.table<{ open: boolean }>('billing.accounts');
    const other = accounts[`billingAccounts/${local.otherBillingAccount}`];
    if (other === undefined) throw new Error('there is no other account');
    other.open = false;
    try {
      for (const account of [local.otherBillingAccount, noAccount]) {
        const refused = await alice.bootstrap('pays', { 'billing-account': account });
        expect([refused.exitCode, faultsOf(refused)], refused.stderr).to.deep.equal([2, ['--billing-account']]);
      }
    } finally {
      other.open = true;
    }
    const after = await scene.view(view.id);
    expect([after.state, after.generation]).to.deep.equal(['succeeded', view.generation]);
  });

  it('a region whose quota is too low is another one with the same command', async () => {
    const fault = scene.cloud.faults.quota({ metric: 'CPUS', limit: 24 });
    const short = await alice.bootstrap('elsewhere');
    failedWith(short, 'quota', 'CPUS', '--region');
    expect(short.result.problem?.advice).not.to.contain('name');
    scene.cloud.faults.remove(fault);
    const moved = await alice.bootstrap('elsewhere', { region: 'us-central1' });
    const view = succeeded(moved);
    expect([view.region, view.zone]).to.deep.equal(['us-central1', 'us-central1-a']);
    expect(moved.result.changes?.map(({ option }) => option)).to.deep.equal(['--region', '--zone']);
    expect(view.result.vms.every(({ zone }) => zone === 'us-central1-a')).to.equal(true);
  });

  it('a folder in which plinth may make no project is another one with the same command', async () => {
    refusedWith(await alice.bootstrap('folder', { 'folder-id': '404404404404' }), 'cloud-permission', '404404404404');
    const method = 'cloudresourcemanager.projects.create';
    const fault = scene.cloud.faults.add({ method, times: 0, code: 403, status: 'PERMISSION_DENIED' });
    failedWith(await alice.bootstrap('folder'), 'project');
    scene.cloud.faults.remove(fault);
    const folder = local.otherFolder.replace('folders/', '');
    succeeded(await alice.bootstrap('folder', { 'folder-id': folder }));
  });

  it('a DNS project that refuses plinth is another one with the same command', async () => {
    const wrong = { 'dns-project-id': 'strangers-dns', 'dns-zone-name': 'theirs' };
    refusedWith(await alice.bootstrap('zoned', wrong), 'cloud-permission', 'strangers-dns');
    // The first two looks are those beforehand: what is shown, and the beginning itself.
    const refusal = { nth: 3, times: 0, code: 403, status: 'PERMISSION_DENIED' };
    const fault = scene.cloud.faults.add({ method: 'dns.managedZones.get', ...refusal });
    const standing = { 'dns-project-id': local.standingZone.project, 'dns-zone-name': local.standingZone.name };
    failedWith(await alice.bootstrap('zoned', standing), 'zone');
    scene.cloud.faults.remove(fault);
    const view = succeeded(
      await alice.bootstrap('zoned', { 'dns-project-id': local.dnsProject, 'dns-zone-name': 'shared' }),
    );
    await scene.expectAll(view, { dnsProject: local.dnsProject, dnsZone: 'shared' });
  });

  it('what something depends on stays, and that is named', async () => {
    succeeded(await alice.bootstrap('stands'));
    const flags = { region: 'us-central1', 'folder-id': '1', 'dns-zone-name': 'another' };
    const refused = await alice.bootstrap('stands', flags);
    expect([refused.exitCode, faultsOf(refused)]).to.deep.equal([
      5,
      ['--dns-zone-name', '--folder-id', '--region', '--zone'],
    ]);
    const { detail = '', advice = '' } = refused.result.problem ?? {};
    expect(detail)
      .to.match(/--region .*(Subnet|Address)/)
      .and.to.match(/--folder-id .* Project/);
    expect(`${detail} ${advice}`).not.to.match(/same command/);
  });
});
