/** `plinth doctor --deployment`: what is wrong with a deployment is told to its operator, by the function that it concerns. */
import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { scheduledPermissions } from '../../functions/host/own-grants.js';
import { ownPermissions } from '../../functions/preflight/deployment/grants.js';
import { indexedQueries } from '../../functions/preflight/deployment/indexes.js';
import { uploadPermissions } from '../../functions/preflight/deployment/uploads.js';
import { homeOf } from '../../local/demo/plinth-process.js';
import { functionAccount, local, people } from '../../local/stack/deployment.js';
import type { PreflightFinding } from '../../shared/bootstrap/preflight.js';
import { collections, deploymentSecrets, functionNames } from '../../shared/names.js';
import { problemKinds } from '../../shared/problems.js';
import { lifeOf } from '../support/life.js';
import { runAt } from '../support/plinth-here.js';
import { projectFolder } from '../support/recording-store.js';
import { type Caller, changesIn, makeScene, outcomeOf, type Scene } from '../support/scene.js';
import { sharedZone } from '../support/shared-zone.js';

const inTerraform = <T>(file: string): T =>
  JSON.parse(readFileSync(join(projectFolder, 'terraform', file), 'utf8')) as T;

async function look(caller: Caller) {
  const run = await runAt(['doctor', '--deployment', '--json'], caller);
  const found = outcomeOf(run).result['deployment'] as { go: boolean; findings: readonly PreflightFinding[] };
  return { exitCode: run.exitCode, result: outcomeOf(run).result, ...found };
}

/** Takes a role on a resource away from everybody, and returns what gives it back. */
function without({ cloud: { world } }: Scene, resource: string, role: string): () => void {
  const before = world.policies.get(resource, 3);
  const bindings = (before['bindings'] ?? []) as { role: string }[];
  const left = bindings.filter((each) => each.role !== role);
  expect(left.length).to.be.lessThan(bindings.length);
  world.policies.set(resource, { ...before, bindings: left });
  return () => void world.policies.set(resource, { ...world.policies.get(resource, 3), bindings });
}

interface Case {
  readonly what: string;
  readonly code: string;
  readonly words: RegExp;
  arrange(scene: Scene): () => void;
}

const roleOf = (name: string) => `projects/${local.project}/roles/${name}`;
const own = `projects/${local.project}`;
const uploadsBucket = `projects/${local.project}/buckets/${local.uploadsBucket}`;
const account = `billingAccounts/${local.billingAccount}`;

/** Turns an API of plinth's own project off, and returns what turns it on again. */
function off({ cloud: { world } }: Scene, api: string): () => void {
  const { services } = world.table<{ services: Record<string, number> }>('projects')[local.project] ?? { services: {} };
  const since = services[api];
  delete services[api];
  return () => void Object.assign(services, { [api]: since });
}

const cases: readonly Case[] = [
  ...['compute', 'cloudscheduler'].map((api) => ({
    what: `the API ${api}`,
    code: 'apis-bootstraps',
    words: new RegExp(`gcloud services enable ${api}\\.googleapis\\.com`),
    arrange: (scene: Scene) => off(scene, `${api}.googleapis.com`),
  })),
  {
    what: 'the API orgpolicy',
    code: 'apis-run-cloud-step',
    words: /gcloud services enable orgpolicy\.googleapis\.com/,
    arrange: (scene) => off(scene, 'orgpolicy.googleapis.com'),
  },
  {
    what: 'the API dns',
    code: 'apis-run-cloud-step',
    words: /gcloud services enable dns\.googleapis\.com/,
    // The simulated cloud asks for it in the project of the zone.
    arrange({ cloud: { faults } }) {
      const refusal = { code: 403, status: 'PERMISSION_DENIED', reason: 'accessNotConfigured' };
      const id = faults.add({ method: 'dns.managedZones.testIamPermissions', times: 0, ...refusal });
      return () => void faults.remove(id);
    },
  },
  {
    what: 'a job of Cloud Scheduler',
    code: 'schedule-sweep',
    words: /no job .*sweep.*Apply terraform again/,
    arrange({ cloud: { world } }) {
      const jobs = world.table('cloudscheduler.jobs');
      const [name = ''] = Object.keys(jobs).filter((each) => each.includes('sweep'));
      const job = jobs[name];
      delete jobs[name];
      return () => void Object.assign(jobs, { [name]: job });
    },
  },
  {
    what: 'a role of its own',
    code: 'grants-bootstraps',
    words: /compute\.machineTypes\.get/,
    arrange: (scene) => without(scene, own, roleOf('plinthPlaces')),
  },
  {
    what: 'the role to make secrets',
    code: 'grants-run-cloud-step',
    words: /secretmanager\.secrets\.create/,
    arrange: (scene) => without(scene, own, roleOf('plinthSecretMaker')),
  },
  {
    what: 'the role to make projects',
    code: 'parents',
    words: /projectCreator/,
    arrange: (scene) => without(scene, local.folder, 'roles/resourcemanager.projectCreator'),
  },
  {
    what: 'the role to read policies',
    code: 'parents',
    words: /orgpolicy\.policyViewer/,
    arrange: (scene) => without(scene, local.folder, 'roles/orgpolicy.policyViewer'),
  },
  {
    what: 'the role to link projects',
    code: 'billing-accounts',
    words: /roles\/billing\.user/,
    arrange: (scene) => without(scene, account, 'roles/billing.user'),
  },
  {
    what: 'the role on the bucket of uploads',
    code: 'uploads-bootstraps',
    words: /storage\.objects\.create/,
    arrange: (scene) => without(scene, uploadsBucket, roleOf('plinthUploadsMaker')),
  },
  {
    what: 'the bucket of uploads itself',
    code: 'uploads-bootstraps',
    words: /gs:\/\/.*uploads is not there/,
    arrange({ cloud: { world } }) {
      const buckets = world.table('storage.buckets');
      const bucket = buckets[local.uploadsBucket];
      delete buckets[local.uploadsBucket];
      return () => void Object.assign(buckets, { [local.uploadsBucket]: bucket });
    },
  },
  {
    what: 'the role on a DNS zone',
    code: 'dns-zones',
    words: /roles\/dns\.admin/,
    arrange: (scene) => without(scene, sharedZone, 'roles/dns.admin'),
  },
];

describe('a deployment, looked at by its operator', function () {
  this.timeout(240_000);
  let scene: Scene;
  let operator: Caller;
  before(async () => {
    const { project, name } = local.standingZone;
    scene = await makeScene({
      settings: {
        PLINTH_MACHINE_ACCESS: 'iap',
        PLINTH_PARENTS: local.folder,
        PLINTH_BILLING_ACCOUNTS: local.billingAccount,
        // There is no bucket until somebody publishes a package.
        PLINTH_PACKAGES_BUCKET: '',
        PLINTH_DNS_ZONES: `${project}/${name}`,
      },
    });
    operator = await scene.caller(people.admin);
    const life = lifeOf(scene);
    await life.swept();
    await life.cleaned();
  });
  after(() => scene?.close());

  it('is a go, with every function heard and nothing changed', async () => {
    const since = scene.cloud.calls.last();
    const { exitCode, go, findings } = await look(operator);
    expect(findings.filter(({ state }) => state !== 'ok')).to.deep.equal([]);
    expect([exitCode, go]).to.deep.equal([0, true]);
    expect(findings.map(({ code }) => code)).to.include.members([
      'cloud-lane',
      'indexes',
      'schedule-cleanup',
      'ceilings',
      'parents',
    ]);
    const by = (name: keyof typeof functionNames) => functionAccount(functionNames[name]);
    const made = changesIn(scene.cloud, since).filter(({ caller }) =>
      [by('bootstraps'), by('runCloudStep')].includes(caller),
    );
    expect(made).to.deep.equal([]);
  });

  for (const { what, code, words, arrange } of cases) {
    it(`without ${what} is no go: ${code}`, async () => {
      const giveBack = arrange(scene);
      try {
        const { exitCode, go, findings } = await look(operator);
        const stops = findings.filter(({ state }) => state === 'stop');
        expect(stops.map((each) => each.code)).to.include(code);
        const told = stops.find((each) => each.code === code);
        expect(`${told?.what} ${told?.mend}`).to.match(words);
        const codes = [...new Set(stops.map(({ problem = 'bad-input' }) => problem))];
        const [only = 'bad-input'] = codes.length === 1 ? codes : [];
        expect(exitCode, JSON.stringify(stops)).to.equal(problemKinds[only].exit);
        expect(go).to.equal(false);
      } finally {
        giveBack();
      }
    });
  }

  it('is a go or a no go in words, too', async () => {
    const look = () => runAt(['doctor', '--deployment'], operator);
    expect((await look()).stdout).to.match(/Fine \(\d+\)[\s\S]*audience-api[\s\S]*\nGo\.\n$/);
    const giveBack = without(scene, account, 'roles/billing.user');
    try {
      const { stdout, stderr, exitCode } = await look();
      expect(stdout).to.match(/^Stops it \(1\)\n[\s\S]*\nNo go: 1 to mend first\.\n$/);
      expect([exitCode, /The deployment is not as it must be: billing-accounts/.test(stderr)]).to.deep.equal([3, true]);
    } finally {
      giveBack();
    }
  });

  it('without a function that answers people is no go: function-api', async () => {
    const env = { ...operator.env, PLINTH_ENDPOINT: '' };
    const folder = join(homeOf(operator.folder), '.config', 'plinth');
    mkdirSync(folder, { recursive: true });
    const file = join(folder, 'config.yaml');
    writeFileSync(file, `endpoints:\n  bootstraps: ${scene.stack.url}\n  api: http://127.0.0.1:9\n`);
    const { exitCode, go, findings } = await look({ ...operator, env });
    rmSync(file);
    expect(findings.flatMap(({ state, code }) => (state === 'stop' ? [code] : []))).to.deep.equal(['function-api']);
    expect(findings.find(({ code }) => code === 'audience-api')?.state).to.equal('unknown');
    expect([exitCode, go]).to.deep.equal([6, false]);
  });

  it('warns of a schedule that is paused', async () => {
    const pause = await runAt(['beta', 'cleanup', 'schedule', 'pause'], operator);
    expect(pause.exitCode, pause.stderr).to.equal(0);
    const { exitCode, findings } = await look(operator);
    expect(findings.find(({ code }) => code === 'schedule-cleanup')?.state).to.equal('warning');
    expect(exitCode).to.equal(0);
    await runAt(['beta', 'cleanup', 'schedule', 'resume'], operator);
  });

  it('is nobody else’s to look at', async () => {
    const { exitCode, stderr } = await runAt(['doctor', '--deployment'], await scene.caller());
    expect([exitCode, /for operators/.test(stderr)]).to.deep.equal([3, true]);
  });
});

describe('functions that nobody asks directly', function () {
  this.timeout(120_000);

  it('say what they lack when they run, and what api lacks is seen at the command line', async () => {
    const scene = await makeScene();
    try {
      const operator = await scene.caller(people.admin);
      const life = lifeOf(scene);
      await life.pause();
      const cursorKey = `${own}/secrets/${deploymentSecrets.cursorKey}`;
      const giveBack = [
        without(scene, own, roleOf('plinthScheduleRun')),
        without(scene, cursorKey, roleOf('plinthCursorKey')),
      ];
      // It looks once in ten minutes, and has looked already.
      const clock = scene.stack.functionsHalf?.contextOf(functionNames.cleanup).clock;
      Object.assign(clock ?? {}, { now: () => new Date(Date.now() + 11 * 60_000) });
      await life.cleaned();
      const { go, findings } = await look(operator);
      const told = (code: string) => findings.find((each) => each.code === code);
      expect(go).to.equal(false);
      expect(told('grants-cleanup')).to.include({ state: 'stop', problem: 'cloud-permission' });
      expect(told('grants-cleanup')?.what).to.equal(
        `plinth-cleanup lacks cloudscheduler.jobs.get, cloudscheduler.jobs.run in ${local.project}.`,
      );
      expect(told('grants-api')).to.include({ state: 'stop', problem: 'cloud-permission' });
      for (const give of giveBack) give();
      await life.cleaned();
      await life.swept();
      const mended = (await look(operator)).findings;
      for (const code of ['grants-cleanup', 'grants-sweep', 'grants-api']) {
        expect(mended.find((each) => each.code === code)?.state, code).to.equal('ok');
      }
      // Only their own runs tell. Where these stopped, nothing is known.
      const { store } = scene.stack.functionsHalf ?? {};
      const at = new Date(Date.now() - 2 * 3_600_000).toISOString();
      await store?.commit([{ kind: 'update', collection: collections.grants, id: 'cleanup', data: { at } }]);
      const old = (await look(operator)).findings.find(({ code }) => code === 'grants-cleanup');
      expect(old).to.include({ state: 'unknown', what: `cleanup has not looked at them since ${at}` });
      expect(old?.mend).to.include('plinth-cleanup');
    } finally {
      await scene.close();
    }
  });
});

describe('what the deployment is asked for', () => {
  it('is every index that terraform makes', () => {
    const { indexes } = inTerraform<{
      indexes: { collectionGroup: string; fields: { fieldPath: string }[] }[];
    }>('firestore.indexes.json');
    const wanted = indexes.map(({ collectionGroup, fields }) =>
      [collectionGroup, ...fields.map(({ fieldPath }) => fieldPath)].join(' '),
    );
    const asked = indexedQueries.map(({ collection, where = [], orderBy = ['', 'asc'] }) =>
      [collection, ...where.map(([field]) => field), orderBy[0]].join(' '),
    );
    expect(asked.sort()).to.deep.equal(wanted.sort());
  });

  it('is every permission of the custom roles on its own project', () => {
    const { customRoles, functions } = inTerraform<{
      customRoles: Record<string, { permissions: string[] }>;
      functions: Record<string, { role: string; on: string }[]>;
    }>('roles.json');
    const granted = (name: string, on: string) =>
      (functions[name] ?? [])
        .filter((grant) => grant.on === on)
        .flatMap(({ role }) => customRoles[role]?.permissions ?? [])
        .sort();
    for (const [name, asked] of Object.entries({ ...ownPermissions, ...scheduledPermissions })) {
      const custom = asked.filter((each) => !each.startsWith('datastore.')).toSorted();
      expect(custom, name).to.deep.equal(granted(name, 'project'));
    }
    for (const [name, asked] of Object.entries(uploadPermissions)) {
      expect(asked.toSorted(), name).to.deep.equal(granted(name, 'uploads'));
    }
  });
});
