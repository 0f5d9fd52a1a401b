/**
 * Many callers at once on the real emulator: rounds of actions that run together, each round checked when it is over, and every
 * moment of it by the events.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import fc from 'fast-check';
import type { Store } from '../../functions/store/store.js';
import { Problem } from '../../shared/problems.js';
import type { Issuer } from '../http/issuer.js';
import { type EmulatedStore, openEmulatedStore } from '../support/emulators.js';
import { actionOf, type Cast, type Drawn, drawn, noteReply, people } from './actions.js';
import { check, checkAtRest, faultsOf } from './at-rest.js';
import type { Action, ActionKind } from './model.js';
import { createOrganizationsServer, type OrganizationsServer, operator } from './organizations-server.js';
import { createPlayer } from './play.js';
import { createRandom, type Random } from './random.js';
import { createReader } from './snapshot.js';

export interface StormOptions {
  readonly seed: number;
  readonly runs: number;
  readonly rounds: number;
  /** Callers at once. */
  readonly callers: number;
  /** Which actions, how often. */
  readonly weights?: Partial<Readonly<Record<ActionKind, number>>>;
  /** Whom they are about; by default a few more than there are callers. */
  readonly emails?: readonly string[];
  /** Changes who meets whom. */
  readonly wrap?: (store: Store, random: Random) => Store;
  /** Share of the writes around which the function dies, 0 to 1. */
  readonly deaths?: number;
}

export interface Storm {
  /** What went wrong first, in words; undefined if all rules held. */
  readonly failure: string | undefined;
  readonly actions: number;
  /** By status. */
  readonly replies: ReadonlyMap<number, number>;
  /** Moments at which somebody looked at the database while it changed. */
  readonly looks: number;
  readonly events: number;
}

/** The function dies before a write, or after it and before it can answer; the caller sees a 503 and asks again. */
function dying(store: Store, random: Random, share: number): Store {
  const died = (): never => {
    throw new Problem('unavailable', 'The function died.');
  };
  return {
    ...store,
    async transaction(body) {
      const [before, after] = [random.maybe(share / 2), random.maybe(share / 2)];
      if (before) died();
      const result = await store.transaction(body);
      if (after) died();
      return result;
    },
  };
}

/** Long enough for others to come in between. */
const pause = (random: Random): Promise<void> => sleep(random.below(30));

/** Whoever reads is slow, so that others come in between wherever they can. */
export const slowly = (store: Store, random: Random): Store => ({
  ...store,
  async query(query) {
    const found = await store.query(query);
    await pause(random);
    return found;
  },
  transaction: (body) =>
    store.transaction(async (transaction) => {
      const result = await body(transaction);
      await pause(random);
      return result;
    }),
});

const staggerMs = 60;
const skewSeconds = 600;
const pageSize = 20;

/** Ids of all events, newest first, read page by page. */
async function listEvents(server: OrganizationsServer, organizationId: string): Promise<string[]> {
  const ids: string[] = [];
  let cursor: string | undefined;
  do {
    const query = { limit: String(pageSize), ...(cursor === undefined ? {} : { cursor }) };
    const { body, headers } = await server.ask('listOrganizationEvents', {
      as: operator,
      params: { organizationId },
      query,
    });
    ids.push(...(body as { id: string }[]).map(({ id }) => id));
    cursor = /cursor=([^&>]+)/.exec(headers.get('link') ?? '')?.[1];
  } while (cursor !== undefined);
  return ids;
}

/** Two organizations whose first admins are people of the cast, and two teams. */
export const opening: readonly Action[] = [
  { kind: 'createOrganization', by: operator, organization: 'first' },
  { kind: 'createOrganization', by: operator, organization: 'second' },
  ...['first', 'second'].flatMap((organization): Action[] => [
    ...people.slice(0, 2).map((email) => ({
      kind: 'addOrganizationMember' as const,
      by: operator,
      organization,
      email,
      role: 'admin' as const,
    })),
    { kind: 'removeOrganizationMember', by: operator, organization, email: operator, force: false },
  ]),
  { kind: 'createTeam', by: people[0] as string, team: 'inside', organization: 'first' },
  { kind: 'createTeam', by: people[1] as string, team: 'alone', organization: undefined },
];

export async function storm(
  emulatorHost: string,
  issuer: Issuer,
  { seed, runs, rounds, callers, weights, emails, wrap = (store) => store, deaths = 0 }: StormOptions,
): Promise<Storm> {
  const replies = new Map<number, number>();
  let actions = 0;
  let looks = 0;
  let told = 0;

  async function run(plan: readonly (readonly Drawn[])[]): Promise<void> {
    const random = createRandom(seed);
    const emulated: EmulatedStore = openEmulatedStore(emulatorHost);
    const reader = createReader(emulated.project, emulatorHost);
    let dead = 0;
    const alive = wrap(emulated.store, random);
    const ids = new Map<string, string>();
    // Two processes: within one, changes of a team take turns. Their clocks differ, which the order of events must not tell.
    const makeProcess = async (clockSeconds: number) => {
      const store: Store = {
        ...alive,
        transaction: (body) => (dead > 0 ? dying(alive, random, dead) : alive).transaction(body),
      };
      const server = await createOrganizationsServer(issuer, { store, clockSeconds });
      return { server, player: createPlayer(server, ids) };
    };
    const processes = [await makeProcess(0), await makeProcess(-skewSeconds)] as const;
    const cast: Cast = { organizations: [], teams: [] };
    const story: string[] = [];

    const act = async (action: Action): Promise<void> => {
      actions += 1;
      const { server, player } = processes[actions % 2 === 0 ? 0 : 1];
      const { status } = await player.play(action);
      replies.set(status, (replies.get(status) ?? 0) + 1);
      story.push(`${JSON.stringify(action)} → ${status}`);
      if (status >= 500) throw new Error(`${status}: ${server.logged.at(-1)}`);
      noteReply(cast, action, status);
      if (status !== 201) return;
      if (action.kind === 'createOrganization') cast.organizations.push(action.organization);
      if (action.kind === 'createTeam') cast.teams.push(action.team);
    };

    /**
     * What has died half-way was asked for again at once. That may be refused: whoever asked may not any more, a team has the
     * member by now, or the organization is deleted. Then the operator takes it up.
     */
    const takeUp = async (batch: readonly Action[]): Promise<void> => {
      const { leaving } = await reader.snapshot();
      for (const action of batch) {
        if (action.kind !== 'removeOrganizationMember') continue;
        const { organization, email } = action;
        if (!leaving.includes(`${ids.get(organization)}: ${email}`)) continue;
        await act({ kind: 'restoreOrganization', by: operator, organization });
        await act({ ...action, by: operator, force: true });
      }
    };

    try {
      for (const action of opening) await act(action);
      for (const [i, round] of plan.entries()) {
        story.push(`round ${i}`);
        let over = false;
        const watching = (async () => {
          while (!over) {
            check(`In round ${i}`, faultsOf(await reader.snapshot()));
            looks += 1;
          }
        })();
        watching.catch(() => undefined);
        dead = deaths;
        const batch = round.map((each, j) => actionOf(cast, `${i}-${j}`, each));
        const results = await Promise.allSettled(
          // Not all at the same instant: some begin while others are half-way.
          batch.map(async (action) => {
            await sleep(random.below(staggerMs));
            await act(action);
          }),
        );
        dead = 0;
        over = true;
        await watching;
        for (const result of results) if (result.status === 'rejected') throw result.reason;
        if (deaths > 0) await takeUp(batch);
        const events = await checkAtRest(reader, `round ${i}`);
        if (i < plan.length - 1) continue;
        told += events.length;
        for (const organization of cast.organizations) {
          const organizationId = ids.get(organization) ?? '';
          // The events of a deleted one are shown to nobody.
          await act({ kind: 'restoreOrganization', by: operator, organization });
          const committed = (await reader.events())
            .filter((each) => each.organizationId === organizationId)
            .map(({ id }) => id);
          const listed = await listEvents(processes[0].server, organizationId);
          if (listed.join() !== committed.toReversed().join()) {
            throw new Error(`Committed as ${committed.toReversed().join()}\nbut listed as ${listed.join()}`);
          }
        }
      }
    } catch (error) {
      throw new Error(`${error instanceof Error ? error.message : String(error)}\n${story.slice(-40).join('\n')}`);
    } finally {
      for (const { server } of processes) server.close();
      await Promise.all([reader.close(), emulated.store.close()]);
    }
  }

  const round = fc.array(drawn(weights, emails), { minLength: callers, maxLength: callers });
  const plan = fc.array(round, { minLength: rounds, maxLength: rounds });
  // What races cannot be made smaller reliably: the first failure is the one to look at.
  const details = await fc.check(fc.asyncProperty(plan, run), { seed, numRuns: runs, endOnFailure: true });
  const error: unknown = details.errorInstance;
  const failure = details.failed ? (error instanceof Error ? error.message : String(error)) : undefined;
  return { failure, actions, replies, looks, events: told };
}
