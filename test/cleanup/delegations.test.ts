/**
 * Record sets that delegate a base domain, in a shared zone that plinth does not own: a removal takes its own with it, cleanup
 * finds what was left behind, and neither touches what others wrote.
 */
import { expect } from 'chai';
import { plainReply } from '../../local/cloud/name-servers/reply.js';
import { local } from '../../local/stack/deployment.js';
import { makeStandingZone } from '../../local/stack/resources.js';
import { collections } from '../../shared/names.js';
import { keysAtHand } from '../install-config/made-bootstrap.js';
import { domainOf } from '../support/scene.js';
import { changeShared, type RecordSet, sharedRecords, sharedZone } from '../support/shared-zone.js';
import { createRemovalLab, type RemovalLab } from './removal-lab.js';

const { project, name: zone } = local.standingZone;
const name = 'beneath';
const theirName = 'ns1.elsewhere.example.';

describe('a delegation in a shared zone', function () {
  this.timeout(240_000);
  let at: RemovalLab;
  before(async function () {
    await keysAtHand.call(this);
    const options = { dnsProjectId: project, dnsZoneName: zone };
    at = await createRemovalLab(name, options, ({ cloud }) => makeStandingZone(cloud));
  });
  beforeEach(() => at.restore());
  after(() => at?.lab.close());

  const shared = () => sharedRecords(at.lab, name);
  const ownZone = () => `projects/${at.projectId}/managedZones/${zone}`;
  const zones = () => at.lab.cloud.world.table<{ resource: Record<string, unknown> }>('dns.zones');
  const note = () => ({ collection: collections.files, id: `${at.id}~delegation-written` });
  const lookAt = async () => (await at.lab.store.get(collections.files, note().id))?.data['lookAt'];
  /** As if a day had gone by. */
  const nextDay = () =>
    at.lab.store.commit([{ kind: 'update', ...note(), data: { lookAt: new Date(Date.now() - 1000).toISOString() } }]);
  const noteOf = async () => (await at.record()).instances['delegation']?.note;
  const isDeleted = () => Object.assign(at.project(), { state: 'DELETE_REQUESTED' });

  /** Somebody points it elsewhere. */
  async function changedByOthers(): Promise<RecordSet> {
    const [ours] = (await shared()) as [RecordSet];
    const theirs = { ...ours, rrdatas: [theirName] };
    await changeShared(at.lab, { additions: [theirs], deletions: [ours] });
    return theirs;
  }

  /** Removed while the shared zone refuses plinth, which leaves the delegation there. */
  async function leftBehind(): Promise<void> {
    const { policies } = at.lab.cloud.world;
    const before = policies.get(sharedZone, 3);
    policies.set(sharedZone, { bindings: [] });
    await at.expire();
    await at.removed();
    policies.set(sharedZone, { bindings: before['bindings'] ?? [] });
    expect(await noteOf()).to.contain(`left in the zone ${zone} of ${project}`);
    expect(await shared()).to.have.length(1);
  }

  /** The next run says beforehand that it removes it, and does. */
  async function expectFound(): Promise<void> {
    const dry = await at.dryRun();
    expect(dry.remove.map(({ projectId }) => projectId)).to.deep.equal([at.projectId]);
    expect(dry.remove[0]?.why).to.contain(`${domainOf(name)}. in the zone ${zone} of ${project}`);
    expect(await shared()).to.have.length(1);
    const { remove, failed } = await at.cleaned();
    expect({ remove, failed }).to.deep.equal({ remove: dry.remove, failed: [] });
    expect((await at.record()).state).to.equal('removed');
    expect(await shared()).to.deep.equal([]);
  }

  it('goes before the project, and is seen gone at its name servers', async () => {
    const since = at.lab.cloud.calls.last();
    await at.expire();
    await at.removed();
    expect(await shared()).to.deep.equal([]);
    const changes = at.lab.cloud.calls.list({ since, method: 'dns.changes.create' });
    const deletions = at.lab.cloud.calls.list({ since, method: 'cloudresourcemanager.projects.delete' });
    expect(changes).to.have.length(1);
    expect(changes[0]?.at).to.be.at.most(deletions[0]?.at ?? 0);
    expect(await noteOf()).to.contain('gone at its name servers');
  });

  it('is not told as gone by servers that hold its own zone, too, as long as Cloud DNS is removing it', async () => {
    (zones()[ownZone()]?.resource ?? {})['nameServers'] = zones()[sharedZone]?.resource['nameServers'];
    const { world, frontUrl } = at.lab.cloud;
    const { scaled } = world;
    const pace = async (times: number) => {
      const body = JSON.stringify({ settings: { 'pace.dns': times } });
      const reply = await fetch(`${frontUrl}/_local/world`, { method: 'PUT', body });
      expect(reply.status, await reply.text()).to.equal(200);
    };
    // Cloud DNS alone takes its time, and more than anybody has.
    await pace(1000);
    world.scaled = (seconds) => (seconds > 4000 ? 1e9 : 0);
    try {
      await at.expire();
      await at.removed();
    } finally {
      world.scaled = scaled;
      await pace(1);
    }
    expect(await noteOf()).to.match(/^1 removed; not seen gone.*Cloud DNS is still removing/);
  });

  it('does not keep its project where its name servers cannot be asked: what was not seen is said', async () => {
    const names = at.lab.cloud.nameServers ?? expect.fail('no name servers');
    names.disturb = () => plainReply('REFUSED');
    try {
      await at.expire();
      await at.removed();
    } finally {
      names.disturb = undefined;
    }
    expect(await noteOf()).to.match(/^1 removed; not seen gone at its name servers: /);
  });

  it('stays where somebody else changed it', async () => {
    const theirs = await changedByOthers();
    await at.expire();
    await at.removed();
    expect(await shared()).to.deep.equal([theirs]);
    expect(await noteOf()).to.contain('left, as somebody changed it');
  });

  it('goes at its deadline where somebody deleted the project, and so its own zone, by hand', async () => {
    delete zones()[ownZone()];
    isDeleted();
    await at.expire();
    await at.removed();
    expect(await shared()).to.deep.equal([]);
  });

  it('goes, too, where the labels of the project are all that is left', async () => {
    await at.lose('delegation-written');
    await at.makeLate();
    expect(await at.removed()).to.include({ orphan: true });
    expect(await shared()).to.deep.equal([]);
  });

  it('is told of where even its own zone is gone: nothing proves then whose the delegation is', async () => {
    const standing = await shared();
    delete zones()[ownZone()];
    await at.lose('delegation-written');
    await at.makeLate();
    expect(await at.removed()).to.include({ orphan: true });
    expect(await shared()).to.deep.equal(standing);
    expect(await noteOf()).to.match(
      new RegExp(`^left in the zone ${zone} of ${project}: the NS record ${domainOf(name)}\\.`),
    );
  });

  it('goes with a project whose own zone and record are gone, by what plinth noted when it wrote it', async () => {
    delete zones()[ownZone()];
    await at.lose();
    await at.makeLate();
    expect(await at.removed()).to.include({ orphan: true });
    expect(await shared()).to.deep.equal([]);
  });

  it('left behind goes with a later run, which tries each day as long as the zone refuses plinth', async () => {
    await leftBehind();
    expect((await at.cleaned()).remove).to.deep.equal([]);
    await nextDay();
    at.lab.cloud.faults.add({ method: 'dns.managedZones.get', code: 403, status: 'PERMISSION_DENIED', times: 0 });
    await at.removed();
    at.lab.cloud.faults.clear();
    expect(await shared()).to.have.length(1);
    expect(Date.parse(String(await lookAt()))).to.be.greaterThan(Date.now() + 80_000_000);
    await nextDay();
    await expectFound();
    expect(await noteOf()).to.match(/^1 removed; gone/);
    expect(await lookAt()).to.equal(undefined);
  });

  it('left behind stays where somebody changed it since', async () => {
    await leftBehind();
    const theirs = await changedByOthers();
    await nextDay();
    await at.cleaned();
    expect(await shared()).to.deep.equal([theirs]);
    expect(await lookAt()).to.equal(undefined);
  });

  it('left behind stays where somebody restored the project, and is told', async () => {
    await leftBehind();
    Object.assign(at.project(), { state: 'ACTIVE' });
    await nextDay();
    const { remove, keep } = await at.cleaned();
    expect(remove).to.deep.equal([]);
    expect(keep.map(({ why }) => why).join()).to.contain(`${domainOf(name)}. in the zone ${zone}`);
    expect(await shared()).to.have.length(1);
  });

  it('stays while its record or its project is there, and goes once both are gone', async () => {
    await nextDay();
    expect((await at.cleaned()).remove).to.deep.equal([]);
    expect(Date.parse(String(await lookAt()))).to.be.greaterThan(Date.now());
    await at.lose();
    await nextDay();
    expect((await at.cleaned()).remove).to.deep.equal([]);
    expect(await shared()).to.have.length(1);
    isDeleted();
    await nextDay();
    await expectFound();
    expect(await at.record()).to.include({ orphan: true });
  });

  it('is told and stays where no record is left and the project cannot be seen', async () => {
    await at.lose();
    delete at.lab.cloud.world.table('projects')[at.projectId];
    await nextDay();
    const { remove, keep } = await at.cleaned();
    expect(remove).to.deep.equal([]);
    expect(keep.map(({ why }) => why).join()).to.contain(`${domainOf(name)}. in the zone ${zone}`);
    expect(await shared()).to.have.length(1);
  });
});
