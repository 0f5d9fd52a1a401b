/** Values that are wrong: told before anything is made or changed, and corrected by the same command while nothing depends on them. */
import { expect } from 'chai';
import { functionAccount, local } from '../../local/stack/deployment.js';
import { functionNames } from '../../shared/names.js';
import { type Life, lifeOf } from '../support/life.js';
import {
  type Caller,
  type Flags,
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
  let life: Life;
  let alice: Caller;
  let since: number;

  before(async () => {
    scene = await makeScene();
    life = lifeOf(scene);
    await life.pause();
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

  it('a zone that is not there is told as that', async () => {
    const refused = await alice.bootstrap('no-zone', { region: 'europe-west4', zone: 'europe-west4-z' });
    expect([refused.exitCode, faultsOf(refused)]).to.deep.equal([2, ['--zone']]);
  });

  describe('where a bootstrap stands', () => {
    let owner: Caller;
    let id: string;
    before(async () => {
      owner = await scene.caller();
      ({ id } = succeeded(await owner.bootstrap('stands')));
    });

    it('are looked for in one reading of each secret, though the same command checks and goes on', async () => {
      // A record that changes between the check and the beginning is read again. So cleanup rests, all work is over, and sweep
      // has looked at what the bootstrap costs.
      await scene.stack.settle();
      await life.swept();
      since = scene.cloud.calls.last();
      const again = await owner.bootstrap('stands', { 'vault-uri': 'https://vault.example.com', verbose: true });
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

    it('change nothing of it: a billing account that is closed, or that plinth may not see; and what something depends on stays, and is named', async () => {
      const before = await scene.view(id);
      const accounts = scene.cloud.world.table<{ open: boolean }>('billing.accounts');
      const other = accounts[`billingAccounts/${local.otherBillingAccount}`];
      if (other === undefined) throw new Error('there is no other account');
      other.open = false;
      try {
        for (const account of [local.otherBillingAccount, noAccount]) {
          const refused = await owner.bootstrap('stands', { 'billing-account': account });
          expect([refused.exitCode, faultsOf(refused)], refused.stderr).to.deep.equal([2, ['--billing-account']]);
        }
      } finally {
        other.open = true;
      }
      const flags = { region: 'us-central1', 'folder-id': '1', 'dns-zone-name': 'another' };
      const refused = await owner.bootstrap('stands', flags);
      expect([refused.exitCode, faultsOf(refused)]).to.deep.equal([
        5,
        ['--dns-zone-name', '--folder-id', '--region', '--zone'],
      ]);
      const { detail = '', advice = '' } = refused.result.problem ?? {};
      expect(detail)
        .to.match(/--region .*(Subnet|Address)/)
        .and.to.match(/--folder-id .* Project/);
      expect(`${detail} ${advice}`).not.to.match(/same command/);
      const after = await scene.view(id);
      expect([after.state, after.generation]).to.deep.equal(['succeeded', before.generation]);
    });
  });

  it('a folder in which plinth may make no project, then a region whose quota is too low, are others with the same command', async () => {
    const begin = (flags: Flags) => alice.bootstrap('elsewhere', flags);
    refusedWith(await begin({ 'folder-id': '404404404404' }), 'cloud-permission', '404404404404');
    const method = 'cloudresourcemanager.projects.create';
    const fault = scene.cloud.faults.add({ method, times: 0, code: 403, status: 'PERMISSION_DENIED' });
    failedWith(await begin({}), 'project');
    scene.cloud.faults.remove(fault);
    const folder = { 'folder-id': local.otherFolder.replace('folders/', '') };
    const fewCpus = scene.cloud.faults.quota({ metric: 'CPUS', limit: 24 });
    const short = await begin(folder);
    failedWith(short, 'quota', 'CPUS', '--region');
    expect(short.result.problem?.advice).not.to.contain('name');
    scene.cloud.faults.remove(fewCpus);
    const moved = await begin({ ...folder, region: 'us-central1' });
    const view = succeeded(moved);
    expect([view.region, view.zone]).to.deep.equal(['us-central1', 'us-central1-a']);
    expect(moved.result.changes?.map(({ option }) => option)).to.deep.equal(['--region', '--zone']);
    expect(view.result.vms.every(({ zone }) => zone === 'us-central1-a')).to.equal(true);
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
});
