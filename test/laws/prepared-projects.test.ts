/** Prepared projects in the simulated cloud, by the real steps: what stands in them, whose they become, and that they go. */
import { expect } from 'chai';
import { graphOf } from '../../functions/engine/graph.js';
import { planOf } from '../../functions/engine/plan.js';
import { liftBootstrap, read } from '../../functions/engine/record/documents.js';
import { keepPools } from '../../functions/pools/keep.js';
import { firstInstance } from '../../functions/pools/member.js';
import { MadeSecrets } from '../../functions/steps/config/made-secrets.js';
import { steps } from '../../functions/steps/index.js';
import { local } from '../../local/stack/deployment.js';
import { fillOptions } from '../../shared/bootstrap/rules.js';
import { collections, functionNames, labels } from '../../shared/names.js';
import { keysAtHand } from '../install-config/made-bootstrap.js';
import { createEngineLab, type EngineLab } from './engine-lab.js';

const region = 'europe-west4';
const pool = {
  key: `${local.folder} ${local.billingAccount} ${region}`,
  parent: local.folder,
  billingAccount: local.billingAccount,
  region,
  size: 1,
  maxAgeSeconds: 7 * 86_400,
};

describe('a prepared project', function () {
  this.timeout(240_000);
  let lab: EngineLab;
  before(keysAtHand);
  beforeEach(async () => {
    lab = await createEngineLab();
    setPools([pool]);
  });
  afterEach(() => lab.close());

  function setPools(pools: readonly (typeof pool)[]): void {
    for (const name of Object.values(functionNames)) Object.assign(lab.context(name).config, { pools });
  }
  async function keep(): Promise<void> {
    await keepPools(lab.context(functionNames.sweep));
    await lab.drain();
  }
  const records = async () =>
    (await lab.store.query({ collection: collections.bootstraps })).flatMap(
      (document) => read(document, liftBootstrap) ?? [],
    );
  const projectOf = (projectId: string) =>
    lab.cloud.world.table<Record<string, unknown>>('projects')[projectId] as {
      readonly displayName: string;
      readonly state: string;
      readonly labels: Readonly<Record<string, string>>;
    };
  /** Names of what Compute Engine has of the project, by table. */
  const inProject = (projectId: string) => {
    const { tables } = lab.cloud.state() as unknown as { tables: Record<string, object> };
    return Object.fromEntries(
      Object.entries(tables)
        .filter(([table]) => table.startsWith('compute.'))
        .map(([table, rows]) => [table, Object.keys(rows).filter((path) => path.includes(projectId)).length] as const)
        .filter(([, count]) => count > 0),
    );
  };

  /** The NATs of the project's routers. */
  const natsOf = (projectId: string) =>
    Object.entries(
      lab.cloud.world.table<{ readonly resource: { readonly nats?: readonly object[] } }>('compute.routers'),
    ).flatMap(([path, { resource }]) => (path.includes(projectId) ? (resource.nats ?? []) : []));

  /** Names of what Secret Manager has of a bootstrap. */
  const secretsOf = (id: string): string[] =>
    Object.keys(lab.cloud.world.table('secretmanager.secrets')).flatMap((path) => {
      const [, name] = path.split(`/${id}-`);
      return name === undefined ? [] : [name];
    });

  /**
   * What was made at random for a bootstrap, by name. Tests have few RSA keys, so without these: their certificates tell them
   * apart.
   */
  function madeFor(id: string): Record<string, string> {
    const textOf = (name: string): string => {
      const [payload] = Object.entries(
        lab.cloud.world.table<{ readonly versions: Record<string, { readonly data?: string }> }>(
          'secretmanager.secrets',
        ),
      ).flatMap(([path, { versions }]) => (path.endsWith(`/${id}-${name}`) ? [versions['1']?.data ?? ''] : []));
      if (payload === undefined) throw new Error(`there is no secret ${name}`);
      return Buffer.from(payload, 'base64').toString();
    };
    const made = MadeSecrets.parse(JSON.parse(textOf('secrets-dc1')));
    const isRandom = (name: string) => /[pP]assword|Hmac|Preshared|domainAuth|ProxyHostKey/.test(name);
    return {
      'age-identity': textOf('age-identity'),
      'machine-key': textOf('machine-key'),
      clusterCaCertPem: made.public.clusterCaCertPem,
      postgresCaCertPem: made.public.postgresCaCertPem ?? '',
      ...Object.fromEntries(
        made.secrets.flatMap(({ name, file, fields }) =>
          isRandom(name) ? [[name, file?.content ?? fields?.password ?? '']] : [],
        ),
      ),
      registryPassword: made.registry?.password ?? '',
    };
  }

  const maySee = (projectId: string): boolean =>
    lab.cloud.world.policies.allows(
      { email: 'alice@example.com', kind: 'user' },
      'resourcemanager.projects.get',
      `projects/${projectId}`,
    );

  it('begins with the one step that needs no other', () => {
    const options = fillOptions({ projectName: 'x', region });
    const plan = planOf(graphOf(steps), { options, machineAccess: 'direct', unclaimed: true });
    const roots = [...plan.values()].filter(({ needs }) => needs.length === 0);
    expect(roots.map(({ id, lane }) => ({ id, lane }))).to.deep.equal([firstInstance]);
    for (const { fillings } of plan.values()) {
      expect(Object.values(fillings).filter(({ kind }) => kind === 'absent')).to.deep.equal([]);
    }
  });

  it('holds nothing that costs and nobody but plinth, and becomes the one of whoever claims it', async () => {
    await keep();
    const [member] = await records();
    if (member === undefined) throw new Error('nothing was prepared');
    const { projectId, state, problem } = member.data;
    expect(state, problem?.detail).to.equal('succeeded');
    expect(projectOf(projectId)).to.include({ displayName: projectId, state: 'ACTIVE' });
    expect(inProject(projectId)).to.include({ 'compute.subnetworks': 1, 'compute.routers': 1 });
    // A NAT costs by the VMs that use it and by its addresses. Google allocates these when VMs come.
    expect(natsOf(projectId)).to.have.length(1);
    expect(natsOf(projectId)[0]).to.include({ natIpAllocateOption: 'AUTO_ONLY' });
    expect(natsOf(projectId)[0]).not.to.have.property('natIps');
    const costly = ['addresses', 'instances', 'disks', 'forwardingRules'];
    expect(inProject(projectId)).not.to.have.any.keys(costly.map((each) => `compute.${each}`));
    expect(maySee(projectId)).to.equal(false);
    expect(secretsOf(member.id)).to.deep.equal([]);
    const before = lab.cloud.calls.last();
    const kept = ['compute.networks.insert', 'compute.subnetworks.insert', 'compute.routers.insert'];
    const insertsOf = (method: string) => lab.cloud.calls.list({ since: before, method });
    expect(lab.cloud.calls.list({ since: 0, method: 'compute.routers.insert' })).to.have.length(1);

    const id = await lab.begin('mine');
    expect(id).to.equal(member.id);
    await lab.drain();
    const record = await lab.record(id);
    expect(record.state, record.problem?.detail).to.equal('succeeded');
    expect(record).to.include({ projectId, name: 'mine', owner: 'alice@example.com' });
    expect(maySee(projectId)).to.equal(true);
    expect(secretsOf(id)).to.include.members(['age-identity', 'machine-key', 'secrets-dc1']);
    expect(inProject(projectId)).to.include.keys('compute.addresses', 'compute.instances');
    expect(inProject(projectId)).to.include({ 'compute.routers': 1 });
    expect(projectOf(projectId).displayName).to.equal('mine');
    expect(projectOf(projectId).labels[labels.bootstrap]).to.equal(id);
    expect(projectOf(projectId).labels[labels.deleteAfter]).to.equal(
      `t${Math.floor(Date.parse(record.deadlineAt) / 1000)}`,
    );
    expect(lab.cloud.calls.list({ since: before, method: 'cloudresourcemanager.projects.create' })).to.deep.equal([]);
    expect(kept.flatMap(insertsOf)).to.deep.equal([]);
    expect(lab.brokenOff).to.deep.equal([]);

    await lab.remove(id);
    await lab.drain();
    expect((await lab.record(id)).state).to.equal('removed');
    expect(projectOf(projectId).state).to.equal('DELETE_REQUESTED');
  });

  it('gets keys, passwords and an age identity that no other project of its pool has', async () => {
    setPools([{ ...pool, size: 2 }]);
    await keep();
    const ids = [await lab.begin('first'), await lab.begin('second')];
    await lab.drain();
    const records = await Promise.all(ids.map((id) => lab.record(id)));
    expect(records.map(({ state, prepared }) => [state, prepared?.pool])).to.deep.equal([
      ['succeeded', pool.key],
      ['succeeded', pool.key],
    ]);
    const [one = {}, two = {}] = ids.map(madeFor);
    expect(Object.keys(one)).to.deep.equal(Object.keys(two));
    expect(Object.keys(one)).to.include.members([
      'age-identity',
      'machine-key',
      'postgresPassword',
      'openFgaPresharedKey',
      'domainAuthPrivateKey',
      'sshWorkspaceProxyHostKey',
      'clusterCaCertPem',
    ]);
    expect(Object.entries(one).filter(([name, value]) => two[name] === value)).to.deep.equal([]);
  });

  it('goes by cleanup once its pool is drained, or it is past its age', async () => {
    setPools([{ ...pool, size: 2 }]);
    await keep();
    const all = await records();
    expect(all.map(({ data }) => data.state)).to.deep.equal(['succeeded', 'succeeded']);
    setPools([]);
    await keep();
    const { remove } = await lab.cleanup(1);
    expect(remove.map(({ projectId }) => projectId)).to.have.members(all.map(({ data }) => data.projectId));
    await lab.drain();
    for (const { data } of await records()) {
      expect(data.state).to.equal('removed');
      expect(data.pool).to.equal(undefined);
      expect(projectOf(data.projectId).state).to.equal('DELETE_REQUESTED');
    }
    expect(await lab.store.query({ collection: collections.leases })).to.deep.equal([]);

    setPools([pool]);
    await keep();
    const young = (await records()).filter(({ data }) => data.pool !== undefined);
    expect(young).to.have.length(1);
    expect((await lab.cleanup(7 * 86_400 - 60)).remove).to.deep.equal([]);
    expect((await lab.cleanup(120)).remove.map(({ projectId }) => projectId)).to.deep.equal(
      young.map(({ data }) => data.projectId),
    );
    await lab.drain();
    expect(projectOf(young[0]?.data.projectId ?? '').state).to.equal('DELETE_REQUESTED');
  });

  it('is claimed by whoever begins after a death at any call of the cloud, or is made after all', async () => {
    await keep();
    const [member] = await records();
    const saved = await lab.save();
    for (const nth of [1, 9, 20]) {
      for (const when of ['before', 'after'] as const) {
        await lab.restore(saved);
        setPools([pool]);
        lab.die({ nth, when });
        await lab.begin('mine').catch(() => undefined);
        await lab.drain();
        await lab.recover();
        const id = await lab.begin('mine');
        await lab.drain();
        const record = await lab.record(id);
        expect(record.state, `${nth} ${when}: ${record.problem?.detail}`).to.equal('succeeded');
        expect(record.projectId).to.equal(member?.data.projectId);
        expect(projectOf(record.projectId).displayName).to.equal('mine');
      }
    }
  });
});
