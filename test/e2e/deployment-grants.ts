/** Grants of terraform/roles.json, each taken away in its turn: `plinth doctor --deployment` is no go, says which is missing and what brings it back. */
import { expect } from 'chai';
import type { Context } from '../../functions/context.js';
import type { Store } from '../../functions/store/store.js';
import { functionAccount, functionGrants, local, people, resourcesFor } from '../../local/stack/deployment.js';
import { makeBucket } from '../../local/stack/resources.js';
import type { DeploymentFindingCode } from '../../shared/bootstrap/finding-codes.js';
import type { PreflightFinding } from '../../shared/bootstrap/preflight.js';
import { collections, deploymentSecrets, type FunctionName, functionNames, topics } from '../../shared/names.js';
import { problemKinds } from '../../shared/problems.js';
import { type Life, lifeOf } from '../support/life.js';
import { runAt } from '../support/plinth-here.js';
import { putRelease, releaseSha256 } from '../support/put-release.js';
import { type Caller, makeScene, outcomeOf, type Scene } from '../support/scene.js';

interface Taken {
  readonly name: FunctionName;
  readonly role: string;
  readonly resource: string;
  /** Of the resources that it is given on. */
  readonly isLast: boolean;
}

/** The function api keeps the key of cursors once it has read it, so that one comes first. */
const rank = ({ name, on }: (typeof functionGrants)[number]): number =>
  name === functionNames.api && on === 'cursorKey' ? 0 : 1;

/** A grant on several resources is several. */
const taken: readonly Taken[] = functionGrants
  .toSorted((a, b) => rank(a) - rank(b))
  .flatMap(({ name, role, on }) =>
    resourcesFor(on, name).map((resource, i, all) => ({ name, role, resource, isLast: i === all.length - 1 })),
  );

const short = (text: string): string => text.split('/').at(-1) ?? text;

/** By which finding these are told, and how. The keys begin with a function and its role; a resource may follow. */
const told: Readonly<Record<string, readonly [DeploymentFindingCode, RegExp]>> = {
  'bootstraps plinthPlaces': ['grants-bootstraps', /compute\.machineTypes\.get/],
  'bootstraps secretmanager.secretAccessor plinth-proof-key': [
    'grants-bootstraps',
    /plinth-bootstraps lacks secretmanager\.versions\.access on plinth-proof-key/,
  ],
  'bootstraps plinthUploadsMaker': ['uploads-bootstraps', /storage\.objects\.create/],
  'bootstraps storage.objectViewer plinth-local-plinth-packages': [
    'packages',
    /plinth-bootstraps may not read gs:\/\/plinth-local-plinth-packages.*roles\.json/,
  ],
  'bootstraps storage.objectViewer plinth-local-plinth-releases': ['executable', /may not read it.*gcloud storage cp/],
  'run-cloud-step plinthSecretMaker': ['grants-run-cloud-step', /secretmanager\.secrets\.create/],
  'run-cloud-step pubsub.publisher plinth-host-steps': [
    'grants-run-cloud-step',
    /plinth-run-cloud-step lacks pubsub\.topics\.publish on plinth-host-steps/,
  ],
  'run-cloud-step resourcemanager.projectCreator': ['parents', /projectCreator/],
  'run-cloud-step orgpolicy.policyViewer': ['parents', /orgpolicy\.policyViewer/],
  'run-cloud-step billing.user': ['billing-accounts', /roles\/billing\.user/],
  'run-cloud-step dns.admin': ['dns-zones', /roles\/dns\.admin/],
};

/** They look at their grants every ten minutes, and at each run while one is missing. */
const scheduled: readonly FunctionName[] = [functionNames.sweep, functionNames.cleanup];

type Binding = { role: string; members: string[] };

/** Without each of these. A grant on several resources is several. */
export function describeLackOf(chosen: (grant: Taken) => boolean): void {
  describe('a deployment that lacks a single grant', function () {
    this.timeout(300_000);
    let scene: Scene;
    let operator: Caller;
    let life: Life;
    /** Unguarded. */
    let store: Store | undefined;

    before(async () => {
      const { project, name } = local.standingZone;
      scene = await makeScene({
        settings: {
          PLINTH_MACHINE_ACCESS: 'iap',
          PLINTH_PARENTS: `${local.folder},${local.otherFolder}`,
          PLINTH_BILLING_ACCOUNTS: `${local.billingAccount},${local.otherBillingAccount}`,
          PLINTH_DNS_ZONES: `${project}/${name},${local.dnsProject}/shared`,
          PLINTH_HOSTS: 'on',
          PLINTH_RELEASES_URL: `gs://${local.releaseBucket}/${local.releaseFolder}`,
          PLINTH_RELEASE_SHA256: releaseSha256,
        },
      });
      life = lifeOf(scene);
      await callByHand();
      await life.swept();
      await life.cleaned();
      store = scene.stack.functionsHalf?.store;
      await makeBucket(scene.cloud, local.packagesBucket);
      await putRelease(scene.cloud);
      operator = await scene.caller(people.admin);
      for (const each of Object.values(functionNames)) guardStore(each);
      hurry(functionNames.bootstraps);
    });
    after(() => scene?.close());

    const contextOf = (name: FunctionName): Context => {
      const context = scene.stack.functionsHalf?.contextOf(name);
      if (context === undefined) throw new Error('the functions run elsewhere');
      return context;
    };

    /** As Firestore does, the store in memory refuses who has no right. */
    function guardStore(name: FunctionName): void {
      const context = contextOf(name) as { -readonly [K in keyof Context]: Context[K] };
      const caller = { email: functionAccount(name), kind: 'serviceAccount' } as const;
      const may = () =>
        scene.cloud.world.policies.allows(caller, 'datastore.entities.get', `projects/${local.project}`);
      context.store = new Proxy(context.store, {
        get(target, key) {
          const member: unknown = Reflect.get(target, key);
          if (typeof member !== 'function' || ['close', 'prepare'].includes(String(key))) return member;
          return (...args: unknown[]) => {
            if (may()) return Reflect.apply(member, target, args);
            const refusal = Object.assign(new Error('7 PERMISSION_DENIED: Missing or insufficient permissions.'), {
              code: 7,
            });
            if (key === 'watch') throw refusal;
            return Promise.reject(refusal);
          };
        },
      }) as Store;
    }

    /** It waits for a second and a half until a message is taken. */
    function hurry(name: FunctionName): void {
      const { clock } = contextOf(name);
      const inTime = clock.pause;
      Object.assign(clock, { pause: (seconds: number) => inTime(seconds / 10) });
    }

    /** What a function has looked at a moment ago, it looks at again after minutes only. */
    const minutes = new Map<FunctionName, number>();
    function letTimePass({ name, resource }: Taken): void {
      const isKept = name === functionNames.api && resource.endsWith(deploymentSecrets.consoleClient);
      if (!isKept && (!scheduled.includes(name) || minutes.has(name))) return;
      minutes.set(name, (minutes.get(name) ?? 0) + 11);
      const { clock } = contextOf(name);
      const passed = 60_000 * (minutes.get(name) ?? 0);
      Object.assign(clock, { now: () => new Date(Date.now() + passed) });
    }

    /** It looks with the first message after a while. */
    async function letHostRest(): Promise<void> {
      const name = functionNames.runHostStep;
      const handled = { [topics.host]: new Date(Date.now() - 660_000).toISOString() };
      const found = await store?.get(collections.functionReports, name);
      if (found !== undefined) await store?.commit([{ ...found, kind: 'update', data: { handled } }]);
      minutes.set(name, (minutes.get(name) ?? 0) + 11);
      const passed = 60_000 * (minutes.get(name) ?? 0);
      Object.assign(contextOf(name).clock, { now: () => new Date(Date.now() + passed) });
    }

    /** A function that cannot write says nothing more. What it said last grows old. */
    async function age(name: FunctionName): Promise<void> {
      const at = new Date(Date.now() - 2 * 3_600_000).toISOString();
      await store?.commit([{ kind: 'update', collection: collections.functionReports, id: name, data: { at } }]);
      const jobs = scene.cloud.world.table<{ job: object }>('cloudscheduler.jobs');
      const found = Object.entries(jobs).find(([path]) => path.endsWith(name))?.[1];
      Object.assign(found?.job ?? {}, { lastAttemptTime: new Date().toISOString() });
    }

    /** Nobody calls them but this test. */
    async function callByHand(): Promise<void> {
      for (const job of Object.values(scene.cloud.world.table<{ dueAt: number }>('cloudscheduler.jobs'))) {
        job.dueAt = Date.now() + 86_400_000;
      }
      await scene.cloud.scheduledCalls.idle();
    }

    function take({ name, role, resource }: Taken): () => void {
      const { policies } = scene.cloud.world;
      const before = policies.get(resource, 3);
      const bindings = (before['bindings'] ?? []) as unknown as Binding[];
      const member = `serviceAccount:${functionAccount(name)}`;
      const left = bindings
        .map((each) => (each.role === role ? { ...each, members: each.members.filter((one) => one !== member) } : each))
        .filter(({ members }) => members.length > 0);
      expect(JSON.stringify(left)).not.to.equal(JSON.stringify(bindings));
      policies.set(resource, { ...before, version: 3, bindings: left });
      return () => policies.set(resource, { ...policies.get(resource, 3), version: 3, bindings });
    }

    /** What lacked a grant says only by itself that it lacks none any more. */
    let lookedLast: FunctionName | undefined;
    async function look(name?: FunctionName) {
      for (const [of, run] of [
        [functionNames.sweep, life.swept],
        [functionNames.cleanup, life.cleaned],
      ] as const) {
        if ([name, lookedLast].includes(of)) await run().catch(() => undefined);
      }
      if ([name, lookedLast].includes(functionNames.runHostStep)) await letHostRest();
      lookedLast = name;
      const run = await runAt(['doctor', '--deployment', '--json'], operator);
      const { deployment } = outcomeOf(run).result as {
        deployment?: { go: boolean; findings: readonly PreflightFinding[] };
      };
      expect(deployment, run.stderr + run.stdout).not.to.equal(undefined);
      return { exitCode: run.exitCode, go: deployment?.go, findings: deployment?.findings ?? [] };
    }

    for (const each of taken.filter(chosen)) {
      const { name, role, resource } = each;
      it(`is no go: ${name} without ${short(role)} on ${resource}`, async () => {
        letTimePass(each);
        const giveBack = take(each);
        try {
          if (scheduled.includes(name) && role === 'roles/datastore.user') await age(name);
          const { exitCode, go, findings } = await look(name);
          const stops = findings.filter(({ state }) => state === 'stop');
          expect([exitCode === 0, go], JSON.stringify(findings)).to.deep.equal([false, false]);
          for (const { code, mend = '', why } of stops) {
            expect(mend, code).to.match(/terraform apply|gcloud |plinth-run-cloud-step roles\//);
            expect(why, code).to.be.a('string');
          }
          const codes = [...new Set(stops.map(({ problem = 'bad-input' }) => problem))];
          const [only = 'bad-input'] = codes.length === 1 ? codes : [];
          expect(exitCode, JSON.stringify(stops)).to.equal(problemKinds[only].exit);
          const words = stops.map(({ what, mend }) => `${what} ${mend}`).join('\n');
          expect(words).to.include(name);
          const is = `${name} ${short(role)} ${short(resource)}`;
          for (const [of, [code, how]] of Object.entries(told)) {
            if (!is.startsWith(of)) continue;
            const found = stops.find((stop) => stop.code === code);
            expect(`${found?.what} ${found?.mend}`, code).to.match(how);
          }
        } finally {
          giveBack();
        }
      });
    }

    it('is a go once it lacks none', async () => {
      const { exitCode, go, findings } = await look();
      expect(findings.filter(({ state }) => state !== 'ok')).to.deep.equal([]);
      expect([exitCode, go]).to.deep.equal([0, true]);
    });
  });
}
