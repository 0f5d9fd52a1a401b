/**
 * What a young account lacks is asked of Google, and followed, before any VM: in worlds that grant, grant by half, or refuse.
 * People see it by whole bootstraps. What else Google may answer, the step meets alone: nothing that costs comes before it
 * (test/steps/plan.test.ts).
 */
import { expect } from 'chai';
import { changeSettings, readSettings, type WorldSettings } from '../../local/cloud/worlds/settings.js';
import { type FunctionEnvironment, functionAccount, local } from '../../local/stack/deployment.js';
import { functionNames } from '../../shared/names.js';
import { Problem } from '../../shared/problems.js';
import { makeOptions } from '../install-config/make-options.js';
import { createLab, type Lab } from '../laws/lab.js';
import { runAt } from '../support/plinth-here.js';
import { argsOf, type Caller, makeScene, type Outcome, type Scene, succeeded } from '../support/scene.js';
import { makeFresh } from './open-world.js';

const contact = 'quota@example.com';
const preferences = 'cloudquotas.projects.locations.quotaPreferences';
const granting = { 'chance.quotaGranted': 1, 'chance.quotaPartly': 0 };
const halving = { 'chance.quotaGranted': 0, 'chance.quotaPartly': 1 };
const refusing = { 'chance.quotaGranted': 0, 'chance.quotaPartly': 0 };

/** What a bootstrap of one datacenter needs, and the fresh world lacks. */
const lacking = [
  { metric: 'CPUS', limit: 24, need: 52, half: 38 },
  { metric: 'CPUS_ALL_REGIONS', limit: 32, need: 52, half: 42 },
  { metric: 'SSD_TOTAL_GB', limit: 500, need: 730, half: 615 },
];

/** The ways out where Google was asked. */
const ways = [
  'The project is removed at its time: to wait longer, give a longer --project-ttl.',
  'Or give the --billing-account of an account with more history. Another --region does not help: CPUS_ALL_REGIONS counts in all regions together.',
  'What an operator has Google raise beforehand stands in docs/operate/deploy.md under "Quotas".',
];

interface Short {
  readonly metric: string;
  readonly limit: number;
  readonly need: number;
  readonly asked?: number;
  readonly granted?: number;
  readonly answer?: string;
}

interface Failure {
  readonly code: string;
  readonly detail: string;
  readonly advice: string;
  readonly short?: readonly Short[];
}

/** Requests that Google took. */
const takenOf = ({ cloud }: Pick<Scene, 'cloud'>, verb: 'create' | 'patch') =>
  cloud.calls.list({ method: `${preferences}.${verb}` }).filter(({ status }) => status === 200 || status === 0);

interface Preference {
  readonly quotaId: string;
  readonly preferred: number;
  readonly contactEmail: string;
  readonly dimensions: object;
}
const keptOf = ({ cloud }: Pick<Scene, 'cloud'>) =>
  Object.values(cloud.world.table<Preference>('cloudquotas.preferences'));

describe('quota that a new project lacks', function () {
  this.timeout(120_000);
  let scene: Scene;
  afterEach(() => scene?.close());

  async function open(worldSettings: WorldSettings, settings: FunctionEnvironment, timeFactor = 0): Promise<Caller> {
    scene = await makeScene({ world: 'fresh', worldSettings, settings, timeFactor });
    makeFresh(scene.cloud, worldSettings);
    return scene.caller();
  }

  const taken = (verb: 'create' | 'patch') => takenOf(scene, verb);
  const kept = () => keptOf(scene);
  /** The failure of the check. Nothing else failed, and nothing that costs was made. */
  function refused({ exitCode, result, stderr }: Outcome): Failure {
    expect(exitCode, stderr).to.equal(7);
    const failed = (result.bootstrap?.instances ?? []).filter(({ state }) => state === 'failed');
    expect(failed.map(({ id }) => id)).to.deep.equal(['quota']);
    for (const kind of ['instances', 'addresses', 'networks', 'routers']) {
      expect(scene.cloud.calls.list({ method: `compute.${kind}.insert` })).to.deep.equal([]);
    }
    return failed[0]?.problem as unknown as Failure;
  }

  it('is asked for once and waited for, which is told, with no VM, address or network before; then the bootstrap goes on to its end', async () => {
    // Six seconds here: time enough for whoever follows to hear of it.
    const slow = { ...granting, 'delay.quotaDecision': 500 };
    const settings = { PLINTH_QUOTA_CONTACT: contact };
    const alice = await open(slow, settings, 0.012);
    const outcome = await alice.bootstrap('granted');
    await scene.expectAll(succeeded(outcome));
    expect(JSON.stringify(outcome.events)).to.include('Google looks at the request for CPUS 52 (now 24)');
    const region = { region: 'europe-west4' };
    expect(
      kept().map(({ quotaId, preferred, dimensions }) => ({ quotaId, preferred, dimensions })),
    ).to.have.deep.members([
      { quotaId: 'CPUS-per-project-region', preferred: 52, dimensions: region },
      { quotaId: 'CPUS-ALL-REGIONS-per-project', preferred: 52, dimensions: {} },
      { quotaId: 'SSD-TOTAL-GB-per-project-region', preferred: 730, dimensions: region },
    ]);
    expect(new Set(kept().map(({ contactEmail }) => contactEmail))).to.deep.equal(new Set([contact]));
    expect([taken('create').length, taken('patch').length]).to.deep.equal([3, 0]);
    const callers = scene.cloud.calls.list().filter(({ api }) => api === 'cloudquotas.v1');
    expect(new Set(callers.map(({ caller }) => caller))).to.deep.equal(
      new Set([functionAccount(functionNames.runCloudStep)]),
    );
    const first = (method: string) => Math.min(...scene.cloud.calls.list({ method }).map(({ at }) => at));
    const asked = Math.max(...taken('create').map(({ at }) => at));
    for (const kind of ['instances', 'addresses', 'networks']) {
      expect(first(`compute.${kind}.insert`)).to.be.greaterThan(asked + 5000);
    }
  });

  it('is not asked for where nobody is named whom Google may ask; the failure names the setting, and people see its commands in lines of their own', async () => {
    const alice = await open(granting, { PLINTH_QUOTA_CONTACT: '' });
    const failure = refused(await alice.bootstrap('nobody'));
    expect(failure.detail).to.equal(
      'The quotas of this project are too low for a bootstrap in europe-west4. CPUS: limit 24, needed 52; CPUS_ALL_REGIONS: limit 32, needed 52; SSD_TOTAL_GB: limit 500, needed 730.',
    );
    expect(failure.advice)
      .to.match(
        /^Ask Google to raise CPUS, CPUS_ALL_REGIONS, SSD_TOTAL_GB of the project \S+, then run the same command again:$/m,
      )
      .and.to.include('PLINTH_QUOTA_CONTACT')
      .and.to.match(
        /gcloud services enable cloudquotas\.googleapis\.com --project=\S+\n +gcloud beta quotas preferences create --service=compute\.googleapis\.com --project=\S+ --quota-id=CPUS-per-project-region --dimensions=region=europe-west4 --preferred-value=52 --email=/,
      );
    expect(failure.short).to.deep.equal(lacking.map(({ metric, limit, need }) => ({ metric, limit, need })));
    expect(scene.cloud.calls.list().filter(({ api }) => api === 'cloudquotas.v1')).to.deep.equal([]);
    const { stderr } = await runAt(['beta', 'bootstrap-cloud', ...argsOf('nobody')], alice);
    const [said = ''] = stderr.split('\n').filter((line) => line.includes('✗ Quota'));
    expect(said).to.include('CPUS: limit 24, needed 52').and.not.to.include('gcloud');
    expect((await alice.plinth('status', 'nobody', '--json')).stdout).to.include('"short"');
    const { stdout } = await alice.plinth('status', 'nobody');
    for (const shown of [stderr, stdout]) {
      const commands = shown.split('\n').filter((line) => line.includes('gcloud beta quotas'));
      expect(commands).to.have.lengthOf(3);
      for (const line of commands) expect(line).to.match(/^ {2,}gcloud beta quotas preferences create /);
    }
    const [, next = ''] = stdout.split('\nNext\n');
    expect(next.split('\n').filter((line) => /^\S/.test(line))).to.deep.equal([]);
  });

  it('is what --dry-run says would be looked at', async () => {
    const alice = await open(granting, { PLINTH_QUOTA_CONTACT: contact });
    const { stdout } = await alice.bootstrap('dry-run', { 'dry-run': true });
    expect(stdout).to.include('CPUS 52, CPUS_ALL_REGIONS 52').and.to.include('request to Google for what lacks');
  });
});

describe('quota that a new project lacks, as the step meets it', function () {
  this.timeout(120_000);
  let lab: Lab;
  afterEach(() => lab?.close());

  async function open(worldSettings: WorldSettings, settings?: FunctionEnvironment, timeFactor = 0): Promise<void> {
    const options = makeOptions({ billingAccount: local.billingAccount });
    lab = await createLab(options, timeFactor, undefined, { PLINTH_QUOTA_CONTACT: contact, ...settings });
    makeFresh(lab.cloud, worldSettings);
  }
  const world = (settings: WorldSettings) => changeSettings(lab.cloud.world, readSettings(settings));
  const taken = (verb: 'create' | 'patch') => takenOf(lab, verb);
  const kept = () => keptOf(lab);
  async function refused(): Promise<Failure> {
    const problem = await lab.make('quota').catch((error: unknown) => error);
    if (!(problem instanceof Problem)) throw new Error('no Problem came', { cause: problem });
    expect(problem.code).to.equal('cloud-quota');
    const { code, detail, advice = '', members } = problem;
    return { code, detail, advice, ...members };
  }

  it('and is granted, is waited for until Compute Engine shows it', async () => {
    await open(granting);
    lab.cloud.faults.quota({ metric: 'CPUS', limit: 24 });
    const { detail, advice, short } = await refused();
    expect(advice).to.include(
      'Compute Engine does not show yet what Google granted. Run the same command again in some minutes.',
    );
    expect(detail).to.include('CPUS: limit 24, needed 52, asked Google for 52, granted 52');
    expect(short?.map(({ metric }) => metric)).to.deep.equal(['CPUS']);
  });

  it('and is granted in part, fails once with what was asked and answered', async () => {
    await open(halving);
    const failure = await refused();
    expect(failure.short).to.deep.equal(
      lacking.map(({ metric, need, half }) => ({
        metric,
        limit: half,
        need,
        asked: need,
        granted: half,
        answer: 'The request was partially approved.',
      })),
    );
    expect(failure.detail).to.equal(
      'The quotas of this project are too low for a bootstrap in europe-west4. CPUS: limit 38, needed 52, asked Google for 52, granted 38; CPUS_ALL_REGIONS: limit 42, needed 52, asked Google for 52, granted 42; SSD_TOTAL_GB: limit 615, needed 730, asked Google for 730, granted 615. Google says: "The request was partially approved."',
    );
    expect(failure.advice.split('\n')).to.deep.equal([
      'Google gave less than plinth asked for. Wait as its answer says: the same command then asks again.',
      ...ways,
    ]);
  });

  it('and is refused, fails once in the words of Google', async () => {
    await open(refusing);
    const failure = await refused();
    expect(
      failure.short?.map(({ metric, limit, need, asked, granted }) => ({ metric, limit, need, asked, granted })),
    ).to.deep.equal(lacking.map(({ metric, limit, need }) => ({ metric, limit, need, asked: need, granted: limit })));
    expect(
      failure.detail.split('Please wait 48h or until your billing account has additional history.'),
    ).to.have.length(2);
  });

  it('and is refused, is asked for again by the same command alone, as the same request, also where replies are lost', async () => {
    await open(refusing);
    lab.cloud.faults.add({ method: `${preferences}.create`, when: 'after', kind: 'drop' });
    lab.cloud.faults.add({ method: `${preferences}.create`, nth: 3, when: 'after', kind: 'error' });
    await refused();
    expect(kept()).to.have.lengthOf(3);
    expect(taken('patch')).to.deep.equal([]);
    world(granting);
    lab.resume();
    lab.cloud.faults.add({ method: `${preferences}.patch`, when: 'after', kind: 'drop' });
    await lab.make('quota');
    expect(taken('patch')).to.have.lengthOf(3);
    expect(kept()).to.have.lengthOf(3);
  });

  it('offers another region where nothing lacks that counts in all, and spot VMs where they fit, which the same command takes', async () => {
    const settings = { 'quota.PREEMPTIBLE_CPUS': 72, 'quota.CPUS_ALL_REGIONS': 72, 'quota.SSD_TOTAL_GB': 2000 };
    await open({ ...refusing, ...settings });
    const { advice } = await refused();
    expect(advice)
      .to.include('--spot-vms')
      .and.to.include('Or give another --region, or the --billing-account of an account with more history.');
    lab.resume({ options: { ...lab.bootstrap.options, spotVms: true } });
    await lab.make('quota');
  });

  it('is waited for within a bound; the same command goes on with the same requests', async () => {
    const slow = { ...granting, 'delay.quotaDecision': 86_400 };
    await open(slow, {}, 0.001);
    const { short, detail, advice } = await refused();
    expect(detail).to.include('no answer within 10 min');
    expect(short?.every(({ asked, need, granted }) => asked === need && granted === undefined)).to.equal(true);
    expect(advice.split('\n')).to.deep.equal([
      'Google has not answered yet. Run the same command again later: it goes on with the same request.',
      ...ways,
    ]);
    lab.resume();
    await refused();
    expect([taken('create').length, taken('patch').length]).to.deep.equal([3, 0]);
  });

  it('fails as before where the API is off in the project of plinth, and says so', async () => {
    await open(granting);
    delete lab.cloud.world.project(local.project).services['cloudquotas.googleapis.com'];
    const failure = await refused();
    expect(failure.detail)
      .to.include('CPUS: limit 24, needed 52')
      .and.to.include('plinth could not ask Google')
      .and.to.include('Cloud Quotas API has not been used in project');
    expect(failure.short?.map(({ metric }) => metric)).to.deep.equal(lacking.map(({ metric }) => metric));
  });

  it('fails as before where Google denies plinth the request, and says so', async () => {
    await open(granting);
    const message = "Permission 'cloudquotas.quotas.update' denied on resource.";
    lab.cloud.faults.add({ method: `${preferences}.create`, times: 0, code: 403, message });
    const failure = await refused();
    expect(failure.detail).to.include('CPUS: limit 24, needed 52').and.to.include('cloudquotas.quotas.update');
    expect(failure.advice).to.include('gcloud beta quotas preferences create');
  });
});
