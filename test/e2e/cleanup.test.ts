/** The end of projects: what is past its time goes with all that belonged to it, and nothing else does. */
import { expect } from 'chai';
import { local, people } from '../../local/stack/deployment.js';
import type { BootstrapView } from '../../shared/bootstrap/bootstrap.js';
import { collections, labels } from '../../shared/names.js';
import { type Life, lifeOf } from '../support/life.js';
import { domainOf, type Flags, makeScene, type Scene, succeeded } from '../support/scene.js';

describe('cleanup', function () {
  this.timeout(240_000);
  let scene: Scene;
  let life: Life;

  before(async () => {
    scene = await makeScene();
    life = lifeOf(scene);
  });
  after(() => scene?.close());

  const made = async (name: string, flags: Flags = {}): Promise<BootstrapView> =>
    succeeded(await (await scene.caller()).bootstrap(name, flags));
  const table = (name: string) => scene.cloud.world.table<Record<string, unknown>>(name);
  const secretsOf = (id: string) => Object.keys(table('secretmanager.secrets')).filter((name) => name.includes(id));
  const deletions = (since: number) =>
    scene.cloud.calls
      .list({ since })
      .filter(({ method, status }) => method === 'cloudresourcemanager.projects.delete' && status < 300);
  const number = (view: BootstrapView) => life.project(view.projectId)['projectNumber'];

  it('is called by Cloud Scheduler, and what is past its time goes with all that belonged to it', async () => {
    const bystander = await made('bystander');
    const view = await made('expired', { 'dns-project-id': local.dnsProject, 'dns-zone-name': 'shared' });
    expect(secretsOf(view.id)).not.to.deep.equal([]);
    await life.expire(view.id);
    for (let waited = 0; (await life.record(view.id))?.state !== 'removed' && waited < 60_000; waited += 100) {
      await new Promise((resolve) => setTimeout(resolve, 100));
    }
    await life.pause();
    expect(await life.record(view.id)).to.include({ state: 'removed' });
    expect(life.project(view.projectId)).to.include({ state: 'DELETE_REQUESTED' });
    expect(life.project(view.projectId)['billingAccountName'] ?? '').to.equal('');
    const records = JSON.stringify(table('dns.rrsets') ?? {});
    expect(records).not.to.contain(`cs.${domainOf('expired')}`);
    expect(secretsOf(view.id)).to.deep.equal([]);
    const { store } = scene.stack.functionsHalf ?? {};
    expect(
      await store?.query({ collection: collections.files, where: [['bootstrapId', '==', view.id]] }),
    ).to.deep.equal([]);
    const { state, result } = await scene.view(view.id);
    expect(state).to.equal('removed');
    expect(
      [...result.vms, ...result.addresses, result.dns, result.registry].filter((each) => each !== undefined),
    ).to.deep.equal([]);
    expect(life.project(bystander.projectId)).to.include({ state: 'ACTIVE' });
    await scene.expectAll(bystander);
    // The name is free again.
    expect((await made('expired')).projectId).not.to.equal(view.projectId);
  });

  it('does exactly what a dry run says, and that changes nothing', async () => {
    const view = await made('dry-run');
    await life.expire(view.id);
    const since = scene.cloud.calls.last();
    const dry = await life.cleanup(true);
    expect(dry.remove.map(({ projectId }) => projectId)).to.deep.equal([view.projectId]);
    await scene.stack.settle();
    expect((await life.record(view.id))?.state).to.equal('succeeded');
    expect(
      scene.cloud.calls.list({ since }).filter(({ method }) => /delete|update|patch|set/i.test(method)),
    ).to.deep.equal([]);
    const { remove } = await life.cleaned();
    expect(remove).to.deep.equal(dry.remove);
    expect(deletions(since)).to.have.length(1);
    expect((await life.cleanup()).remove).to.deep.equal([]);
  });

  it('removes nothing for whoever mistypes a dry run', async () => {
    const view = await made('mistyped');
    await life.expire(view.id);
    for (const query of [
      '?dryRun=1',
      '?dryRun=True',
      '?dryrun=true',
      '?dryRun',
      '?dryRun=true&dryRun=no',
      '?search=none',
      '?search=all&search=page',
    ]) {
      expect((await life.call(query)).status, query).to.equal(400);
    }
    await scene.stack.settle();
    expect((await life.record(view.id))?.state).to.equal('succeeded');
    await life.cleaned();
  });

  it('finds a late project whose record is not due, though its label names another bootstrap that is', async () => {
    const [due, late] = [await made('due-one'), await made('late-one')];
    await life.expire(due.id);
    await life.expire(late.id);
    // As records of releases that removed nothing; and somebody wrote the label of the other one.
    await life.change(late.id, { removeAt: undefined });
    const project = life.project(late.projectId) as { labels: Record<string, string> };
    project.labels = { ...project.labels, [labels.bootstrap]: due.id, [labels.deleteAfter]: 'whenever' };
    const dry = (await life.cleanup(true)).remove.map(({ projectId }) => projectId).sort();
    expect(dry).to.deep.equal([due.projectId, late.projectId].sort());
    expect((await life.cleaned()).remove.map(({ projectId }) => projectId).sort()).to.deep.equal(dry);
    expect(await life.record(late.id)).to.include({ state: 'removed' });
  });

  it('is safe twice at once', async () => {
    const view = await made('twice');
    await life.expire(view.id);
    const since = scene.cloud.calls.last();
    await Promise.all([life.cleanup(), life.cleanup(), life.cleanup()]);
    await scene.stack.settle();
    expect(await life.record(view.id)).to.include({ state: 'removed', generation: 2 });
    expect(deletions(since)).to.have.length(1);
  });

  it('cancels what is active first, then removes it', async () => {
    const running = (await scene.caller()).start('active');
    let id: string | undefined;
    for (let waited = 0; waited < 60_000 && id === undefined; waited += 20) {
      await new Promise((resolve) => setTimeout(resolve, 20));
      const found = await scene.stack.functionsHalf?.store.query({
        collection: collections.bootstraps,
        where: [['name', '==', 'active']],
      });
      id = found?.[0]?.id;
    }
    await life.expire(id ?? '');
    await life.cleaned();
    const record = await life.record(id ?? '');
    expect(record?.state, JSON.stringify(record?.problem)).to.equal('removed');
    await running.ended;
    expect(secretsOf(id ?? '')).to.deep.equal([]);
    const project = table('projects')[record?.projectId ?? ''];
    expect([undefined, 'DELETE_REQUESTED']).to.include(project?.['state']);
  });

  it('keeps a record of DNS that somebody else changed', async () => {
    const view = await made('foreign', { 'dns-project-id': local.dnsProject, 'dns-zone-name': 'foreign' });
    const zone = `${scene.cloud.endpoints.dns}/dns/v1/projects/${local.dnsProject}/managedZones/foreign`;
    const { accessToken } = await scene.stack.tokens(`admin@${local.domain}`);
    const headers = { authorization: `Bearer ${accessToken}`, 'content-type': 'application/json' };
    const rrsets = async () =>
      (
        (await (await fetch(`${zone}/rrsets`, { headers })).json()) as {
          rrsets: { name: string; type: string; ttl: number; rrdatas: string[] }[];
        }
      ).rrsets.filter(({ type }) => type === 'A');
    const changed = (await rrsets()).find(({ name }) => name.startsWith('ws.'));
    const reply = await fetch(`${zone}/changes`, {
      method: 'POST',
      headers,
      body: JSON.stringify({ deletions: [changed], additions: [{ ...changed, rrdatas: ['203.0.113.7'] }] }),
    });
    expect(reply.status).to.equal(200);
    await life.expire(view.id);
    await life.cleaned();
    expect(await life.record(view.id)).to.include({ state: 'removed' });
    expect((await rrsets()).map(({ rrdatas }) => rrdatas)).to.deep.equal([['203.0.113.7']]);
  });

  it('is not held up by a DNS project that refuses plinth: what is left there is said', async () => {
    const view = await made('refused-dns', { 'dns-project-id': local.dnsProject, 'dns-zone-name': 'refused' });
    const { policies } = scene.cloud.world;
    const resource = `projects/${local.dnsProject}`;
    const before = policies.get(resource, 3);
    policies.set(resource, { ...before, bindings: [] });
    try {
      await life.expire(view.id);
      await life.cleaned();
    } finally {
      policies.set(resource, { bindings: before['bindings'] ?? [] });
    }
    const record = await life.record(view.id);
    expect(record, JSON.stringify(record?.problem)).to.include({ state: 'removed' });
    expect(life.project(view.projectId)).to.include({ state: 'DELETE_REQUESTED' });
    expect(record?.instances['records']?.note)
      .to.contain(`left in the zone refused of ${local.dnsProject}: the records `)
      .and.to.contain(`ws.${domainOf('refused-dns')}`)
      .and.to.match(/denied|permission|forbidden/i);
  });

  it('tries again what a DNS project does not refuse for good', async () => {
    const view = await made('busy-dns', { 'dns-project-id': local.dnsProject, 'dns-zone-name': 'busy' });
    const conflict = { method: 'dns.changes.create', times: 3, code: 409, status: 'ALREADY_EXISTS' };
    scene.cloud.faults.add(conflict);
    await life.expire(view.id);
    await life.cleaned();
    expect(await life.record(view.id)).to.include({ state: 'removal-failed' });
    await life.change(view.id, { removeAt: new Date(Date.now() - 1000).toISOString() });
    await life.cleaned();
    const record = await life.record(view.id);
    expect(record).to.include({ state: 'removed' });
    expect(record?.instances['records']?.note).not.to.contain('left');
  });

  it('takes a project that somebody deleted already for gone, and says so', async () => {
    const view = await made('gone-already');
    Object.assign(life.project(view.projectId), { state: 'DELETE_REQUESTED' });
    await life.expire(view.id);
    await life.cleaned();
    expect(await life.record(view.id)).to.include({ state: 'removed' });
    expect((await life.record(view.id))?.instances['project']?.note).to.contain('can be restored');
  });

  it('respects a lien, reports it, and leaves the project alone after three tries, until a person asks', async () => {
    const view = await made('liened', { 'cloud-acme-issuer': true });
    const liens = table('liens');
    liens['liens/p1'] = {
      name: 'liens/p1',
      parent: `projects/${number(view)}`,
      restrictions: ['resourcemanager.projects.delete'],
      reason: 'audit under way',
      origin: 'audit',
      createTime: new Date().toISOString(),
    };
    await life.expire(view.id);
    for (let tries = 1; tries <= 3; tries++) {
      await life.change(view.id, { removeAt: new Date(Date.now() - 1000).toISOString() });
      expect((await life.cleaned()).failed).to.deep.equal([]);
      const record = await life.record(view.id);
      expect(record).to.include({ state: 'removal-failed' });
      expect(record?.problem?.detail).to.match(
        /^Check for liens failed: The project .* cannot be deleted, because a lien forbids it: audit under way.*\(placed by audit\)\.$/,
      );
      expect(record?.problem?.advice).to.contain(
        `gcloud alpha resource-manager liens delete p1 --project ${view.projectId}`,
      );
      expect(record?.removal?.failures).to.equal(tries);
    }
    expect(life.project(view.projectId)).to.include({ state: 'ACTIVE' });
    expect(liens['liens/p1']).not.to.equal(undefined);
    // Nothing is deleted: neither in other projects, nor in plinth's own.
    await scene.expectAll(view);
    const gone = Object.entries((await life.record(view.id))?.instances ?? {}).filter(
      ([, { state }]) => state === 'gone',
    );
    expect(gone).to.deep.equal([]);
    const { remove, keep } = await life.cleaned();
    expect(remove).to.deep.equal([]);
    // Its labels have not expired with its record.
    expect(keep.map(({ projectId }) => projectId)).not.to.contain(view.projectId);
    delete liens['liens/p1'];
  });

  describe('without a record', () => {
    const future = `t${Math.floor(Date.now() / 1000) + 3600}`;
    const kept: readonly (readonly [string, Readonly<Record<string, string>>])[] = [
      ['no proof', { [labels.proof]: '' }],
      ['the proof of another', { [labels.proof]: `p${'0'.repeat(60)}` }],
      ['another expiry than was proven', { [labels.deleteAfter]: 't1700000000' }],
      ['an expiry that is no time', { [labels.deleteAfter]: 'tomorrow' }],
      ['an expiry in the future', { [labels.deleteAfter]: future }],
      ['protection', { [labels.protectedUntil]: future }],
      ['a protection that is no time', { [labels.protectedUntil]: 'for-ever' }],
      ['another deployment', { [labels.deployment]: 'other' }],
      ['no word that it is managed', { [labels.managed]: 'false' }],
      ['another owner', { [labels.owner]: `o${'0'.repeat(40)}` }],
    ];

    it('a project goes whose labels prove that it is ours, and late, with its secrets; any other stays', async () => {
      // Secrets of two datacenters, and of options that are no default.
      const view = await made('orphan', { 'multi-dc': true, 'cloud-acme-issuer': true });
      const project = life.project(view.projectId) as Record<string, unknown>;
      const late = await life.lateLabels(view);
      await scene.stack.functionsHalf?.store.commit([
        { kind: 'delete', collection: collections.bootstraps, id: view.id },
      ]);
      for (const [what, changes] of kept) {
        project['labels'] = { ...late, ...changes };
        expect((await life.cleaned()).remove, what).to.deep.equal([]);
        expect(project['state'], what).to.equal('ACTIVE');
      }
      project['labels'] = late;
      expect((await life.cleanup(true)).remove.map(({ projectId }) => projectId)).to.deep.equal([view.projectId]);
      expect((await life.cleaned()).failed).to.deep.equal([]);
      const record = await life.record(view.id);
      expect(record, record?.problem?.detail).to.include({ state: 'removed', orphan: true });
      expect(project).to.include({ state: 'DELETE_REQUESTED' });
      expect(secretsOf(view.id)).to.deep.equal([]);
      expect((await made('orphan')).projectId).not.to.equal(view.projectId);
    });

    it('its records in the zone of another project go by what its own metadata and addresses say; no other does', async () => {
      const flags = { 'dns-project-id': local.dnsProject, 'dns-zone-name': 'orphans' };
      const view = await made('orphans', flags);
      const zone = `${scene.cloud.endpoints.dns}/dns/v1/projects/${local.dnsProject}/managedZones/orphans`;
      const { accessToken } = await scene.stack.tokens(`admin@${local.domain}`);
      const headers = { authorization: `Bearer ${accessToken}`, 'content-type': 'application/json' };
      interface RecordSet {
        readonly name: string;
        readonly type: string;
        readonly rrdatas: readonly string[];
      }
      const rrsets = async () => {
        const reply = await fetch(`${zone}/rrsets`, { headers });
        return ((await reply.json()) as { rrsets: RecordSet[] }).rrsets.filter(({ type }) => type === 'A');
      };
      const before = await rrsets();
      const changed = before.find((record) => record.name.startsWith('ws.')) as RecordSet;
      // Now of somebody else.
      const others = { ...changed, rrdatas: ['203.0.113.7'] };
      const bystanders = { ...changed, name: `www.${domainOf('orphans')}.`, rrdatas: ['203.0.113.8'] };
      const body = JSON.stringify({ deletions: [changed], additions: [others, bystanders] });
      expect((await fetch(`${zone}/changes`, { method: 'POST', headers, body })).status).to.equal(200);
      const { policies } = scene.cloud.world;
      const resource = `projects/${local.dnsProject}/managedZones/orphans`;
      const zonePolicy = () => JSON.stringify(policies.get(resource, 3));
      // As earlier releases gave it.
      const members = [
        `serviceAccount:cloud-controller@${view.projectId}.iam.gserviceaccount.com`,
        `user:${people.admin}`,
      ];
      policies.set(resource, { bindings: [{ role: 'roles/dns.admin', members }] });

      const project = life.project(view.projectId) as Record<string, unknown>;
      project['labels'] = await life.lateLabels(view);
      await scene.stack.functionsHalf?.store.commit([
        { kind: 'delete', collection: collections.bootstraps, id: view.id },
        { kind: 'delete', collection: collections.files, id: `${view.id}~records-written` },
      ]);
      expect((await life.cleaned()).failed).to.deep.equal([]);
      const record = await life.record(view.id);
      expect(record, JSON.stringify(record?.problem)).to.include({ state: 'removed', orphan: true });
      expect(project).to.include({ state: 'DELETE_REQUESTED' });
      const after = await rrsets();
      expect(after).to.have.deep.members([others, bystanders]);
      // plinth may not write the policy of a shared zone any more. Who may is told what is left.
      expect(zonePolicy()).to.contain(view.projectId).and.to.contain(people.admin);
      expect(record?.instances['zone-role']?.note)
        .to.contain('left in the zone orphans')
        .and.to.contain('change the policy of the DNS zone orphans');
      expect(record?.instances['records']?.note).to.contain(
        `left, as somebody changed them: ws.${domainOf('orphans')}`,
      );
    });
  });

  it('8 expire at once, 3 of them cannot go: the others do', async () => {
    const views: BootstrapView[] = [];
    for (let i = 0; i < 8; i += 4) {
      const names = [0, 1, 2, 3].map((n) => `many-${i + n}`);
      const all = await Promise.all(names.map(async (name) => (await scene.caller()).bootstrap(name)));
      views.push(...all.map(succeeded));
    }
    const broken = new Set(views.slice(0, 3).map(({ projectId }) => projectId));
    for (const view of views.slice(0, 3))
      scene.cloud.world.policies.set(`projects/${view.projectId}`, { bindings: [] });
    await Promise.all(views.map(({ id }) => life.expire(id)));
    const { remove } = await life.cleaned();
    expect(remove).to.have.length(8);
    for (const { id, projectId } of views) {
      expect((await life.record(id))?.state, projectId).to.equal(broken.has(projectId) ? 'removal-failed' : 'removed');
      expect(life.project(projectId)['state']).to.equal(broken.has(projectId) ? 'ACTIVE' : 'DELETE_REQUESTED');
    }
  });
});
