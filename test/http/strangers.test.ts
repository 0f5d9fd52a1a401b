/**
 * What somebody learns of a bootstrap that is none of theirs: that its name is in use, and nothing more. Neither words nor reads
 * of documents tell one state, owner or team from another.
 */
import { expect } from 'chai';
import { pathTo } from '../../shared/api.js';
import type { BootstrapView } from '../../shared/bootstrap/bootstrap.js';
import type { BeginReply } from '../../shared/bootstrap/routes.js';
import { bootstrapRoutes } from '../../shared/bootstrap/routes.js';
import { collections } from '../../shared/names.js';
import type { Team } from '../../shared/organization/team.js';
import { createOrganizationsServer, type OrganizationsServer } from '../organizations/organizations-server.js';
import { type BootstrapsServer, createBootstrapsServer, makeRequest } from './bootstraps-server.js';
import { createIssuer, type Issuer } from './issuer.js';

const [alice, bob, carol] = ['alice@example.com', 'bob@example.com', 'carol@example.com'] as const;
const at = '2030-01-01T00:00:00.000Z';

type Route = keyof typeof bootstrapRoutes;
type OfBootstrap = {
  [R in Route]: (typeof bootstrapRoutes)[R]['path'] extends `/bootstraps/{id}${string}` ? R : never;
}[Route];

/** What each operation on one bootstrap is sent, as it is meant. A new operation does not compile without a row. */
const sent: Readonly<
  Record<OfBootstrap, { readonly body?: object; readonly params?: Readonly<Record<string, string>> }>
> = {
  getBootstrap: {},
  followBootstrap: {},
  readLogs: {},
  cancelBootstrap: { body: {} },
  wakeInstance: { body: {}, params: { instance: 'project' } },
  beginUpload: { body: {}, params: { sha256: 'a'.repeat(64) } },
  getConfig: {},
  getSecrets: {},
  readAgeIdentity: {},
  restartVms: { body: {} },
  extendBootstrap: { body: { ttl: '1h' } },
  protectBootstrap: { body: { until: at, reason: 'a look' } },
  unprotectBootstrap: { body: {} },
  shareBootstrap: { body: { with: carol } },
  unshareBootstrap: { body: { with: carol } },
  shareBootstrapWithTeam: { body: { team: 42 } },
  unshareBootstrapWithTeam: { body: { team: 42 } },
  transferBootstrap: { body: { with: bob } },
  planRemoval: {},
  removeBootstrap: { body: {} },
};

describe('somebody who has nothing to do with a bootstrap', () => {
  let issuer: Issuer;
  let server: BootstrapsServer;
  let organizations: OrganizationsServer;
  before(async () => {
    issuer = await createIssuer();
    server = await createBootstrapsServer(issuer);
    organizations = await createOrganizationsServer(issuer, { store: server.context.store, env: {} });
  });
  after(async () => {
    organizations?.close();
    await server?.settle();
    server?.close();
    await issuer?.close();
  });

  async function begun(name: string, team?: number): Promise<BootstrapView> {
    const body = makeRequest(name, {}, team === undefined ? {} : { team });
    const { bootstrap } = await server.json<BeginReply>(201, 'POST', '/bootstraps', { as: alice, body });
    await server.settle();
    return bootstrap;
  }
  const change = async ({ id }: BootstrapView, data: Readonly<Record<string, unknown>>): Promise<void> => {
    await server.context.store.commit([{ kind: 'update', collection: collections.bootstraps, id, data }]);
  };
  /** Of Alice and Carol, in no organization. */
  async function teamOf(name: string): Promise<number> {
    const { teamId } = await organizations.expect<Team>(201, 'createTeam', { as: alice, body: { name } });
    const member = { email: carol, role: 'admin' };
    await organizations.expect(201, 'addTeamMember', { as: alice, params: { teamId }, body: member });
    return teamId;
  }

  const removal = { requestedAt: at, by: alice, why: 'asked', failures: 0 };
  const stopped = { at, why: 'It costs too much.', advice: 'Raise the ceiling.', begun: true };
  /** By what it is. Each returns once it is so. */
  const others: Readonly<Record<string, (name: string) => Promise<unknown>>> = {
    'a bootstrap that has succeeded': begun,
    'one that runs': async (name) => change(await begun(name), { state: 'running' }),
    'one that failed': async (name) =>
      change(await begun(name), { state: 'failed', problem: { code: 'cloud-quota', detail: 'CPUS' } }),
    'one that is being cancelled': async (name) => change(await begun(name), { state: 'cancelling' }),
    'one that is being removed': async (name) => change(await begun(name), { state: 'removing', removal }),
    'one whose removal failed': async (name) => change(await begun(name), { state: 'removal-failed', removal }),
    'one whose VMs were stopped': async (name) => change(await begun(name), { vmsStopped: stopped }),
    'one that was taken in': async (name) => change(await begun(name), { state: 'cancelled', orphan: true }),
    'one of an account that is gone': async (name) =>
      change(await begun(name), { boundTo: { [alice]: 'https://issuer.example somebody-else' } }),
    'one that is protected': async (name) => {
      const { id } = await begun(name);
      const body = { until: new Date(Date.now() + 60_000).toISOString(), reason: 'a demo' };
      await server.json(200, 'POST', `/bootstraps/${id}/protect`, { as: alice, body });
    },
    'one that is shared': async (name) => {
      const { id } = await begun(name);
      await server.json(200, 'POST', `/bootstraps/${id}/share`, { as: alice, body: { with: carol } });
    },
    'one that a team sees': async (name) => {
      const { id } = await begun(name);
      const body = { team: await teamOf(name) };
      await server.json(200, 'POST', `/bootstraps/${id}/share-with-team`, { as: alice, body });
    },
    'one of a team': async (name) => begun(name, await teamOf(name)),
    'one that its owner left with the team': async (name) => {
      const teamId = await teamOf(name);
      await begun(name, teamId);
      await organizations.expect(204, 'removeTeamMember', { as: alice, params: { teamId, email: alice } });
    },
  };

  for (const what of ['id', 'projectId'] as const) {
    it(`is not taken for the owner of another bootstrap by a name that is its ${what}`, async () => {
      const { id, [what]: called } = await begun(`her ${what}`);
      const body = makeRequest(called);
      const { bootstrap } = await server.json<BeginReply>(201, 'POST', '/bootstraps', { as: bob, body });
      await server.settle();
      const found = async (as: string, name: string) => {
        const list = await server.json<BootstrapView[]>(200, 'GET', `/bootstraps?name=${name}`, { as });
        return list.map((each) => each.id);
      };
      for (const as of [alice, carol]) {
        await server.json(200, 'POST', `/bootstraps/${bootstrap.id}/share`, { as: bob, body: { with: as } });
      }
      await server.json(200, 'POST', `/bootstraps/${id}/share`, { as: alice, body: { with: carol } });
      for (const as of [alice, carol, 'ops@example.com']) expect(await found(as, called), as).to.deep.equal([id]);
      expect(await found(bob, called), 'who sees no other one').to.deep.equal([bootstrap.id]);
      expect(await found(alice, bootstrap.id), 'by its own id').to.deep.equal([bootstrap.id]);
    });
  }

  it('leaves the team of a bootstrap while following it, and is told nothing more, though nothing of it changes', async () => {
    const times = { commentSeconds: 0.2, progressSeconds: 0.05 };
    const followed = await createBootstrapsServer(issuer, { times });
    const teams = await createOrganizationsServer(issuer, { store: followed.context.store, env: {} });
    try {
      followed.world.closed = true;
      const { teamId } = await teams.expect<Team>(201, 'createTeam', { as: alice, body: { name: 'followers' } });
      const member = { email: carol, role: 'member' };
      await teams.expect(201, 'addTeamMember', { as: alice, params: { teamId }, body: member });
      const body = makeRequest('followed', {}, { team: teamId });
      const { bootstrap } = await followed.json<BeginReply>(201, 'POST', '/bootstraps', { as: alice, body });
      const reply = await followed.fetch('GET', `/bootstraps/${bootstrap.id}/events`, { as: carol });
      const reader = (reply.body as ReadableStream<Uint8Array>).getReader();
      /** Until this comes up so many times. False: it is cut off before. */
      const goesOn = async (what: RegExp, times: number): Promise<boolean> => {
        for (let text = ''; (text.match(what) ?? []).length < times; ) {
          const piece = await reader.read().catch(() => undefined);
          if (piece?.value === undefined) return false;
          text += new TextDecoder().decode(piece.value);
        }
        return true;
      };
      expect(await goesOn(/: still here/g, 10), 'a member goes on').to.equal(true);
      await teams.expect(204, 'removeTeamMember', { as: alice, params: { teamId, email: carol } });
      expect(await goesOn(/: still here/g, 10), 'whoever left does not').to.equal(false);
      followed.world.closed = false;
    } finally {
      await followed.settle();
      teams.close();
      followed.close();
    }
  });

  /** Which documents were read, and what was written, however these lie in time. */
  async function watching<T>(
    work: () => Promise<T>,
  ): Promise<{ readonly found: T; readonly touched: readonly string[] }> {
    const { store } = server.context;
    const own = { ...store };
    const touched: string[] = [];
    Object.assign(store, {
      get: (...read: Parameters<typeof own.get>) => {
        touched.push(`get ${read[0]}`);
        return own.get(...read);
      },
      getMany: (...read: Parameters<typeof own.getMany>) => {
        touched.push(`get ${read[0]} ${read[1].length}`);
        return own.getMany(...read);
      },
      query: (...read: Parameters<typeof own.query>) => {
        touched.push(`query ${read[0].collection}`);
        return own.query(...read);
      },
      commit: (...write: Parameters<typeof own.commit>) => {
        touched.push(`commit ${write[0].length}`);
        return own.commit(...write);
      },
      transaction: (...body: Parameters<typeof own.transaction>) => {
        touched.push('transaction');
        return own.transaction(...body);
      },
    });
    try {
      return { found: await work(), touched: touched.sort() };
    } finally {
      Object.assign(store, own);
    }
  }

  /** What Bob is answered who takes a name, without what differs by the request alone. */
  async function answered(path: string, name: string, more: object) {
    const { sshPublicKey, ...request } = makeRequest(name, {}, more);
    const body = path === '/preflights' ? request : { ...request, sshPublicKey };
    return watching(async () => {
      const reply = await server.fetch('POST', path, { as: bob, body });
      const { instance: _, ...told } = (await reply.json()) as Record<string, unknown>;
      return { status: reply.status, told: JSON.stringify(told).replaceAll(name, 'NAME') };
    });
  }

  const ways: readonly (readonly [way: string, path: string, more: object])[] = [
    ['to begin it', '/bootstraps', {}],
    ['to begin it strictly', '/bootstraps', { strict: true }],
    ['to begin it at a price', '/bootstraps', { maxCost: '1000' }],
    ['a dry run', '/bootstraps?dryRun=true', {}],
    ['a preflight', '/preflights', {}],
  ];

  it('is told the same of every name that is in use, whoever has it, and the same documents are read', async () => {
    for (const [index, make] of Object.values(others).entries()) await make(`name ${index + 10}`);
    for (const [way, path, more] of ways) {
      const first = await answered(path, 'name 10', more);
      expect(first.found.told, way).to.contain('The project name NAME is in use by somebody else.');
      for (const [index, what] of Object.keys(others).entries()) {
        expect(await answered(path, `name ${index + 10}`, more), `${way}: ${what}`).to.deep.equal(first);
      }
    }
  });

  it('is answered as for one that is not there, in every operation', async () => {
    const there = (await begun('hidden')).id;
    const missing = 'b000000000000000';
    for (const [operation, { body, params }] of Object.entries(sent)) {
      const route = bootstrapRoutes[operation as OfBootstrap];
      const told = async (id: string) => {
        const path = pathTo(route, { ...params, id });
        const { instance: _, ...problem } = await server.problem(404, route.method, path, {
          as: bob,
          ...(body !== undefined && { body }),
        });
        return JSON.stringify(problem).replaceAll(id, 'ID');
      };
      expect(await told(there), operation).to.equal(await told(missing));
      await server.problem(401, route.method, pathTo(route, { ...params, id: there }), { as: null });
    }
  });
});
