/** A domain beneath a shared zone: a zone of the project's own, delegated to by one record set of the shared one. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { customRoles } from '../../local/cloud/iam/custom-roles.js';
import { grantAtOnce } from '../../local/cloud/iam/policies.js';
import { functionAccount, local } from '../../local/stack/deployment.js';
import type { BootstrapView } from '../../shared/bootstrap/bootstrap.js';
import { collections, functionNames } from '../../shared/names.js';
import { type Life, lifeOf } from '../support/life.js';
import { domainOf, failedWith, makeScene, refusedWith, type Scene, succeeded } from '../support/scene.js';
import {
  askDns,
  changeShared,
  inSharedZone,
  type RecordSet,
  sharedRecords,
  sharedZone,
} from '../support/shared-zone.js';

const { project, name: zone } = local.standingZone;

describe('a domain beneath a shared zone', function () {
  this.timeout(240_000);
  let scene: Scene;
  let life: Life;
  before(async () => {
    scene = await makeScene();
    life = lifeOf(scene);
    await life.pause();
  });
  after(() => scene?.close());
  afterEach(() => scene.cloud.faults.clear());

  const made = async (name: string): Promise<BootstrapView> =>
    succeeded(await (await scene.caller()).bootstrap(name, inSharedZone));

  const ask = (path: string) => askDns(scene, path);
  const change = (change: Parameters<typeof changeShared>[1]) => changeShared(scene, change);
  const shared = (name: string) => sharedRecords(scene, name);
  const policy = () => JSON.stringify(scene.cloud.world.policies.get(sharedZone, 3));

  async function expectDelegated(view: BootstrapView): Promise<void> {
    await scene.expectAll(view, { dnsZone: zone });
    const { nameServers } = await ask(`projects/${view.projectId}/managedZones/${zone}`);
    expect(await shared(view.name)).to.deep.equal([
      { kind: 'dns#resourceRecordSet', name: `${domainOf(view.name)}.`, type: 'NS', ttl: 300, rrdatas: nameServers },
    ]);
    expect(policy()).not.to.contain(view.projectId);
    expect(view.result.dns).to.deep.include({
      project: view.projectId,
      zone,
      nameServers,
      parent: { project, zone },
    });
  }

  it('has a zone of its own, which alone the nodes may change; the shared one holds one record set', async () => {
    const alice = await scene.caller();
    const view = succeeded(await alice.bootstrap('beneath', inSharedZone));
    await expectDelegated(view);
    expect(readFileSync(join(alice.folder, 'config.yaml'), 'utf8')).to.match(
      new RegExp(`cloudDns:\\s+project: ${view.projectId}\\s+zone: ${zone}\\s`),
    );
    await expectDelegated(succeeded(await alice.bootstrap('beneath', inSharedZone)));
  });

  it('is not delegated over names that others have there', async () => {
    const theirs = { name: `www.${domainOf('shadowed')}.`, type: 'A', ttl: 60, rrdatas: ['203.0.113.20'] };
    await change({ additions: [theirs] });
    const alice = await scene.caller();
    refusedWith(
      await alice.bootstrap('shadowed', inSharedZone),
      'cloud-conflict',
      theirs.name,
      '203.0.113.20',
      'same command',
    );
    expect((await shared('shadowed')).map(({ name }) => name)).to.deep.equal([theirs.name]);
    await change({ deletions: [theirs] });
    await expectDelegated(succeeded(await alice.bootstrap('shadowed', inSharedZone)));
  });

  it('is not taken from others that it is delegated to', async () => {
    const theirs = { name: `${domainOf('taken')}.`, type: 'NS', ttl: 60, rrdatas: ['ns1.elsewhere.example.'] };
    await change({ additions: [theirs] });
    const refused = await (await scene.caller()).bootstrap('taken', inSharedZone);
    refusedWith(refused, 'cloud-conflict', 'ns1.elsewhere.example.');
    expect(await shared('taken')).to.deep.equal([{ kind: 'dns#resourceRecordSet', ...theirs }]);
  });

  it('is delegated anew where its zone was made anew', async () => {
    const alice = await scene.caller();
    const view = succeeded(await alice.bootstrap('anew', inSharedZone));
    const [set] = await shared('anew');
    const old = { ...set, rrdatas: ['ns-cloud-z1.googledomains.com.'] } as RecordSet;
    await change({ additions: [old], deletions: [set as RecordSet] });
    failedWith(await alice.bootstrap('anew', inSharedZone), 'delegation', 'ns-cloud-z1.googledomains.com.');
    await change({ deletions: [old] });
    await expectDelegated(succeeded(await alice.bootstrap('anew', inSharedZone)));
    expect(view.projectId).to.be.a('string');
  });

  it('leaves nothing there: the delegation goes before the project', async () => {
    const view = await made('leaving');
    const since = scene.cloud.calls.last();
    await life.expire(view.id);
    await life.cleaned();
    expect(await life.record(view.id)).to.include({ state: 'removed' });
    expect(await shared('leaving')).to.deep.equal([]);
    const changes = scene.cloud.calls.list({ since, method: 'dns.changes.create' });
    const deletions = scene.cloud.calls.list({ since, method: 'cloudresourcemanager.projects.delete' });
    expect(changes).to.have.length(1);
    expect(changes[0]?.at).to.be.at.most(deletions[0]?.at ?? 0);
    expect((await life.record(view.id))?.instances['delegation']?.note).to.contain('gone at its name servers');
  });

  it('is not told as gone by servers that hold its own zone, too, as long as Cloud DNS is removing it', async () => {
    const view = await made('same-servers');
    const zones = scene.cloud.world.table<{ resource: Record<string, unknown> }>('dns.zones');
    const own = zones[`projects/${view.projectId}/managedZones/${zone}`]?.resource ?? {};
    own['nameServers'] = zones[sharedZone]?.resource['nameServers'];
    const { scaled } = scene.cloud.world;
    const pace = async (times: number) => {
      const body = JSON.stringify({ settings: { 'pace.dns': times } });
      const reply = await fetch(`${scene.cloud.frontUrl}/_local/world`, { method: 'PUT', body });
      expect(reply.status, await reply.text()).to.equal(200);
    };
    // Cloud DNS alone takes its time, and more than anybody has.
    await pace(1000);
    scene.cloud.world.scaled = (seconds) => (seconds > 4000 ? 1e9 : 0);
    try {
      await life.expire(view.id);
      await life.cleaned();
    } finally {
      scene.cloud.world.scaled = scaled;
      await pace(1);
    }
    const record = await life.record(view.id);
    expect(record).to.include({ state: 'removed' });
    expect(record?.instances['delegation']?.note).to.match(/^1 removed; not seen gone.*Cloud DNS is still removing/);
  });

  it('is told as delegated, by who asks for names as the world does', async () => {
    const alice = await scene.caller();
    succeeded(await alice.bootstrap('asked', inSharedZone));
    const { stdout } = await alice.plinth('status', 'asked');
    expect(stdout)
      .to.match(/delegated by +the zone standing in standing-dns-local/)
      .and.to.match(/delegated +yes/);
  });

  it('keeps a delegation that somebody else changed', async () => {
    const view = await made('moved');
    const [set] = await shared('moved');
    const others = { ...set, rrdatas: ['ns1.elsewhere.example.'] } as RecordSet;
    await change({ additions: [others], deletions: [set as RecordSet] });
    await life.expire(view.id);
    await life.cleaned();
    const record = await life.record(view.id);
    expect(record).to.include({ state: 'removed' });
    expect(await shared('moved')).to.deep.equal([others]);
    expect(record?.instances['delegation']?.note).to.contain('left, as somebody changed it');
  });

  /** Its labels are all that is left of it, and they say that its time is over. */
  async function cleanedWithoutRecord(view: BootstrapView) {
    await scene.stack.functionsHalf?.store.commit([
      { kind: 'delete', collection: collections.bootstraps, id: view.id },
      { kind: 'delete', collection: collections.files, id: `${view.id}~delegation-written` },
    ]);
    const found = life.project(view.projectId) as Record<string, unknown>;
    found['labels'] = await life.lateLabels(view);
    expect((await life.cleaned()).failed).to.deep.equal([]);
    const record = await life.record(view.id);
    expect(record, JSON.stringify(record?.problem)).to.include({ state: 'removed', orphan: true });
    return record;
  }

  it('goes from there, too, where the labels of the project are all that is left', async () => {
    await cleanedWithoutRecord(await made('orphaned'));
    expect(await shared('orphaned')).to.deep.equal([]);
  });

  it('is told of where even its own zone is gone: nothing proves then whose the delegation is', async () => {
    const view = await made('zoneless');
    const standing = await shared('zoneless');
    delete scene.cloud.world.table('dns.zones')[`projects/${view.projectId}/managedZones/${zone}`];
    const record = await cleanedWithoutRecord(view);
    expect(await shared('zoneless')).to.deep.equal(standing);
    expect(record?.instances['delegation']?.note).to.match(
      new RegExp(`^left in the zone ${zone} of ${project}: the NS record ${domainOf('zoneless')}\\.`),
    );
  });

  it('stays where it is, in the shared zone, for a bootstrap that an earlier release began there', async () => {
    const alice = await scene.caller();
    // The first two looks are those beforehand: what is shown, and the beginning itself.
    scene.cloud.faults.add({ method: 'dns.managedZones.get', code: 404, status: 'NOT_FOUND', nth: 3, times: 0 });
    scene.cloud.faults.add({ method: 'dns.managedZones.create', code: 403, status: 'PERMISSION_DENIED', times: 0 });
    const outcome = await alice.bootstrap('earlier', inSharedZone);
    failedWith(outcome, 'zone');
    scene.cloud.faults.clear();
    // Earlier releases wrote no other metadata before the first record.
    const items = [
      { key: 'plinth-dns-project', value: project },
      { key: 'plinth-dns-zone', value: zone },
      { key: 'plinth-base-domain', value: domainOf('earlier') },
    ];
    const common = scene.cloud.world.table<Record<string, unknown>>('compute.commonInstanceMetadata');
    Object.assign(common[outcome.result.bootstrap?.projectId ?? ''] ?? {}, { items });
    const after = succeeded(await alice.bootstrap('earlier', inSharedZone));
    expect(after.result.dns).to.deep.include({ project, zone });
    expect((await shared('earlier')).map(({ type }) => type)).to.deep.equal(['A', 'A', 'A', 'A', 'A']);
    await life.expire(after.id);
    await life.cleaned();
    expect(await shared('earlier')).to.deep.equal([]);
  });
});

describe('a domain beneath a shared zone whose name servers cannot be asked', function () {
  this.timeout(240_000);
  let scene: Scene;
  before(async () => {
    scene = await makeScene({ settings: { PLINTH_DNS_RESOLVER: '127.0.0.1:9' } });
  });
  after(() => scene?.close());

  it('does not keep its project: what was not seen is said', async () => {
    const life = lifeOf(scene);
    await life.pause();
    const view = succeeded(await (await scene.caller()).bootstrap('unseen', inSharedZone));
    await life.expire(view.id);
    await life.cleaned();
    const record = await life.record(view.id);
    expect(record, JSON.stringify(record?.problem)).to.include({ state: 'removed' });
    expect(record?.instances['delegation']?.note).to.match(/^1 removed; not seen gone at its name servers: /);
  });
});

describe('a zone of another project whose nodes the deployment gives a role', function () {
  this.timeout(240_000);
  const role = `projects/${local.dnsProject}/roles/nodeRecords`;
  const flags = { 'dns-project-id': local.dnsProject, 'dns-zone-name': 'given' };
  let scene: Scene;
  let life: Life;
  before(async () => {
    scene = await makeScene({ settings: { PLINTH_NODES_ZONE_ROLE: role } });
    life = lifeOf(scene);
    await life.pause();
    const permissions = ['dns.changes.create', 'dns.resourceRecordSets.create', 'dns.resourceRecordSets.delete'];
    customRoles(scene.cloud.world)[role] = { title: 'Records of nodes', permissions };
    const member = `serviceAccount:${functionAccount(functionNames.runCloudStep)}`;
    grantAtOnce(scene.cloud.world, `projects/${local.dnsProject}`, [
      { role: 'roles/iam.securityAdmin', members: [member] },
    ]);
  });
  after(() => scene?.close());

  const holders = () => scene.cloud.world.policies.get(`projects/${local.dnsProject}/managedZones/given`, 3);
  const domain = domainOf('given');

  it('is theirs to write where it is for their domain itself, until the project goes', async () => {
    const view = succeeded(await (await scene.caller()).bootstrap('given', flags));
    const member = `serviceAccount:cloud-controller@${view.projectId}.iam.gserviceaccount.com`;
    expect(holders()['bindings']).to.deep.equal([{ role, members: [member] }]);
    await life.expire(view.id);
    await life.cleaned();
    expect(await life.record(view.id)).to.include({ state: 'removed' });
    expect(holders()['bindings'] ?? []).to.deep.equal([]);
  });

  it('is not theirs where it lies above, though an earlier release wrote their records into it', async () => {
    const alice = await scene.caller();
    scene.cloud.faults.add({ method: 'dns.changes.create', code: 403, status: 'PERMISSION_DENIED', times: 0 });
    const outcome = await alice.bootstrap('beneath', { ...flags, 'base-domain': `sub.${domain}` });
    scene.cloud.faults.clear();
    const items = [
      { key: 'plinth-dns-project', value: local.dnsProject },
      { key: 'plinth-dns-zone', value: 'given' },
      { key: 'plinth-base-domain', value: `sub.${domain}` },
    ];
    const common = scene.cloud.world.table<Record<string, unknown>>('compute.commonInstanceMetadata');
    Object.assign(common[outcome.result.bootstrap?.projectId ?? ''] ?? {}, { items });
    const view = succeeded(await alice.bootstrap('beneath', { ...flags, 'base-domain': `sub.${domain}` }));
    expect(view.result.dns).to.deep.include({ project: local.dnsProject, zone: 'given' });
    expect(JSON.stringify(holders())).not.to.contain(view.projectId);
  });
});
