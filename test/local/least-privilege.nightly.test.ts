/**
 * No role too few, none too many: with each row of terraform/roles.json taken away in its turn, something that plinth does
 * is refused to that function; with all of them nothing is. Permissions of our own roles, too. The simulated cloud enforces
 * them call by call; the store in memory is asked for them here, as Firestore would.
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import { createClientSource } from '../../functions/console/client.js';
import type { Context } from '../../functions/context.js';
import { findProofKey, proofOf } from '../../functions/engine/proof.js';
import { createPages } from '../../functions/http/paging.js';
import { ageIdentitySecret } from '../../functions/steps/config/age-identity.js';
import type { Store } from '../../functions/store/store.js';
import { customRoles as ownRoles } from '../../local/cloud/iam/custom-roles.js';
import { roleHolds } from '../../local/cloud/iam/roles.js';
import type { RecordedCall } from '../../local/cloud/index.js';
import { makePackage } from '../../local/packages/make-package.js';
import {
  customRoles,
  functionAccount,
  functionGrants,
  functionUrl,
  local,
  people,
  resourcesFor,
} from '../../local/stack/deployment.js';
import { schedulerHeaders } from '../../local/stack/front-end.js';
import { publishPackage } from '../../local/stack/publish-package.js';
import {
  bootstrapIdPrefix,
  collections,
  deploymentSecrets,
  type FunctionName,
  functionNames,
  labels,
} from '../../shared/names.js';
import { addExpired } from '../cleanup/expired.js';
import { type Life, lifeOf } from '../support/life.js';
import { makeExecutable } from '../support/machines.js';
import { type Flags, makeScene, type Scene, succeeded } from '../support/scene.js';
import { type Receiver, startReceiver } from '../support/webhook-receiver.js';

type Grant = (typeof functionGrants)[number];

/** Everything that a role could be needed for. The zone stands, and plinth has no right on its project. */
const flags: Flags = {
  'dns-project-id': local.standingZone.project,
  'dns-zone-name': local.standingZone.name,
  'cloud-acme-issuer': true,
};

/** A big file of the caller's goes by Cloud Storage where only IAP leads to the jumpbox. */
const ofUploads = ({ on }: Pick<Grant, 'on'>) => on === 'uploads';
/** What is ready in the cloud goes on without a message. What is ready on machines gets one. */
const ofMessages = ({ name, on }: Pick<Grant, 'name' | 'on'>) => name === functionNames.runCloudStep && on === 'topics';
/** Machines take time, so only what works on them, or is installed on them, has them. */
const onMachines = ({ name, on }: Pick<Grant, 'name' | 'on'>) =>
  !ofUploads({ on }) &&
  (name === functionNames.runHostStep || ofMessages({ name, on }) || on === 'packages' || on === 'releases');
const parts = [
  {
    title: 'least privilege',
    machines: 'none',
    access: 'direct',
    here: (grant: Grant) => !onMachines(grant) && !ofUploads(grant),
  },
  { title: 'least privilege, on machines', machines: 'embedded', access: 'direct', here: onMachines },
  { title: 'least privilege, for uploads', machines: 'embedded', access: 'iap', here: ofUploads },
] as const;

/** The look for standing machines, before Compute Engine is on in the new project. No role would change that. */
const isTooEarly = ({ method, message = '' }: RecordedCall): boolean =>
  method === 'compute.instances.get' && message.includes('has not been used in project');

for (const { title, machines, access, here } of parts)
  describe(title, function () {
    this.timeout(1_200_000);
    let receiver: Receiver;
    let scene: Scene;
    let life: Life;
    let count = 0;
    /** Of an install, where there are machines. */
    let installing: Flags = {};
    const uploadFolder = mkdtempSync(join(tmpdir(), 'plinth-upload-'));
    const refusedByStore: string[] = [];

    before(async () => {
      receiver = await startReceiver();
      scene = await makeScene({ webhookUrl: receiver.url, machines, settings: { PLINTH_MACHINE_ACCESS: access } });
      life = lifeOf(scene);
      await life.pause();
      replaceKey('proofKey');
      replaceKey('cursorKey');
      if (access === 'iap') installing = { 'remote-cli-binary': bigFile() };
      else if (machines !== 'none') installing = await published();
      for (const name of Object.values(functionNames)) guardStore(name);
    });
    after(async () => {
      await scene?.close();
      await receiver?.close();
      rmSync(uploadFolder, { recursive: true, force: true });
    });

    /** Each bootstrap has an object of its own for it. */
    const bigFile = (): string => makeExecutable(join(uploadFolder, 'plinth'), 17 * 1024 * 1024);

    /** A package to install; no PostgreSQL runs on these machines. */
    async function published(): Promise<Flags> {
      const folder = mkdtempSync(join(tmpdir(), 'plinth-package-'));
      try {
        const made = await makePackage(folder);
        await publishPackage(scene.cloud, made);
        return { 'install-version': made.version, 'install-skip-steps': ['postgres'] };
      } finally {
        rmSync(folder, { recursive: true, force: true });
      }
    }

    const secretTable = () =>
      scene.cloud.world.table<{
        lastVersion: number;
        versions: Record<string, { resource: Record<string, unknown>; data?: string }>;
      }>('secretmanager.secrets');
    type OwnKey = 'proofKey' | 'cursorKey';
    function secretOf(key: OwnKey) {
      const secret = secretTable()[`projects/${local.project}/secrets/${deploymentSecrets[key]}`];
      if (secret === undefined) throw new Error(`the deployment has no ${key}`);
      return secret;
    }

    /** The first version is looked at by its number; what else finding it takes shows when an operator has disabled that one. */
    function replaceKey(key: OwnKey): void {
      const secret = secretOf(key);
      const first = secret.versions['1'];
      if (first === undefined) throw new Error(`the ${key} has no version`);
      const name = String(first.resource['name']).replace(/1$/, '2');
      secret.versions = {
        1: { ...first, resource: { ...first.resource, state: 'DISABLED' } },
        2: { ...first, resource: { ...first.resource, name } },
      };
      secret.lastVersion = 2;
    }

    /** As terraform leaves it: who first needs the key adds the first version. */
    async function beforeKey(key: OwnKey, work: () => Promise<void>): Promise<void> {
      const secret = secretOf(key);
      const standing = { ...secret };
      Object.assign(secret, { lastVersion: 0, versions: {} });
      try {
        await work();
      } finally {
        Object.assign(secret, standing);
      }
    }

    /** An operator disables what a step of a bootstrap has just made: finding out what else there is takes a list. Returns what stops it. */
    const disabling = (secret: string): (() => void) =>
      scene.cloud.world.onChange(() => {
        for (const [name, { versions }] of Object.entries(secretTable())) {
          if (name.endsWith(`-${secret}`)) Object.assign(versions['1']?.resource ?? {}, { state: 'DISABLED' });
        }
      });

    const half = () => {
      const { functionsHalf } = scene.stack;
      if (functionsHalf === undefined) throw new Error('the functions run elsewhere');
      return functionsHalf;
    };

    /** The first page of a list, of an instance that has just begun: later it knows the key. */
    async function makeCursor(name: FunctionName): Promise<void> {
      const answerInPages = createPages(half().contextOf(name));
      const caller = { email: people.admin };
      const list = async () => ({ items: ['one'], next: 'one' });
      await answerInPages({ path: '/list' }, { caller, query: { limit: 1 } }, list).catch((error: unknown) => {
        said = String(error);
      });
    }

    /** Of an instance that has just begun, as above. */
    async function readConsoleClient(): Promise<void> {
      await createClientSource(half().contextOf(functionNames.api))().catch((error: unknown) => {
        said = String(error);
      });
    }

    /** Each function is given a store that knows who asks. */
    function guardStore(name: FunctionName): void {
      const context = half().contextOf(name) as { -readonly [K in keyof Context]: Context[K] };
      const email = functionAccount(name);
      const may = () =>
        scene.cloud.world.policies.allows(
          { email, kind: 'serviceAccount' },
          'datastore.entities.get',
          `projects/${local.project}`,
        );
      context.store = new Proxy(context.store, {
        get(target, key) {
          const member: unknown = Reflect.get(target, key);
          if (typeof member !== 'function' || key === 'close' || key === 'prepare') return member;
          return (...args: unknown[]) => {
            if (may()) return Reflect.apply(member, target, args);
            refusedByStore.push(email);
            const error = Object.assign(new Error('7 PERMISSION_DENIED: Missing or insufficient permissions.'), {
              code: 7,
            });
            if (key === 'watch') throw error;
            return Promise.reject(error);
          };
        },
      }) as Store;
    }

    const as = async (email: string, method: string, path: string, body?: object) => {
      const { idToken } = await scene.stack.tokens(email);
      return fetch(`${scene.stack.url}${path}`, {
        method,
        headers: { authorization: `Bearer ${idToken}`, 'content-type': 'application/json' },
        ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      });
    };
    async function sweep(): Promise<void> {
      const url = functionUrl(scene.stack.url, functionNames.sweep);
      await fetch(url, { method: 'POST', headers: await schedulerHeaders(scene.cloud.identity, url) });
    }
    const newName = () => {
      count += 1;
      return `least-${count}`;
    };
    const start = async () => (await scene.caller()).spawn(newName(), { ...flags, ...installing });
    const bootstrap = async () =>
      succeeded(await (await scene.caller()).bootstrap(newName(), { ...flags, ...installing }));

    /** Takes a grant away from wherever it stands; gives back what puts it there again. */
    function take({ name, role, on }: Grant): () => void {
      const { policies } = scene.cloud.world;
      const member = `serviceAccount:${functionAccount(name)}`;
      const before = resourcesFor(on, name).map((resource) => ({ resource, policy: policies.get(resource, 3) }));
      for (const { resource, policy } of before) {
        const bindings = (policy['bindings'] ?? []) as { role: string; members: string[] }[];
        const left = bindings.map((binding) =>
          binding.role === role ? { ...binding, members: binding.members.filter((each) => each !== member) } : binding,
        );
        expect(left, `${name} does not have ${role} on ${resource}`).to.not.deep.equal(bindings);
        policies.set(resource, { ...policy, bindings: left });
      }
      return () => {
        for (const { resource, policy } of before) {
          const standing = policies.get(resource, 3);
          policies.set(resource, { ...standing, version: 3, bindings: policy['bindings'] ?? [] });
        }
      };
    }

    /** Who was refused, since then; a project that is not there yet is refused to everybody. */
    const refusals = (since: number, by: string, isMeant: (call: RecordedCall) => boolean = () => true): string[] => [
      ...scene.cloud.calls
        .list({ since })
        .filter(
          ({ caller, status, method }) =>
            caller === by && status === 403 && method !== 'cloudresourcemanager.projects.get',
        )
        .filter(isMeant)
        .map(({ method }) => method),
      ...refusedByStore.filter((email) => email === by).map(() => 'firestore'),
    ];

    const secretsOf: Readonly<Record<string, string>> = { ...deploymentSecrets, bootstrapSecrets: bootstrapIdPrefix };
    /** A call that this grant would have let through, as far as Google's words tell: several of a function are on secrets. */
    const isForWantOf =
      ({ role, on }: Grant) =>
      ({ message = '' }: RecordedCall): boolean => {
        const permission = /^Permission '([\w.]+)' denied/.exec(message)?.[1];
        if (permission !== undefined && !roleHolds(role, permission, scene.cloud.world)) return false;
        return secretsOf[on] === undefined || message.includes(`/secrets/${secretsOf[on]}`);
      };

    /** What there is to do for each function that takes all of its roles. */
    const stories: Readonly<Record<FunctionName, (grant: Grant | undefined) => Promise<void>>> = {
      [functionNames.bootstraps]: async () => {
        await as(people.admin, 'GET', '/cleanup');
        await as(people.admin, 'GET', '/cleanup/schedule');
        await makeCursor(functionNames.bootstraps);
        said = await bootstrapUntil();
      },
      [functionNames.api]: async () => {
        await as(people.admin, 'POST', '/organizations', { name: newName() });
        await makeCursor(functionNames.api);
        await readConsoleClient();
      },
      [functionNames.runCloudStep]: async (grant) => {
        const work = async () => {
          said = await bootstrapUntil();
        };
        if (grant === undefined || grant.role === 'roles/secretmanager.secretVersionAdder')
          await beforeKey('proofKey', work);
        else await work();
      },
      [functionNames.runHostStep]: async () => {
        said = await bootstrapUntil();
      },
      // It has the account of run-cloud-step.
      [functionNames.check]: async () => undefined,
      [functionNames.sweep]: async () => {
        // Nobody else sends the first step, so sweep has to; and an owner is to be warned.
        const silent = functionGrants.find(({ name, on }) => name === functionNames.bootstraps && on === 'topics');
        if (silent === undefined) throw new Error('bootstraps publishes nothing');
        const view = await bootstrap();
        const soon = new Date(Date.now() + 50 * 60_000).toISOString();
        await life.change(view.id, {
          deadlineAt: soon,
          removeAt: soon,
          warnAt: new Date(Date.now() - 1000).toISOString(),
        });
        const speak = take(silent);
        try {
          const running = await start();
          const leases = await eventually(async () => {
            const found = await half().store.query({ collection: collections.leases, limit: 1 });
            return found.length > 0 ? found : undefined;
          });
          const dueAt = new Date(Date.now() - 1000).toISOString();
          for (const { id } of leases ?? []) {
            await half().store.commit([{ kind: 'update', collection: collections.leases, id, data: { dueAt } }]);
          }
          await sweep();
          running.child.kill('SIGKILL');
          await running.ended;
        } finally {
          speak();
        }
      },
      [functionNames.cleanup]: async (grant) => {
        if (grant?.on === 'proofKey' || grant?.on === 'parents') return;
        await life.expire((await bootstrap()).id);
        await life.call('');
        if (grant === undefined || isNextRun(grant.role)) await moreThanARun();
      },
    };

    const isNextRun = (role: string) => role.endsWith('/plinthScheduleRun');

    /** Something goes, and more is past its time than one run looks at: it asks for another. */
    async function moreThanARun(): Promise<void> {
      count += 1;
      // Kept, as their records know another number.
      const held = await addExpired(scene.stack, `held${count}x`, 499, '42');
      const more = await addExpired(scene.stack, `more${count}x`, 2);
      await life.call('');
      await scene.stack.settle();
      // Each account may make so many projects, and no more.
      for (const id of [...held, ...more]) delete scene.cloud.world.table('projects')[id];
    }

    /** Where nothing is refused, as a search without rights finds nothing: what a function then does not see. */
    async function unseen({ name, on }: Grant): Promise<string[]> {
      if (on !== 'proofKey' && on !== 'parents') return [];
      if (name !== functionNames.bootstraps && name !== functionNames.cleanup) return [];
      const orphan = await makeOrphan();
      if (name === functionNames.bootstraps) {
        const survey = await (await as(people.admin, 'GET', '/cleanup')).text();
        return survey.includes(orphan) ? [] : ['the project without a record is not shown'];
      }
      const { remove } = await life.cleanup(true);
      return remove.some(({ projectId }) => projectId === orphan) ? [] : ['the project without a record would stay'];
    }

    /** A signed URL opens what its signer may read; whoever comes with it is nobody, and curl on the machine tells. */
    const refusedToMachines = ({ name, on }: Grant): string[] =>
      name === functionNames.runHostStep && on === 'packages' && /requested URL returned error: 403/.test(said)
        ? ['the signed URL of the package']
        : [];

    /** A project that is past its time, of which only its labels tell. */
    async function makeOrphan(): Promise<string> {
      const view = await bootstrap();
      const project = life.project(view.projectId) as { labels: Record<string, string>; projectNumber: string };
      const expiry = `t${Math.floor(Date.now() / 1000) - 60}`;
      const key = await findProofKey(half().contextOf(functionNames.runCloudStep));
      const proof = proofOf(key ?? '', {
        projectNumber: String(project.projectNumber),
        bootstrapId: view.id,
        owner: project.labels[labels.owner] ?? '',
        expiry,
      });
      project.labels = { ...project.labels, [labels.deleteAfter]: expiry, [labels.proof]: proof };
      await half().store.commit([{ kind: 'delete', collection: collections.bootstraps, id: view.id }]);
      return view.projectId;
    }

    /** What the command line said last, for whoever reads a failure. */
    let said = '';
    let aborted = () => false;
    /** As long as nothing was refused, at most until its end. */
    async function bootstrapUntil(): Promise<string> {
      const running = await start();
      let ended = false;
      void running.ended.then(() => {
        ended = true;
      });
      await eventually(async () => (ended || aborted() ? true : undefined), 240);
      if (!ended) running.child.kill('SIGKILL');
      const { stdout, stderr } = await running.ended;
      return `${stdout}${stderr}`;
    }

    async function eventually<T>(look: () => Promise<T | undefined>, seconds = 60): Promise<T | undefined> {
      for (let waited = 0; waited < seconds * 1000; waited += 25) {
        const found = await look();
        if (found !== undefined) return found;
        await new Promise((resolve) => setTimeout(resolve, 25));
      }
      return undefined;
    }

    async function refusedWithout(grant: Grant): Promise<string[]> {
      const since = scene.cloud.calls.last();
      refusedByStore.length = 0;
      const { name } = grant;
      const by = functionAccount(name);
      const undo = take(grant);
      const refused = () => refusals(since, by, isForWantOf(grant));
      aborted = () => refused().length > 0;
      try {
        await stories[name](grant);
        const gone = [...(await unseen(grant)), ...refusedToMachines(grant)];
        if (gone.length > 0) return gone;
        await eventually(async () => (aborted() ? true : undefined), 5);
        return refused();
      } finally {
        aborted = () => false;
        undo();
      }
    }

    it('is enough: with all roles every function does what it is for', async () => {
      const since = scene.cloud.calls.last();
      const grants = functionGrants.filter(here);
      for (const name of Object.values(functionNames)) {
        // Whoever has but some of its roles here plays its story elsewhere, and a part in the others' here.
        if (functionGrants.every((grant) => grant.name !== name || here(grant) || ofMessages(grant)))
          await stories[name](undefined);
      }
      if (access === 'iap') said = await bootstrapUntil();
      for (const grant of grants) expect(await unseen(grant)).to.deep.equal([]);
      await scene.stack.settle(60);
      const refused = Object.values(functionNames).flatMap((name) =>
        refusals(since, functionAccount(name), (call) => !isTooEarly(call)).map((method) => `${name} ${method}`),
      );
      expect(refused).to.deep.equal([
        // Of the story itself: the one step that sweep had to send.
        ...refused.filter((each) => each === `${functionNames.bootstraps} pubsub.projects.topics.publish`),
      ]);
    });

    if (machines === 'none')
      it('is enough for a pool: its projects are made, claimed, looked at again and removed', async () => {
        const { folder: parent, billingAccount } = local;
        const region = 'europe-west4';
        const key = `${parent} ${billingAccount} ${region}`;
        const keep = async (pools: readonly object[]): Promise<void> => {
          for (const name of Object.values(functionNames)) Object.assign(half().contextOf(name).config, { pools });
          await sweep();
          await scene.stack.settle(60);
        };
        const members = () => half().store.query({ collection: collections.bootstraps, where: [['pool', '==', key]] });
        const pools = [{ key, parent, billingAccount, region, size: 2, maxAgeSeconds: 7 * 86_400 }];
        const since = scene.cloud.calls.last();
        refusedByStore.length = 0;
        try {
          await keep(pools);
          expect((await bootstrap()).projectId).to.match(/^pool-/);
          for (const { id } of await members()) {
            await life.change(id, { endedAt: new Date(Date.now() - 86_460_000).toISOString() });
          }
          await keep(pools);
          expect((await members()).map(({ data }) => data['generation'])).to.include(2);
        } finally {
          await keep([]);
        }
        await life.call('');
        await scene.stack.settle(60);
        expect(await members()).to.deep.equal([]);
        const aside = await half().store.query({
          collection: collections.bootstraps,
          where: [['owner', '==', 'pool']],
        });
        expect(new Set(aside.map(({ data }) => data['state']))).to.deep.equal(new Set(['removed']));
        const refused = Object.values(functionNames).flatMap((name) =>
          refusals(since, functionAccount(name), (call) => !isTooEarly(call)).map((method) => `${name} ${method}`),
        );
        expect(refused).to.deep.equal([]);
      });

    for (const grant of functionGrants.filter(here)) {
      const { name, role, on } = grant;
      it(`${name} needs ${role} on ${on}`, async () => {
        const refused = await refusedWithout(grant);
        // The preflight may tell it before anything is asked for that needs it.
        if (refused.length === 0) expect(said.slice(-2000)).to.match(new RegExp(`"cloud-permission".*${role}\\b`));
      });
    }

    const inUse = functionGrants.filter(here).map(({ role }) => role);
    for (const { name: role, permissions } of customRoles.filter(({ name }) => inUse.includes(name))) {
      for (const permission of permissions) {
        it(`${role.split('/').at(-1)} needs ${permission}`, async () => {
          const view = permission === 'secretmanager.secrets.delete' ? await bootstrap() : undefined;
          const table = ownRoles(scene.cloud.world) as Record<
            string,
            { title: string; permissions: readonly string[] }
          >;
          const standing = table[role];
          if (standing === undefined) throw new Error(`${role} is not there`);
          table[role] = { ...standing, permissions: permissions.filter((each) => each !== permission) };
          const since = scene.cloud.calls.last();
          const service = permission.split('.')[0] ?? '';
          const isOfIt = ({ message = '' }: RecordedCall) => message.includes(`'${permission}'`);
          const found = () =>
            Object.values(functionNames)
              .flatMap((name) => refusals(since, functionAccount(name), isOfIt))
              .filter((method) => method.startsWith(service));
          aborted = () => found().length > 0;
          try {
            if (isNextRun(role)) {
              await as(people.admin, 'POST', '/cleanup/schedule/resume');
              await moreThanARun();
            } else if (service === 'cloudscheduler') {
              for (const [method, path] of [
                ['GET', ''],
                ['POST', '/resume'],
                ['POST', '/run'],
                ['POST', '/pause'],
              ] as const) {
                await as(people.admin, method, `/cleanup/schedule${path}`);
              }
            } else if (role.endsWith('/plinthCursorKey')) {
              const work = () => makeCursor(functionNames.api);
              if (permission.endsWith('.add')) await beforeKey('cursorKey', work);
              else await work();
            } else if (permission.endsWith('.destroy')) {
              const [caller, name] = [await scene.caller(), newName()];
              succeeded(await caller.bootstrap(name, { ...flags, ...installing }));
              // What was given earlier goes when another is given.
              const other = { 'forge1-app-client-secret': 'planted-other-secret' };
              await caller.bootstrap(name, { ...flags, ...installing, ...other });
            } else if (view !== undefined) {
              await life.expire(view.id);
              await life.call('');
              await eventually(async () => (aborted() ? true : undefined), 30);
            } else {
              const stop = permission === 'secretmanager.versions.list' ? disabling(ageIdentitySecret) : () => {};
              said = await bootstrapUntil().finally(stop);
            }
            expect(found(), `nothing was refused, so nothing needs it\n${said.slice(-2000)}`).to.not.deep.equal([]);
          } finally {
            aborted = () => false;
            table[role] = standing;
            if (permission === 'cloudscheduler.jobs.pause' || isNextRun(role)) await life.pause();
          }
        });
      }
    }
  });
