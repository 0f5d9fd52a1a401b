/** Each operation of the organization API on Google's emulator, beside the bare store calls that it makes; and migrations of any size. */

import { Agent, request } from 'node:http';
import { createFirestoreStore } from '../../functions/store/firestore.js';
import type { Store } from '../../functions/store/store.js';
import { emulatorMissing, startEmulator } from '../../local/emulators/emulators.js';
import { pathTo } from '../../shared/api.js';
import { organizationRoutes } from '../../shared/organization/routes.js';
import type { Team } from '../../shared/organization/team.js';
import { createIssuer } from '../http/issuer.js';
import { addMembersAtOnce } from '../organizations/many-members.js';
import {
  type Asked,
  createOrganizationsServer,
  type Operation,
  type OrganizationsServer,
  operations,
} from '../organizations/organizations-server.js';
import { countStore, type StoreCounts } from '../support/counting-store.js';
import { callAgain, callAgainAtOnce, type Trace, traceStore } from './bare-store.js';
import { type Figure, type Measurement, median, part, quantile } from './figures.js';
import { makeStage, newOrganization, organizationCases, type Stage } from './organization-cases.js';

const pairs = 30;
const warmUp = 10;
const burst = 64;
const atOnce = 8;
/** Of what takes long by itself. */
const largePairs = 7;
const sizes = [2, 20, 200, 2000];
/** As many as one call takes. */
const mostAtOnce = 500;

const timed = async (work: () => Promise<unknown>): Promise<number> => {
  const begun = performance.now();
  await work();
  return performance.now() - begun;
};

interface Bench {
  readonly stage: Stage;
  readonly client: Awaited<ReturnType<typeof createClient>>;
  readonly bare: Store;
  readonly take: () => Trace;
  readonly counts: StoreCounts;
  readonly say: (text: string) => void;
}

/** Times of the calls and of their store calls alone, which take turns in going first: what comes second finds the emulator warm. */
async function pairsOf(
  { bare, take }: Bench,
  count: number,
  ready: () => Promise<() => Promise<void>>,
): Promise<{ readonly own: readonly number[]; readonly alone: readonly number[] }> {
  const own: number[] = [];
  const alone: number[] = [];
  let last: Trace = [];
  const unmeasured = Math.min(warmUp, count);
  for (let pair = 0; pair < unmeasured + count; pair++) {
    const call = await ready();
    const bareFirst = pair > 0 && pair % 2 === 1 ? await timed(() => callAgain(bare, last)) : undefined;
    take();
    const time = await timed(call);
    last = take();
    const bareTime = bareFirst ?? (await timed(() => callAgain(bare, last)));
    if (pair < unmeasured) continue;
    own.push(time);
    alone.push(bareTime);
  }
  return { own, alone };
}

const beside = (alone: readonly number[], share: number) => ({
  name: 'its store calls',
  value: quantile(alone, share),
  unit: 'ms',
});

/** Calls a second, several at a time. */
async function burstOf(
  { bare, take }: Bench,
  operation: Operation,
  ready: () => Promise<() => Promise<void>>,
): Promise<Figure> {
  const calls: (() => Promise<void>)[] = [];
  while (calls.length < burst) calls.push(await ready());
  take();
  const worker = async (): Promise<void> => {
    for (let call = calls.shift(); call !== undefined; call = calls.shift()) await call();
  };
  const all = await timed(() => Promise.all(Array.from({ length: atOnce }, worker)));
  const trace = take();
  const bareAll = await timed(() => callAgainAtOnce(bare, trace, atOnce));
  const perSecond = (milliseconds: number) => (burst / milliseconds) * 1000;
  return {
    name: `${operation}: a second, ${atOnce} at a time`,
    value: perSecond(all),
    unit: '',
    baseline: { name: 'its store calls', value: perSecond(bareAll), unit: '' },
  };
}

let next = 0;

async function ofOperation(bench: Bench, operation: Operation): Promise<Figure[]> {
  const { stage, client, say } = bench;
  const { before, asked, oneByOne = false } = organizationCases[operation];
  const ready = async (): Promise<() => Promise<void>> => {
    next += 1;
    const i = next;
    const prepared = await before?.(stage, i);
    const call = await client.prepared(operation, asked(stage, i, prepared));
    return async () => {
      const status = await call();
      if (status >= 300) throw new Error(`${operation} answered ${status}`);
    };
  };
  const { own, alone } = await pairsOf(bench, pairs, ready);
  say(
    `${operation}: ${median(own).toFixed(1)} ms, bare ${median(alone).toFixed(1)} ms, ${(median(own) / median(alone)).toFixed(2)}`,
  );
  return [
    {
      name: `${operation}: p50 of ${pairs}`,
      value: quantile(own, 0.5),
      unit: 'ms',
      baseline: beside(alone, 0.5),
      aim: 1.5,
    },
    { name: `${operation}: p99`, value: quantile(own, 0.99), unit: 'ms', baseline: beside(alone, 0.99) },
    ...(oneByOne ? [] : [await burstOf(bench, operation, ready)]),
  ];
}

/** 500 people in one call. */
async function ofMany(bench: Bench, operation: Operation): Promise<Figure> {
  const { stage, client, say } = bench;
  const { server } = stage;
  const { own, alone } = await pairsOf(bench, largePairs, async () => {
    next += 1;
    const members = Array.from({ length: mostAtOnce }, (_, i) => ({ email: `many-${next}-${i}@example.com` }));
    const params =
      operation === 'addTeamMembers'
        ? { teamId: (await server.expect<Team>(201, 'createTeam', { body: { name: 'many' } })).teamId }
        : { organizationId: await newOrganization(server, 'many') };
    const call = await client.prepared(operation, { params, body: { members } });
    return async () => {
      const status = await call();
      if (status >= 300) throw new Error(`${operation} of ${mostAtOnce} answered ${status}`);
    };
  });
  const name = `${operation} of ${mostAtOnce}: p50 of ${largePairs}`;
  say(`${name}: ${median(own).toFixed(0)} ms, bare ${median(alone).toFixed(0)} ms`);
  return { name, value: median(own), unit: 'ms', baseline: beside(alone, 0.5), aim: 1.5 };
}

/** Below that, what each call costs weighs more than its members. */
const smallestLarge = 200;

/** A team of this size comes into an organization, where all but one leave it, and that is undone. */
async function ofSize(bench: Bench, size: number): Promise<Figure[]> {
  const { stage, client, bare, counts, take, say } = bench;
  const { server, organizationId } = stage;
  const { teamId } = await server.expect<Team>(201, 'createTeam', { body: { name: `team of ${size}` } });
  await addMembersAtOnce(bare, {
    organizationId: await newOrganization(server, 'unused'),
    teamId,
    inside: 0,
    outside: size - 1,
    email: (n) => `leaver-${n}@example.com`,
  });
  const figures: Figure[] = [];
  const steps = {
    [`migrateTeam of ${size}, ${size - 1} of whom leave`]: await client.prepared('migrateTeam', {
      params: { teamId },
      body: { organizationId, force: true },
    }),
    [`undoMigration of ${size}, ${size - 1} of whom return`]: await client.prepared('undoMigration', {
      params: { teamId, migrationId: 'latest' },
    }),
  };
  for (const [title, call] of Object.entries(steps)) {
    const before = { ...counts };
    take();
    const time = await timed(async () => {
      const status = await call();
      if (status >= 300) throw new Error(`${title} answered ${status}`);
    });
    const trace = take();
    const bareTime = await timed(() => callAgain(bare, trace));
    const of = { name: 'members', value: size, unit: '' };
    say(`${title}: ${time.toFixed(0)} ms, bare ${bareTime.toFixed(0)} ms`);
    figures.push(
      {
        name: title,
        value: time,
        unit: 'ms',
        baseline: { name: 'its store calls', value: bareTime, unit: 'ms' },
        ...(size < smallestLarge || !title.startsWith('migrate') ? {} : { aim: 1.4 }),
      },
      { name: `${title}: documents read`, value: counts.reads - before.reads, unit: '', baseline: of },
      { name: `${title}: documents written`, value: counts.written - before.written, unit: '', baseline: of },
    );
  }
  return figures;
}

export const organizations: Measurement = {
  name: 'organizations',
  title: 'The organization API on the emulator, beside the bare store calls of the same operation',
  mostSeconds: 420,
  async *measure(say, count) {
    const why = emulatorMissing('firestore');
    if (why !== undefined) {
      yield { name: 'the organization API', why, kind: 'left out' };
      return;
    }
    const emulator = await startEmulator('firestore');
    const issuer = await createIssuer();
    const bare = createFirestoreStore({
      project: 'bench-organizations',
      serviceAccount: 'default',
      firestore: { database: '(default)', emulatorHost: emulator.host },
    });
    const { store, take } = traceStore(bare);
    const counted = countStore(store);
    const server = await createOrganizationsServer(issuer, {
      store: counted.store,
      // Only with a webhook, events can be sent again. Nothing here sends to it.
      env: {
        PLINTH_ORGANIZATION_CREATORS: 'example.com',
        PLINTH_MIGRATION_CONSENT: 'off',
        PLINTH_WEBHOOK_URL: 'http://127.0.0.1:9/webhook',
      },
    });
    const client = await createClient(server);
    try {
      const stage = await makeStage(server);
      const bench: Bench = { stage, client, bare, take, counts: counted.counts, say };
      if (count !== undefined) {
        await ofSize(bench, smallestLarge);
        yield* await ofSize(bench, count);
        return;
      }
      for (const operation of operations) yield* part(operation, () => ofOperation(bench, operation));
      for (const operation of ['addOrganizationMembers', 'inviteMembers', 'addTeamMembers'] as const) {
        yield* part(`${operation} of ${mostAtOnce}`, async () => [await ofMany(bench, operation)]);
      }
      for (const size of sizes) yield* part(`a team of ${size}`, () => ofSize(bench, size));
    } finally {
      client.close();
      server.close();
      issuer.close();
      await bare.close();
      await emulator.close();
    }
  },
};

/** As lean as can be, on connections that stay: what the tests' own client checks is not for the clock. */
async function createClient(server: OrganizationsServer) {
  const { hostname, port } = new URL(server.origin);
  const agent = new Agent({ keepAlive: true });
  return {
    close: () => agent.destroy(),
    /** A call whose token and body are made already. It answers with its status. */
    async prepared(operation: Operation, { as, params = {}, query, body }: Asked): Promise<() => Promise<number>> {
      const route = organizationRoutes[operation];
      const filled = Object.fromEntries(Object.entries(params).map(([name, value]) => [name, String(value)]));
      const path = pathTo(route, filled) + (query === undefined ? '' : `?${new URLSearchParams(query)}`);
      const sent = body === undefined ? undefined : JSON.stringify(body);
      const headers = {
        authorization: `Bearer ${await server.token(as ?? 'alice@example.com')}`,
        ...(sent === undefined
          ? {}
          : { 'content-type': 'application/json', 'content-length': Buffer.byteLength(sent) }),
      };
      return () =>
        new Promise((resolve, reject) => {
          request({ hostname, port, agent, path, method: route.method, headers }, (reply) => {
            reply.resume().on('end', () => resolve(reply.statusCode ?? 0));
          })
            .on('error', reject)
            .end(sent);
        });
    },
  };
}
