/** What single flags change about what is made, seen from outside. One stack for all; each has its own project. */
import { expect } from 'chai';
import { forge1NarrowPat, forge1Pat } from '../../local/forge1/forge1.js';
import { local } from '../../local/stack/deployment.js';
import { changesIn, clientSecret, domainOf, makeScene, refusedWith, type Scene, succeeded } from '../support/scene.js';

describe('variants of a bootstrap', function () {
  this.timeout(240_000);
  let scene: Scene;

  before(async () => {
    scene = await makeScene();
  });
  after(() => scene?.close());
  afterEach(() => scene.cloud.faults.clear());

  it('--custom-pg-ip, --preemptible and a region whose zones are others: no PostgreSQL VM, all preemptible, in a zone there', async () => {
    const alice = await scene.caller();
    const flags = { 'custom-pg-ip': '10.99.0.7', preemptible: true, region: 'us-central1' } as const;
    const bootstrap = succeeded(await alice.bootstrap('own-pg', flags));
    expect(bootstrap.zone).to.match(/^us-central1-[a-f]$/);
    await scene.expectAll(bootstrap, { customPg: true, provisioning: { '*': 'PREEMPTIBLE' } });
    expect(alice.config().postgres).to.deep.include({ mode: 'external' });
    expect(alice.config().postgres.primary?.ip).to.equal('10.99.0.7');
  });

  it('--spot-vms and --dns-project-id: standard VMs where spot has no capacity, and a zone on which nodes hold no role', async () => {
    const without = ['k0s-2', 'ceph-1'];
    for (const name of without) scene.cloud.faults.stockout({ name, provisioning: 'SPOT' });
    const alice = await scene.caller();
    const where = { 'dns-project-id': local.dnsProject, 'dns-zone-name': 'everything', 'base-domain': local.domain };
    const bootstrap = succeeded(await alice.bootstrap('spot', { ...where, 'spot-vms': true }));
    await scene.expectAll(bootstrap, {
      baseDomain: local.domain,
      dnsProject: local.dnsProject,
      dnsZone: 'everything',
      provisioning: { '*': 'SPOT', 'k0s-2': 'STANDARD', 'ceph-1': 'STANDARD' },
    });
    const fallen = bootstrap.result.vms
      .filter(({ provisioning }) => provisioning === 'fallback')
      .map(({ name }) => name);
    expect(fallen).to.have.members(without);
    expect((await alice.plinth('status', 'spot')).stdout).to.match(/k0s-2 .*standard, for want of spot capacity/);
    expect(
      JSON.stringify(scene.cloud.world.policies.get(`projects/${local.dnsProject}/managedZones/everything`, 3)),
    ).not.to.contain(bootstrap.projectId);
  });

  it('--dns-project-id: a zone that is missing there is not made, and it is said what to do', async () => {
    const { project } = local.standingZone;
    const refused = await (await scene.caller()).bootstrap('missing', {
      'dns-project-id': project,
      'dns-zone-name': 'missing',
    });
    refusedWith(
      refused,
      'cloud-permission',
      `Either ${project} has no zone missing, or plinth has no role on it that allows this.`,
      `ask an administrator of ${project} to make the zone missing, for ${domainOf('missing')} or a domain above`,
      "grant plinth's service account roles/dns.admin on that zone",
    );
  });

  it("--forge1-team-slug and empty lists: the team's keys of all pages are on VMs, and no default is left until the lists are given no more", async () => {
    const team = { 'forge1-team-org': 'example', 'forge1-team-slug': 'platform' };
    const empty = { 'preview-flags': '', 'internal-flags': '', 'feature-flags': '' };
    const alice = await scene.caller();
    const since = scene.cloud.calls.last();
    const refused = await alice.bootstrap('team', { ...team, 'forge1-pat': forge1NarrowPat });
    expect(refused.exitCode).to.equal(2);
    expect(JSON.stringify(refused.result)).to.include('read:org').and.not.to.include(forge1NarrowPat);
    expect(changesIn(scene.cloud, since)).to.deep.equal([]);

    const { projectId } = succeeded(await alice.bootstrap('team', { ...team, ...empty, 'forge1-pat': forge1Pat }));
    const { accessToken } = await scene.stack.tokens(alice.email);
    const reply = await fetch(
      `${scene.stack.record.frontUrl}/compute.googleapis.com/compute/v1/projects/${projectId}/zones/europe-west4-a/instances/k0s-1`,
      { headers: { authorization: `Bearer ${accessToken}` } },
    );
    const { metadata } = (await reply.json()) as { metadata: { items: { key: string; value: string }[] } };
    const keys = metadata.items.find(({ key }) => key === 'ssh-keys')?.value ?? '';
    const wanted = Object.values(scene.stack.cloudHalf?.forge1.world.keys ?? {}).flat();
    expect(wanted).to.have.lengthOf(4);
    for (const key of wanted) expect(keys).to.include(key);

    expect(alice.config().platform).to.deep.include({ preview: {}, internal: [], features: {} });
    const mixed = await alice.bootstrap('team', { ...team, 'forge1-pat': forge1Pat, 'preview-flags': ['', 'one'] });
    expect(mixed.exitCode).to.equal(2);
    expect(mixed.result.problem?.detail).to.include('--preview-flags must not be empty');
    succeeded(await alice.bootstrap('team', { ...team, 'forge1-pat': forge1Pat }));
    expect(alice.config().platform.internal).to.include('vcluster');
    expect(alice.config().platform.preview).to.include({ 'cluster-admin': true });
  });

  it('flags that are dropped take their secrets along, out of the file and out of Secret Manager', async () => {
    const alice = await scene.caller();
    const planted = {
      PLINTH_VAULT_PASSWORD: 'planted-vault',
      PLINTH_CENTRAL_OTEL_PASSWORD: 'planted-otel',
      PLINTH_EXTERNAL_LOGSTORE_SECRET: 'planted-logs',
      PLINTH_METRICS_REMOTE_WRITE_PASSWORD: 'planted-metrics',
      PLINTH_FORGE2_APP_CLIENT_SECRET: 'planted-forge2',
    };
    const none = Object.fromEntries(Object.keys(planted).map((name) => [name, '']));
    const owners = {
      'vault-uri': 'https://vault.example.com',
      'central-otel-endpoint': 'https://otel.example.com',
      'external-logstore-endpoint': 'https://logs.example.com',
      'metrics-remote-write-url': 'https://metrics.example.com',
      'forge2-app-client-id': 'forge2-client',
    };
    const id = 'dropping';
    const names = ['vaultPassword', 'centralOtelCreds', 'logstorePassword', 'metricsRemoteWritePassword'];
    const inFile = async () => JSON.stringify((await alice.secrets()).secrets);
    const inSecretManager = (bootstrapId: string): string => {
      const { tables } = scene.cloud.state() as unknown as {
        tables: Record<string, Record<string, { versions: Record<string, { data?: string }> }>>;
      };
      const path = Object.keys(tables['secretmanager.secrets'] ?? {}).find((each) =>
        each.endsWith(`${bootstrapId}-caller`),
      );
      const versions = Object.values(tables['secretmanager.secrets']?.[path ?? '']?.versions ?? {});
      return versions.map(({ data = '' }) => Buffer.from(data, 'base64').toString()).join();
    };

    Object.assign(alice.env, planted);
    const first = succeeded(await alice.bootstrap(id, owners));
    for (const value of Object.values(planted)) {
      expect(await inFile()).to.include(value);
      expect(inSecretManager(first.id)).to.include(value);
    }

    // Not given again, while what they belong to is: they stay.
    Object.assign(alice.env, none);
    succeeded(await alice.bootstrap(id, { ...owners, 'forge2-app-client-id': undefined, 'feature-flags': 'more' }));
    for (const name of names) expect(await inFile()).to.include(`"${name}"`);
    expect(await inFile()).not.to.include('planted-forge2');

    // One of them is given anew without what it belongs to: it is stored, as the reference says.
    Object.assign(alice.env, { PLINTH_EXTERNAL_LOGSTORE_SECRET: 'planted-alone' });
    const dropped = await alice.bootstrap(id);
    expect(succeeded(dropped).warnings.join())
      .to.include('--external-logstore-secret')
      .and.to.include('--external-logstore-endpoint');
    expect(dropped.result.changes).to.deep.include({ option: '--vault-password', from: '<secret>', to: null });
    for (const name of names.filter((each) => each !== 'logstorePassword')) {
      expect(await inFile()).not.to.include(`"${name}"`);
    }
    expect(inSecretManager(first.id)).to.include(clientSecret);
    for (const value of Object.values(planted)) {
      expect(await inFile()).not.to.include(value);
      expect(inSecretManager(first.id)).not.to.include(value);
    }
    expect(await inFile()).to.include('planted-alone');
    Object.assign(alice.env, none);
    succeeded(await alice.bootstrap(id, { 'feature-flags': 'other' }));
    expect(await inFile()).to.include('planted-alone');
  });
});
