/**
 * Many callers at once on the real emulator: rounds of actions that run together, each round checked when it is over, and
 * every moment of it by the events. Called by both tiers of tests, and by those that take a guard out.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import fc from 'fast-check';
import type { Store } from '../../functions/store/store.js';
import { Problem } from '../../shared/problems.js';
import type { Issuer } from '../http/issuer.js';
import { type EmulatedStore, openEmulatedStore } from '../support/emulators.js';
import { actionOf, type Cast, type Drawn, drawn, people } from './actions.js';
import { type Action, type ActionKind, faultsIn, type World } from './model.js';
import { createOrganizationsServer, operator } from './organizations-server.js';
import { createPlayer } from './play.js';
import { createRandom, type Random } from './random.js';
import { replay } from './replay.js';
import { createReader, type Snapshot } from './snapshot.js';

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
  /** Takes a guard out. */
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

const staggerMs = 60;

const textOf = ({ organizations, teams }: World): string =>
  JSON.stringify([
    [...organizations].map(([id, { members }]) => [id, [...members].sort()]).sort(),
    [...teams].map(([id, { organization, members }]) => [id, organization ?? null, [...members].sort()]).sort(),
  ]);

const faultsOf = ({ world, faults }: Snapshot): readonly string[] => [...faultsIn(world), ...faults];

function check(what: string, faults: readonly string[]): void {
  if (faults.length > 0) throw new Error(`${what}:\n  ${faults.slice(0, 10).join('\n  ')}`);
}

/** Two organizations whose first admins are people of the cast, and two teams. */
const opening: readonly Action[] = [
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
    const store: Store = {
      ...alive,
      transaction: (body) => (dead > 0 ? dying(alive, random, dead) : alive).transaction(body),
    };
    const server = await createOrganizationsServer(issuer, { store });
    const player = createPlayer(server);
    const cast: Cast = { organizations: [], teams: [] };
    const story: string[] = [];

    const act = async (action: Action): Promise<void> => {
      const { status } = await player.play(action);
      actions += 1;
      replies.set(status, (replies.get(status) ?? 0) + 1);
      story.push(`${JSON.stringify(action)} → ${status}`);
      if (status >= 500) throw new Error(`${status}: ${server.logged.at(-1)}`);
      // Who died half-way may have lost the right to finish it; whoever may now asks again.
      if (deaths > 0 && action.kind === 'removeOrganizationMember' && (status === 403 || status === 404)) {
        if (action.by !== operator) await act({ ...action, by: operator });
      }
      if (status !== 201) return;
      if (action.kind === 'createOrganization') cast.organizations.push(action.organization);
      if (action.kind === 'createTeam') cast.teams.push(action.team);
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
        const { leaving, ...found } = await reader.snapshot();
        check(`After round ${i}`, faultsOf({ ...found, leaving }));
        check(`After round ${i} these removals are half done`, leaving);
        const events = await reader.events();
        const replayed = replay(events);
        check(`The events of rounds 0 to ${i}`, replayed.faults);
        if (textOf(replayed.world) !== textOf(found.world)) {
          throw new Error(
            `After round ${i} the events tell of\n${textOf(replayed.world)}\nand there is\n${textOf(found.world)}`,
          );
        }
        if (i === plan.length - 1) told += events.length;
      }
    } catch (error) {
      throw new Error(`${error instanceof Error ? error.message : String(error)}\n${story.slice(-40).join('\n')}`);
    } finally {
      server.close();
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
