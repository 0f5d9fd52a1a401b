/**
 * What is counted of bootstraps: `counters/living` for all of them, and one document for each owner and each team. So none of
 * them grows with the others. Each change of any of them writes `counters/living` against the version that was read. So a
 * commit against that version has read all of them as they are.
 */
import * as z from 'zod';
import { AdmissionView } from '../../../shared/bootstrap/admission.js';
import { collections, countersId, teamCountId } from '../../../shared/names.js';
import { sha256 } from '../../../shared/sha256.js';
import type { Context } from '../../context.js';
import { lift } from '../../store/lift.js';
import type { Data, Document, Version, Write } from '../../store/store.js';
import { type ByMonth, endOfMonths, plus } from './spend.js';

const time = z.iso.datetime();
/** By month, `2026-11`, in whole micro-units. Has a year's months at most, because no bootstrap lives longer. */
const spend = z.record(z.string(), z.int()).optional();

/** `counters/living`. */
export const CountersRecord = z.object({
  schema: z.literal(1),
  inAll: z.int(),
  /** What all bootstraps come to. */
  spend,
  /** Rises with each change of any count. Firestore keeps the version of a document that a write leaves the same. */
  changes: z.int().optional(),
  /** When ceilings of a team or an organization were last set. What was decided before then is decided anew. */
  ceilingsAt: time.optional(),
  /** Missing: nobody has ever stopped new bootstraps. */
  admission: AdmissionView.optional(),
  /** By key of a pool of the deployment: how often a bootstrap took a project of it, and how often it found none. */
  pools: z.record(z.string(), z.object({ taken: z.int(), missed: z.int() })).optional(),
});
export type CountersRecord = z.infer<typeof CountersRecord>;

/** `counters/owner-{hash of the e-mail}`. Firestore forbids some e-mail addresses in ids. */
export const OwnerCountRecord = z.object({
  schema: z.literal(1),
  owner: z.string(),
  living: z.int(),
  spend,
  /** When Firestore deletes it. Missing while the owner has living bootstraps. */
  expireAt: time.optional(),
});

/** `counters/team-{number}`. The team's own document counts what lives. */
export const TeamCountRecord = z.object({
  schema: z.literal(1),
  team: z.int(),
  spend,
  expireAt: time.optional(),
});

export const liftCounters = lift('counter', CountersRecord, 1);
export const liftOwnerCount = lift('count of an owner', OwnerCountRecord, 1);
export const liftTeamCount = lift('count of a team', TeamCountRecord, 1);

export const ownerCountId = (owner: string): string => `owner-${sha256(owner)}`;

export interface Count {
  /** Always 0 for a team. */
  readonly living: number;
  readonly spend: ByMonth;
}

/** The counts of some owners and teams, and of all bootstraps. */
export interface Counts {
  readonly all: CountersRecord;
  readonly owners: ReadonlyMap<string, Count>;
  readonly teams: ReadonlyMap<number, Count>;
  /** By id of a stored document. */
  readonly versions: ReadonlyMap<string, Version>;
}

export interface Counted {
  readonly owners?: readonly string[];
  readonly teams?: readonly number[];
}

type Stored = Pick<Context, 'store'>;

export const noCounts: CountersRecord = { schema: 1, inAll: 0 };

export async function readCounts(context: Stored, { owners = [], teams = [] }: Counted): Promise<Counts> {
  const stored = await documentsOf(context, [countersId, ...owners.map(ownerCountId), ...teams.map(teamCountId)]);
  const all = stored.get(countersId);
  return {
    all: all === undefined ? noCounts : liftCounters(all.data),
    owners: new Map(owners.map((owner) => [owner, countIn(stored.get(ownerCountId(owner)), liftOwnerCount)])),
    teams: new Map(teams.map((team) => [team, countIn(stored.get(teamCountId(team)), liftTeamCount)])),
    versions: versionsOf(stored),
  };
}

/** The same with further teams. They are read after the rest, so a commit against its version has read them as they are. */
export async function withTeams(context: Stored, counts: Counts, teams: readonly number[]): Promise<Counts> {
  const more = teams.filter((team) => !counts.teams.has(team));
  if (more.length === 0) return counts;
  const stored = await documentsOf(context, more.map(teamCountId));
  const found = more.map((team) => [team, countIn(stored.get(teamCountId(team)), liftTeamCount)] as const);
  return {
    ...counts,
    teams: new Map([...counts.teams, ...found]),
    versions: new Map([...counts.versions, ...versionsOf(stored)]),
  };
}

type Documents = ReadonlyMap<string, Document>;

async function documentsOf({ store }: Stored, ids: readonly string[]): Promise<Documents> {
  const found = await store.getMany(collections.counters, [...new Set(ids)]);
  return new Map(found.flatMap((each): [string, Document][] => (each === undefined ? [] : [[each.id, each]])));
}

const versionsOf = (documents: Documents): ReadonlyMap<string, Version> =>
  new Map([...documents].map(([id, { version }]) => [id, version]));

function countIn(
  document: Document | undefined,
  liftCount: (data: Data) => { readonly living?: number; readonly spend?: ByMonth | undefined },
): Count {
  const { living = 0, spend: sum = {} } = document === undefined ? {} : liftCount(document.data);
  return { living, spend: sum };
}

export const isCounted = ({ versions }: Counts): boolean => versions.has(countersId);

/** Throws if the owner was not read: nobody may take that for nothing. */
export const ofOwner = ({ owners }: Counts, owner: string): Count => known(owners.get(owner), owner);
export const ofTeam = ({ teams }: Counts, team: number): Count => known(teams.get(team), `team ${team}`);

function known(count: Count | undefined, whose: string): Count {
  if (count === undefined) throw new Error(`The count of ${whose} was not read`);
  return count;
}

/** Who is counted for. A team's count has only what its bootstraps come to. */
export interface Payer {
  readonly owner?: string;
  readonly team?: number | undefined;
  /** False: it is counted for all already. */
  readonly inAll?: boolean;
}

/** Months that are over are left out. Nothing is decided by them. */
export function countMore(
  counts: Counts,
  { owner, team, inAll = true }: Payer,
  { living = 0, spend: more = {} }: Partial<Count>,
  at: string,
): Counts {
  const added = (count: Count, lives: number): Count => ({
    living: Math.max(0, count.living + lives),
    spend: plus(count.spend, more, at),
  });
  const { living: total, spend: sum } = added({ living: counts.all.inAll, spend: counts.all.spend ?? {} }, living);
  return {
    ...counts,
    all: inAll ? { ...counts.all, inAll: total, spend: sum } : counts.all,
    owners: owner === undefined ? counts.owners : changed(counts.owners, owner, added(ofOwner(counts, owner), living)),
    teams: team === undefined ? counts.teams : changed(counts.teams, team, added(ofTeam(counts, team), 0)),
  };
}

const changed = <K>(counts: ReadonlyMap<K, Count>, key: K, count: Count): ReadonlyMap<K, Count> =>
  new Map([...counts, [key, count]]);

/** Writes what differs, each against the version that was read, and always `counters/living`. */
export function countWrites(before: Counts, after: Counts): Write[] {
  const { inAll, spend: sum = {}, changes = 0, pools } = after.all;
  const all = { inAll, spend: some(sum), changes: changes + 1, ...(pools !== undefined && { pools }) };
  return [
    written(before, countersId, all),
    ...[...after.owners].flatMap(([owner, count]) => {
      const fields = { owner, living: count.living };
      return isSame(before.owners.get(owner), count) ? [] : countWrite(before, ownerCountId(owner), fields, count);
    }),
    ...[...after.teams].flatMap(([team, count]) =>
      isSame(before.teams.get(team), count) ? [] : countWrite(before, teamCountId(team), { team }, count),
    ),
  ];
}

const some = (months: ByMonth): ByMonth | undefined => (Object.keys(months).length === 0 ? undefined : months);

function isSame(before: Count | undefined, { living, spend: sum }: Count): boolean {
  const months = before?.spend ?? {};
  return (
    before?.living === living &&
    Object.keys(months).length === Object.keys(sum).length &&
    Object.entries(sum).every(([month, micros]) => months[month] === micros)
  );
}

/** Of a count that comes to nothing no document is kept. */
function countWrite(before: Counts, id: string, fields: Data, { living, spend: sum }: Count): Write[] {
  const version = before.versions.get(id);
  if (living > 0 || some(sum) !== undefined) {
    const expireAt = living > 0 ? undefined : endOfMonths(sum);
    return [written(before, id, { ...fields, spend: some(sum), expireAt })];
  }
  return version === undefined ? [] : [{ kind: 'delete', collection: collections.counters, id, version }];
}

function written({ versions }: Counts, id: string, data: Data): Write {
  const version = versions.get(id);
  const at = { collection: collections.counters, id };
  return version === undefined
    ? { kind: 'create', ...at, data: { schema: 1, ...data } }
    : { kind: 'update', ...at, version, data };
}
