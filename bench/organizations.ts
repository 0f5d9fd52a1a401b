/** Each operation of the organization API on Google's emulator, beside the bare store calls that it makes; and migrations of any size. */

import { Agent, request } from 'node:http';
import { createFirestoreStore } from '../functions/store/firestore.js';
import { emulatorMissing, startEmulator } from '../local/emulators/emulators.js';
import { pathTo } from '../shared/api.js';
import type { Organization } from '../shared/organization/organization.js';
import { organizationRoutes } from '../shared/organization/routes.js';
import type { Team } from '../shared/organization/team.js';
import { createIssuer } from '../test/http/issuer.js';
import { addMembersAtOnce } from '../test/organizations/many-members.js';
import {
  type Asked,
  createOrganizationsServer,
  type Operation,
  type OrganizationsServer,
} from '../test/organizations/organizations-server.js';
import { countStore } from '../test/support/counting-store.js';
import { callAgain, callAgainAtOnce, type Trace, traceStore } from './bare-store.js';
import { type Figure, type Measurement, median, quantile } from './figures.js';

const pairs = 60;
const warmUp = 10;
const burst = 64;
const atOnce = 8;
const listed = 20;
const sizes = [2, 20, 200, 2000];

const emailOf = (i: number): string => `person-${i}@example.com`;

interface Stage {
  readonly server: OrganizationsServer;
  readonly organizationId: string;
  /** In the organization, and standalone. */
  readonly inside: number;
  readonly alone: number;
}

/** What is to be there before the i-th call, and the call. */
interface Case {
  readonly operation: Operation;
  readonly before?: (stage: Stage, i: number) => Promise<unknown>;
  readonly asked: (stage: Stage, i: number, prepared: unknown) => Asked;
}

const inOrganization = ({ organizationId }: Stage): Asked => ({ params: { organizationId } });
const inTeam = ({ inside }: Stage): Asked => ({ params: { teamId: inside } });
const page = { limit: String(listed) };
const addPerson = ({ server, organizationId }: Stage, i: number) =>
  server.expect(201, 'addOrganizationMember', { params: { organizationId }, body: { email: emailOf(i) } });
const newTeam = async ({ server }: Stage, i: number): Promise<number> =>
  (await server.expect<Team>(201, 'createTeam', { body: { name: `team ${i}` } })).teamId;

const cases: readonly Case[] = [
  { operation: 'createOrganization', asked: (_, i) => ({ body: { name: `organization ${i}` } }) },
  { operation: 'listOrganizations', asked: () => ({ query: page }) },
  { operation: 'getOrganization', asked: inOrganization },
  { operation: 'listOrganizationMembers', asked: (stage) => ({ ...inOrganization(stage), query: page }) },
  {
    operation: 'addOrganizationMember',
    asked: (stage, i) => ({ ...inOrganization(stage), body: { email: emailOf(i) } }),
  },
  {
    operation: 'setOrganizationMemberRole',
    before: addPerson,
    asked: ({ organizationId }, i) => ({ params: { organizationId, email: emailOf(i) }, body: { role: 'admin' } }),
  },
  {
    operation: 'removeOrganizationMember',
    before: addPerson,
    asked: ({ organizationId }, i) => ({ params: { organizationId, email: emailOf(i) } }),
  },
  { operation: 'listOrganizationTeams', asked: (stage) => ({ ...inOrganization(stage), query: page }) },
  { operation: 'listOrganizationEvents', asked: (stage) => ({ ...inOrganization(stage), query: page }) },
  { operation: 'createTeam', asked: ({ organizationId }, i) => ({ body: { name: `team ${i}`, organizationId } }) },
  { operation: 'listTeams', asked: () => ({ query: page }) },
  { operation: 'getTeam', asked: inTeam },
  { operation: 'listTeamMembers', asked: inTeam },
  {
    operation: 'addTeamMember',
    before: async (stage, i) => {
      await addPerson(stage, i);
      return newTeam(stage, i);
    },
    asked: (_, i, teamId) => ({ params: { teamId: teamId as number }, body: { email: emailOf(i) } }),
  },
  {
    operation: 'removeTeamMember',
    before: async (stage, i) => {
      const teamId = await newTeam(stage, i);
      await stage.server.expect(201, 'addTeamMember', { params: { teamId }, body: { email: emailOf(i) } });
      return teamId;
    },
    asked: (_, i, teamId) => ({ params: { teamId: teamId as number, email: emailOf(i) } }),
  },
  {
    operation: 'previewMigration',
    asked: ({ alone, organizationId }) => ({ params: { teamId: alone }, query: { organizationId } }),
  },
  {
    operation: 'migrateTeam',
    before: newTeam,
    asked: ({ organizationId }, _, teamId) => ({ params: { teamId: teamId as number }, body: { organizationId } }),
  },
];

const timed = async (work: () => Promise<unknown>): Promise<number> => {
  const begun = performance.now();
  await work();
  return performance.now() - begun;
};

export const organizations: Measurement = {
  name: 'organizations',
  title: 'The organization API on the emulator, beside the bare store calls of the same operation',
  async measure(say) {
    const missing = emulatorMissing('firestore');
    if (missing !== undefined) {
      say(missing);
      return [];
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
      env: { PLINTH_ORGANIZATION_CREATORS: 'example.com' },
    });
    const client = await createClient(server);
    try {
      const stage = await makeStage(server);
      const figures: Figure[] = [];
      let next = 0;

      for (const { operation, before, asked } of cases) {
        const ready = async (): Promise<() => Promise<void>> => {
          next += 1;
          const i = next;
          const prepared = await before?.(stage, i);
          return async () => {
            const status = await client.ask(operation, asked(stage, i, prepared));
            if (status >= 300) throw new Error(`${operation} answered ${status}`);
          };
        };
        const own: number[] = [];
        const alone: number[] = [];
        let last: Trace = [];
        for (let pair = 0; pair < warmUp + pairs; pair++) {
          const call = await ready();
          // By turns: what comes second finds the emulator warm.
          const bareFirst = pair % 2 === 1 ? await timed(() => callAgain(bare, last)) : undefined;
          take();
          const time = await timed(call);
          last = take();
          const bareTime = bareFirst ?? (await timed(() => callAgain(bare, last)));
          if (pair < warmUp) continue;
          own.push(time);
          alone.push(bareTime);
        }
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
        say(`${operation}: ${median(own).toFixed(1)} ms, bare ${median(alone).toFixed(1)} ms`);
        const calledBare = (share: number) => ({ name: 'its store calls', value: quantile(alone, share), unit: 'ms' });
        figures.push(
          {
            name: `${operation}: p50 of ${pairs}`,
            value: quantile(own, 0.5),
            unit: 'ms',
            baseline: calledBare(0.5),
            aim: 1.5,
          },
          { name: `${operation}: p99`, value: quantile(own, 0.99), unit: 'ms', baseline: calledBare(0.99) },
          {
            name: `${operation}: a second, ${atOnce} at a time`,
            value: perSecond(all),
            unit: '',
            baseline: { name: 'its store calls', value: perSecond(bareAll), unit: '' },
          },
        );
      }

      for (const size of sizes) {
        const { teamId } = await server.expect<Team>(201, 'createTeam', { body: { name: `team of ${size}` } });
        const { organizationId } = stage;
        await addMembersAtOnce(bare, {
          organizationId: (await newOrganization(server, 'unused')).id,
          teamId,
          inside: 0,
          outside: size - 1,
          email: (n) => `leaver-${n}@example.com`,
        });
        const before = { ...counted.counts };
        take();
        const time = await timed(() =>
          client.ask('migrateTeam', { params: { teamId }, body: { organizationId, force: true } }),
        );
        const trace = take();
        const bareTime = await timed(() => callAgain(bare, trace));
        const of = { name: 'members', value: size, unit: '' };
        const title = `migrateTeam of ${size}, ${size - 1} of whom leave`;
        say(`${title}: ${time.toFixed(0)} ms`);
        figures.push(
          { name: title, value: time, unit: 'ms', baseline: { name: 'its store calls', value: bareTime, unit: 'ms' } },
          { name: `${title}: documents read`, value: counted.counts.reads - before.reads, unit: '', baseline: of },
          {
            name: `${title}: documents written`,
            value: counted.counts.written - before.written,
            unit: '',
            baseline: of,
          },
        );
      }
      return figures;
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
  const authorization = `Bearer ${await server.token('alice@example.com')}`;
  return {
    close: () => agent.destroy(),
    ask(operation: Operation, { params = {}, query, body }: Asked): Promise<number> {
      const route = organizationRoutes[operation];
      const filled = Object.fromEntries(Object.entries(params).map(([name, value]) => [name, String(value)]));
      const path = pathTo(route, filled) + (query === undefined ? '' : `?${new URLSearchParams(query)}`);
      const sent = body === undefined ? undefined : JSON.stringify(body);
      const headers = {
        authorization,
        ...(sent === undefined
          ? {}
          : { 'content-type': 'application/json', 'content-length': Buffer.byteLength(sent) }),
      };
      return new Promise((resolve, reject) => {
        request({ hostname, port, agent, path, method: route.method, headers }, (reply) => {
          reply.resume().on('end', () => resolve(reply.statusCode ?? 0));
        })
          .on('error', reject)
          .end(sent);
      });
    },
  };
}

const newOrganization = (server: OrganizationsServer, name: string): Promise<Organization> =>
  server.expect<Organization>(201, 'createOrganization', { body: { name } });

/** The organization and the team have so many members and teams as one page shows. */
async function makeStage(server: OrganizationsServer): Promise<Stage> {
  const { id: organizationId } = await newOrganization(server, 'stage');
  const params = { organizationId };
  const team = async (more: object): Promise<number> =>
    (await server.expect<Team>(201, 'createTeam', { body: { name: 'stage', ...more } })).teamId;
  const inside = await team({ organizationId });
  const alone = await team({});
  for (let i = 1; i < listed; i++) {
    const email = `staged-${i}@example.com`;
    await server.expect(201, 'addOrganizationMember', { params, body: { email } });
    await server.expect(201, 'addTeamMember', { params: { teamId: inside }, body: { email } });
    await server.expect(201, 'addTeamMember', { params: { teamId: alone }, body: { email } });
    await team({ organizationId });
    await newOrganization(server, `stage ${i}`);
  }
  return { server, organizationId, inside, alone };
}
