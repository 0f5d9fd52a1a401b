/** `plinth doctor --deployment`: what is wrong with a deployment is told to its operator, by the function that it concerns. */
import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, get } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { expect } from 'chai';
import { createCheckClient } from '../../functions/check-client.js';
import { neededGrants } from '../../functions/host/needed-grants.js';
import { indexedQueries } from '../../functions/preflight/deployment/indexes.js';
import { uploadPermissions } from '../../functions/preflight/deployment/uploads.js';
import { homeOf } from '../../local/demo/plinth-process.js';
import { functionAccount, local, people, topicPath } from '../../local/stack/deployment.js';
import { makeBucket } from '../../local/stack/resources.js';
import { pathTo } from '../../shared/api.js';
import { type DeploymentFindingCode, deploymentFindingCodes } from '../../shared/bootstrap/finding-codes.js';
import type { PreflightFinding } from '../../shared/bootstrap/preflight.js';
import { consoleRoutes } from '../../shared/console/routes.js';
import { collections, deploymentSecrets, functionNames } from '../../shared/names.js';
import { problemKinds } from '../../shared/problems.js';
import { lifeOf } from '../support/life.js';
import { runAt } from '../support/plinth-here.js';
import { putRelease, releaseSha256 } from '../support/put-release.js';
import { projectFolder } from '../support/recording-store.js';
import { type Caller, changesIn, makeScene, outcomeOf, type Scene } from '../support/scene.js';

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
  world.policies.set(resource, { ...before, version: 3, bindings: left });
  return () => void world.policies.set(resource, { ...world.policies.get(resource, 3), version: 3, bindings });
}

interface Case {
  readonly what: string;
  readonly code: DeploymentFindingCode;
  readonly words: RegExp;
  arrange(scene: Scene): () => void;
}

const roleOf = (name: string) => `projects/${local.project}/roles/${name}`;
const own = `projects/${local.project}`;
const secretOf = (key: keyof typeof deploymentSecrets) => `${own}/secrets/${deploymentSecrets[key]}`;
const subscriptionOf = (name: string) => `${own}/subscriptions/eventarc-${name}-sub`;
const account = `billingAccounts/${local.billingAccount}`;

/** Turns an API of plinth's own project off, and returns what turns it on again. */
function off({ cloud: { world } }: Scene, api: string): () => void {
  const { services } = world.table<{ services: Record<string, number> }>('projects')[local.project] ?? { services: {} };
  const since = services[api];
  delete services[api];
  return () => void Object.assign(services, { [api]: since });
}

/** Takes an entry of a table away, and returns what gives it back. */
function gone({ cloud: { world } }: Scene, table: string, name: string): () => void {
  const entries = world.table(table);
  const entry = entries[name];
  expect(entry, name).not.to.equal(undefined);
  delete entries[name];
  return () => void Object.assign(entries, { [name]: entry });
}

/** Whoever waits for a message to be taken waits for a tenth of the time. Returns what makes them patient again. */
function hasty(scene: Scene): () => void {
  const { clock } = scene.stack.functionsHalf?.contextOf(functionNames.bootstraps) ?? {};
  const { pause } = clock ?? {};
  Object.assign(clock ?? {}, { pause: (seconds: number) => pause?.(seconds / 10) });
  return () => void Object.assign(clock ?? {}, { pause });
}

/** What was heard of late is a while ago. */
function letTimePass(scene: Scene): void {
  passed += 60_000;
  for (const name of [functionNames.bootstraps, functionNames.runCloudStep, functionNames.runHostStep]) {
    const clock = scene.stack.functionsHalf?.contextOf(name).clock;
    Object.assign(clock ?? {}, { now: () => new Date(Date.now() + passed) });
  }
}
let passed = 0;

/** Each grant is taken away in deployment-grants.test.ts. */
const cases: readonly Case[] = [
  ...['compute', 'cloudscheduler'].map((api) => ({
    what: `the API ${api}`,
    code: 'apis-bootstraps' as const,
    words: new RegExp(`gcloud services enable ${api}\\.googleapis\\.com`),
    arrange: (scene: Scene) => off(scene, `${api}.googleapis.com`),
  })),
  ...['orgpolicy', 'cloudresourcemanager', 'cloudbilling'].map((api) => ({
    what: `the API ${api}`,
    code: 'apis-run-cloud-step' as const,
    words: new RegExp(`gcloud services enable ${api}\\.googleapis\\.com`),
    arrange: (scene: Scene) => off(scene, `${api}.googleapis.com`),
  })),
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
    what: 'the bucket of uploads itself',
    code: 'uploads-bootstraps',
    words: /gs:\/\/.*uploads is not there/,
    arrange: (scene) => gone(scene, 'storage.buckets', local.uploadsBucket),
  },
  {
    what: 'the bucket of packages',
    code: 'packages',
    words: /gs:\/\/plinth-local-plinth-packages is not there.*Apply terraform again/,
    arrange: (scene) => gone(scene, 'storage.buckets', local.packagesBucket),
  },
  {
    what: 'the bucket of releases',
    code: 'executable',
    words: /gs:\/\/plinth-local-plinth-releases\/releases\/.*gcloud storage cp/,
    arrange: (scene) => gone(scene, 'storage.buckets', local.releaseBucket),
  },
  {
    what: 'a composite index',
    code: 'indexes',
    words: /logs by bootstrapId, instance, offset.*gcloud firestore indexes composite list --project=plinth-local/,
    // The store of tests has no indexes. Firestore itself refuses such a query so.
    arrange({ stack: { functionsHalf } }) {
      const { store } = functionsHalf?.contextOf(functionNames.bootstraps) ?? {};
      const query = store?.query;
      const refused = Object.assign(new Error('9 FAILED_PRECONDITION: The query requires an index.'), { code: 9 });
      Object.assign(store ?? {}, {
        query: (asked: { readonly collection: string }) =>
          asked.collection === collections.logs ? Promise.reject(refused) : query?.(asked),
      });
      return () => void Object.assign(store ?? {}, { query });
    },
  },
  {
    what: 'the function check',
    code: 'function-check',
    words: /it answers 404.*terraform apply.*gcloud functions logs read check/,
    arrange({ stack: { functionsHalf, url } }) {
      const context = functionsHalf?.contextOf(functionNames.bootstraps);
      const { askCheck, config } = context ?? {};
      const serviceAccount = config?.serviceAccount ?? '';
      Object.assign(context ?? {}, { askCheck: createCheckClient({ url: `${url}/elsewhere`, serviceAccount }) });
      return () => void Object.assign(context ?? {}, { askCheck });
    },
  },
  {
    what: 'the trigger of the cloud lane',
    code: 'cloud-lane',
    words: /not answered.*gcloud eventarc triggers list --location=europe-west4 --project=plinth-local/,
    arrange(scene) {
      const bePatient = hasty(scene);
      const giveBack = gone(scene, 'pubsub.subscriptions', subscriptionOf(functionNames.runCloudStep));
      return () => {
        giveBack();
        bePatient();
      };
    },
  },
  {
    what: 'the right target of the trigger of the cloud lane',
    code: 'cloud-lane',
    words: /reach the function run-host-step, not run-cloud-step.*gcloud eventarc triggers list/,
    arrange(scene) {
      const subscriptions = scene.cloud.world.table<{ pushConfig: unknown }>('pubsub.subscriptions');
      const [cloud, host] = [functionNames.runCloudStep, functionNames.runHostStep].map(
        (name) => subscriptions[subscriptionOf(name)],
      );
      const pushConfig = cloud?.pushConfig;
      Object.assign(cloud ?? {}, { pushConfig: host?.pushConfig });
      return () => void Object.assign(cloud ?? {}, { pushConfig });
    },
  },
  {
    what: 'the topic of the cloud lane',
    code: 'grants-bootstraps',
    words: /the topic plinth-cloud-steps, which is not there.*terraform apply/,
    arrange: (scene) => gone(scene, 'pubsub.topics', topicPath('cloud')),
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
        PLINTH_DNS_ZONES: `${project}/${name}`,
        PLINTH_HOSTS: 'on',
        PLINTH_RELEASES_URL: `gs://${local.releaseBucket}/${local.releaseFolder}`,
        PLINTH_RELEASE_SHA256: releaseSha256,
      },
    });
    await makeBucket(scene.cloud, local.packagesBucket);
    await putRelease(scene.cloud);
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
    // Only a deployment that does not answer is a finding of its own.
    const wanted = deploymentFindingCodes.filter((code) => code !== 'deployment');
    expect(findings.map(({ code }) => code).sort()).to.deep.equal(wanted.toSorted());
    for (const { code, what } of findings) expect(what, code).to.match(/\w/);
    const by = (name: keyof typeof functionNames) => functionAccount(functionNames[name]);
    const made = changesIn(scene.cloud, since).filter(({ caller }) =>
      [by('bootstraps'), by('runCloudStep')].includes(caller),
    );
    expect(made).to.deep.equal([]);
  });

  for (const { what, code, words, arrange } of cases) {
    it(`without ${what} is no go: ${code}`, async () => {
      const giveBack = arrange(scene);
      letTimePass(scene);
      try {
        const { exitCode, go, findings } = await look(operator);
        const stops = findings.filter(({ state }) => state === 'stop');
        expect(stops.map((each) => each.code)).to.include(code);
        const told = stops.find((each) => each.code === code);
        expect(`${told?.what} ${told?.mend}`).to.match(words);
        for (const { code: which, mend, why } of stops) {
          expect(mend, which).to.match(/terraform apply|gcloud /);
          expect(why, which).to.be.a('string');
        }
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
    letTimePass(scene);
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
    const told = findings.find(({ code }) => code === 'schedule-cleanup');
    expect(told).to.include({ state: 'warning', mend: 'Resume it: plinth beta cleanup schedule resume' });
    expect(exitCode).to.equal(0);
    await runAt(['beta', 'cleanup', 'schedule', 'resume'], operator);
  });

  it('warns of sweep that is paused, and says how it is resumed', async () => {
    const jobs = scene.cloud.world.table<{ job: { state: string } }>('cloudscheduler.jobs');
    const found = Object.entries(jobs).find(([name]) => name.includes('sweep'))?.[1];
    Object.assign(found?.job ?? {}, { state: 'PAUSED' });
    const told = (await look(operator)).findings.find(({ code }) => code === 'schedule-sweep');
    Object.assign(found?.job ?? {}, { state: 'ENABLED' });
    expect(told).to.include({
      state: 'warning',
      mend: 'Resume it: gcloud scheduler jobs resume plinth-sweep --location=europe-west4 --project=plinth-local',
    });
  });

  it('is no go where it takes no token of this audience, and says which it would take', async () => {
    const idToken = await scene.cloud.identity.idToken({ email: people.admin, audience: 'https://elsewhere.example' });
    const env = { ...operator.env, PLINTH_TOKEN: idToken };
    const { exitCode, go, findings } = await look({ ...operator, env });
    const told = (code: string) => findings.find((each) => each.code === code);
    for (const code of ['audience-bootstraps', 'audience-api']) {
      expect(told(code), code).to.include({ state: 'stop', problem: 'unauthenticated' });
      expect(told(code)?.what, code).to.include('claim "aud"');
      expect(told(code)?.mend, code).to.match(/plinth login.*PLINTH_AUDIENCES/);
    }
    expect(told('deployment')).to.include({ state: 'unknown' });
    expect([exitCode, go]).to.deep.equal([problemKinds.unauthenticated.exit, false]);
  });

  it('tells what can be seen from here where the function that looks at it does not answer', async () => {
    const env = { ...operator.env, PLINTH_ENDPOINT: 'http://127.0.0.1:9' };
    const { exitCode, go, findings } = await look({ ...operator, env });
    const states = Object.fromEntries(findings.map(({ code, state }) => [code, state]));
    expect(states).to.include({ 'function-bootstraps': 'stop', 'function-api': 'stop', deployment: 'unknown' });
    expect([exitCode, go]).to.deep.equal([problemKinds.unavailable.exit, false]);
  });

  it('does not take for missing what Google refuses to tell: that is unknown, with a command', async () => {
    const fault = scene.cloud.faults.add({
      method: 'cloudresourcemanager.projects.testIamPermissions',
      where: { caller: functionAccount(functionNames.bootstraps) },
      times: 0,
      code: 403,
      status: 'PERMISSION_DENIED',
    });
    const { go, findings } = await look(operator);
    scene.cloud.faults.remove(fault);
    const told = findings.find(({ code }) => code === 'grants-bootstraps');
    expect(told).to.include({ state: 'unknown' });
    expect(told?.what).to.match(/^Could not ask what plinth may do in projects\/plinth-local: /);
    expect(told?.mend).to.include('gcloud projects get-iam-policy plinth-local');
    expect(go).to.equal(true);
  });

  for (const [what, path] of [
    ['the key of cursors', 'cursor=none'],
    ['the sign-in of the console', pathTo(consoleRoutes.beginSignIn)],
  ] as const) {
    it(`does not take an answer that was lost for a missing grant: ${what}`, async () => {
      const way = await startLosing(scene.stack.url, path);
      const env = { ...operator.env, PLINTH_ENDPOINT: '' };
      const folder = join(homeOf(operator.folder), '.config', 'plinth');
      mkdirSync(folder, { recursive: true });
      const file = join(folder, 'config.yaml');
      writeFileSync(file, `endpoints:\n  bootstraps: ${scene.stack.url}\n  api: ${way.url}\n`);
      try {
        const { go, findings } = await look({ ...operator, env });
        const told = findings.find(({ code }) => code === 'grants-api');
        expect([told?.state, go], JSON.stringify(told)).to.deep.equal(['unknown', true]);
        expect(told?.mend).to.include('plinth doctor --deployment');
      } finally {
        rmSync(file);
        await way.close();
      }
    });
  }

  it('is nobody else’s to look at', async () => {
    const { exitCode, stderr } = await runAt(['doctor', '--deployment'], await scene.caller());
    expect([exitCode, /for operators/.test(stderr)]).to.deep.equal([3, true]);
  });
});

describe('functions that nobody asks directly', function () {
  this.timeout(120_000);

  it('say what they lack when they run, and what api lacks is seen at the command line', async () => {
    const scene = await makeScene({ settings: { PLINTH_WEBHOOK_URL: 'http://127.0.0.1:9' } });
    try {
      const operator = await scene.caller(people.admin);
      const life = lifeOf(scene);
      await life.pause();
      const giveBack = [
        without(scene, own, roleOf('plinthScheduleRun')),
        without(scene, secretOf('cursorKey'), roleOf('plinthCursorKey')),
        without(scene, secretOf('proofKey'), 'roles/secretmanager.secretAccessor'),
        without(scene, secretOf('webhookKey'), 'roles/secretmanager.secretAccessor'),
        without(scene, topicPath('host'), 'roles/pubsub.publisher'),
      ];
      /** As if Cloud Scheduler had called it last then. From now on only this test calls it. */
      const calledAt = async (name: string, at: string): Promise<void> => {
        const jobs = scene.cloud.world.table<{ dueAt: number; job: object }>('cloudscheduler.jobs');
        const found = Object.entries(jobs).find(([path]) => path.endsWith(name))?.[1];
        Object.assign(found ?? {}, { dueAt: Date.now() + 86_400_000 });
        await scene.cloud.scheduledCalls.idle();
        Object.assign(found?.job ?? {}, { lastAttemptTime: at });
      };
      let passed = 11 * 60_000;
      // It looks once in ten minutes, and has looked already.
      for (const name of [functionNames.cleanup, functionNames.sweep]) {
        const clock = scene.stack.functionsHalf?.contextOf(name).clock;
        Object.assign(clock ?? {}, { now: () => new Date(Date.now() + passed) });
      }
      await life.cleaned();
      await life.swept();
      const { go, findings } = await look(operator);
      const told = (code: string) => findings.find((each) => each.code === code);
      expect(go).to.equal(false);
      expect(told('grants-cleanup')).to.include({ state: 'stop', problem: 'cloud-permission' });
      expect(told('grants-cleanup')?.what).to.equal(
        `In ${local.project}, plinth-cleanup lacks cloudscheduler.jobs.get, cloudscheduler.jobs.run, pubsub.topics.publish on plinth-host-steps, secretmanager.versions.access on plinth-proof-key.`,
      );
      expect(told('grants-sweep')?.what).to.equal(
        `In ${local.project}, plinth-sweep lacks pubsub.topics.publish on plinth-host-steps, secretmanager.versions.access on plinth-webhook-key.`,
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
      await store?.commit([{ kind: 'update', collection: collections.functionReports, id: 'cleanup', data: { at } }]);
      const old = (await look(operator)).findings.find(({ code }) => code === 'grants-cleanup');
      expect(old).to.include({ state: 'unknown', what: `cleanup has not looked at them since ${at}` });
      expect(old?.mend).to.include('plinth-cleanup');

      // Where Google refuses to tell, the function has come to look, and there is nothing to stop for.
      const unseen = async (name: 'sweep' | 'cleanup', at: string) => {
        await store?.commit([{ kind: 'update', collection: collections.functionReports, id: name, data: { at } }]);
        return (await look(operator)).findings.find(({ code }) => code === `grants-${name}`);
      };
      const refusal = { code: 403, status: 'PERMISSION_DENIED', times: 0 };
      const where = { caller: functionAccount(functionNames.sweep) };
      const method = 'cloudresourcemanager.projects.testIamPermissions';
      const fault = scene.cloud.faults.add({ method, where, ...refusal });
      await calledAt('sweep', new Date().toISOString());
      expect((await unseen('sweep', at))?.state, 'it is called, and says nothing').to.equal('stop');
      passed += 11 * 60_000;
      await life.swept();
      const untold = (await look(operator)).findings.find(({ code }) => code === 'grants-sweep');
      expect(untold?.what).to.match(/^Could not ask what plinth may do in projects\/plinth-local: /);
      expect([untold?.state, untold?.mend?.includes('gcloud projects get-iam-policy')]).to.deep.equal([
        'unknown',
        true,
      ]);
      scene.cloud.faults.remove(fault);
      await life.swept();
      // A schedule that is on and yet calls nobody is no fault of the function.
      await calledAt('sweep', at);
      const uncalled = await unseen('sweep', at);
      expect(uncalled).to.include({ state: 'unknown', what: `sweep has not looked at them since ${at}` });
      expect(uncalled?.mend).to.include('gcloud scheduler jobs describe plinth-sweep');
    } finally {
      await scene.close();
    }
  });
});

/** Hands everything on to `url`, and closes the connection of each request that holds these words. */
async function startLosing(url: string, words: string) {
  const server = createServer((request, response) => {
    if (request.url?.includes(words)) {
      request.socket.destroy();
      return;
    }
    const { host: _, ...headers } = request.headers;
    get(`${url}${request.url}`, { headers }, (answer) => {
      response.writeHead(answer.statusCode ?? 500, answer.headers);
      answer.pipe(response);
    }).on('error', () => request.socket.destroy());
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    close() {
      server.closeAllConnections();
      return new Promise<unknown>((resolve) => server.close(resolve));
    },
  };
}

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
    for (const [name, { project }] of Object.entries(neededGrants)) {
      const custom = project.filter((each) => !each.startsWith('datastore.')).toSorted();
      expect(custom, name).to.deep.equal(granted(name, 'project'));
    }
    for (const [name, asked] of Object.entries(uploadPermissions)) {
      expect(asked.toSorted(), name).to.deep.equal(granted(name, 'uploads'));
    }
  });
});
