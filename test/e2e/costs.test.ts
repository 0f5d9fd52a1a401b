/** What bootstraps have cost, seen from outside: the command line, its CSV and the API agree, and it is what the cloud really ran. */
import { expect } from 'chai';
import { local, people } from '../../local/stack/deployment.js';
import { type CostGroup, type CostsView, costGroups } from '../../shared/bootstrap/costs.js';
import { microsOf } from '../../shared/bootstrap/money.js';
import { type Life, lifeOf } from '../support/life.js';
import { type People, peopleOf } from '../support/people.js';
import { runAt } from '../support/plinth-here.js';
import { type Caller, makeScene, outcomeOf, type Scene, succeeded } from '../support/scene.js';

/** In the form that earlier releases read: one day, and no price of Cloud NAT. A GB of disk costs a tenth of a dollar an hour. */
const rates = {
  e2VcpuHour: 1,
  e2MemoryGbHour: 0.5,
  spotE2VcpuHour: 0.25,
  spotE2MemoryGbHour: 0.125,
  pdSsdGbMonth: 73,
  staticAddressHour: 3,
  externalAddressHour: 5,
};
const prices = { asOf: '2026-11-01', source: 'of this test', currency: 'USD', regions: { 'europe-west4': rates } };

interface Instance {
  readonly machineType: string;
  readonly creationTimestamp: string;
  readonly scheduling?: { readonly provisioningModel?: string; readonly preemptible?: boolean };
  readonly networkInterfaces: readonly { readonly accessConfigs?: readonly unknown[] }[];
  readonly disks: readonly { readonly source: string }[];
}

/** Cores and GB of memory. */
const shapes: Readonly<Record<string, readonly [cores: number, memory: number]>> = {
  'e2-medium': [1, 4],
  'e2-standard-2': [2, 8],
  'e2-standard-8': [8, 32],
};
const last = (url: string): string => url.split('/').at(-1) ?? '';

describe('what bootstraps have cost, seen from outside', function () {
  this.timeout(120_000);
  let scene: Scene;
  let life: Life;
  let ask: People['ask'];
  let operator: Caller;
  before(async () => {
    scene = await makeScene({ settings: { PLINTH_PRICES: JSON.stringify(prices) } });
    life = lifeOf(scene);
    await life.pause();
    ({ ask } = peopleOf(scene));
    operator = await scene.caller(people.admin);
  });
  after(() => scene?.close());

  /** What one project has run until now, by the tables of the simulated cloud alone. */
  function ran(projectId: string): number {
    const all = <T>(table: string): T[] =>
      Object.entries(scene.cloud.world.table<{ resource: T }>(table)).flatMap(([path, { resource }]) =>
        path.startsWith(`projects/${projectId}/`) ? [resource] : [],
      );
    const hoursSince = (at: string) => (Date.now() - Date.parse(at)) / 3_600_000;
    const sizes = new Map(
      all<{ name: string; sizeGb: string }>('compute.disks').map(({ name, sizeGb }) => [name, Number(sizeGb)]),
    );
    const machines = all<Instance>('compute.instances').map((each) => {
      const [cores = Number.NaN, memory = Number.NaN] = shapes[last(each.machineType)] ?? [];
      const isSpot = each.scheduling?.provisioningModel === 'SPOT' || each.scheduling?.preemptible === true;
      const [core, gb] = isSpot
        ? [rates.spotE2VcpuHour, rates.spotE2MemoryGbHour]
        : [rates.e2VcpuHour, rates.e2MemoryGbHour];
      const disks = each.disks.reduce((sum, { source }) => sum + (sizes.get(last(source)) ?? Number.NaN), 0);
      const isPublic = each.networkInterfaces.some(({ accessConfigs = [] }) => accessConfigs.length > 0);
      const hourly = cores * core + memory * gb + disks * 0.1 + (isPublic ? rates.externalAddressHour : 0);
      return hourly * hoursSince(each.creationTimestamp);
    });
    const addresses = all<{ creationTimestamp: string }>('compute.addresses').map(
      ({ creationTimestamp }) => rates.staticAddressHour * hoursSince(creationTimestamp),
    );
    expect([machines.length, addresses.length]).to.deep.equal([8, 3]);
    return [...machines, ...addresses].reduce((sum, each) => sum + each, 0);
  }

  it('is what the cloud ran, and the same by API, JSON and CSV, however it is summed up', async () => {
    const expected = new Map<string, number>();
    for (const [name, hours, spot] of [
      ['dear', 30, false],
      ['cheap', 50, true],
    ] as const) {
      const owner = await scene.caller(`${name}@${local.domain}`);
      const view = succeeded(
        await owner.bootstrap(name, { 'project-ttl': '3d', ...(spot && { 'spot-vms': true as const }) }),
      );
      await life.passed(view.id, hours);
      expected.set(owner.email, ran(view.projectId));
      const removed = await runAt(['beta', 'bootstrap-cloud', 'cleanup', name, '--yes'], owner);
      expect(removed.exitCode, removed.stderr).to.equal(0);
      await scene.stack.settle();
    }
    const views = new Map<CostGroup, CostsView>();
    for (const by of costGroups) {
      const { body } = await ask<CostsView>(people.admin, 'GET', `/costs?by=${by}&all=true`);
      const json = outcomeOf(await runAt(['costs', '--all', '--by', by, '--json'], operator));
      expect(json.result['costs'], by).to.deep.equal(body);
      const csv = await runAt(['costs', '--all', '--by', by, '--csv'], operator);
      const [head, ...lines] = csv.stdout.trim().split('\r\n');
      expect(head).to.equal(by === 'project' ? 'project,name,owner,usd' : `${by},bootstraps,usd`);
      expect(lines).to.deep.equal(
        body.rows.map(({ key, name, owner, bootstraps, amount }) =>
          (by === 'project' ? [key, name, owner, amount] : [key, bootstraps, amount]).join(','),
        ),
      );
      const sum = body.rows.reduce((micros, { amount }) => micros + microsOf(amount), 0);
      expect(sum, by).to.equal(microsOf(body.total));
      views.set(by, body);
    }
    expect(new Set([...views.values()].map(({ total }) => total)).size, 'one total').to.equal(1);
    expect(views.get('day')?.rows.length).to.be.within(3, 4);
    const byOwner = views.get('owner')?.rows ?? [];
    expect(byOwner.map(({ key }) => key)).to.deep.equal([...expected.keys()].sort());
    for (const { key, amount } of byOwner) {
      const wanted = expected.get(key) ?? Number.NaN;
      // From the last look until it was gone it went on for a moment.
      expect(Number(amount) / wanted, `${amount} for ${wanted}`).to.be.within(0.999, 1.002);
    }
  });
});
