/**
 * Worlds that somebody tampered with: genuine projects and records, of which any label may be rewritten and any record mangled,
 * within their types. Choices are made of small numbers, so that fast-check can shrink them.
 */
import fc from 'fast-check';
import { ownerLabel, proofOf } from '../../functions/engine/proof.js';
import type { OracleProject, OracleRecord, OracleWorld, Signed } from './oracle.js';

type Label = 'genuine' | 'absent' | 'other' | 'empty' | 'junk';

/** Most labels are as they were written, or the world would never hold anything that must go. */
const label = fc.oneof(
  { arbitrary: fc.constant<Label>('genuine'), weight: 10 },
  { arbitrary: fc.constantFrom<Label>('absent', 'other', 'empty', 'junk'), weight: 1 },
);

const recordChoice = fc.record({
  late: fc.oneof({ arbitrary: fc.constant(true), weight: 3 }, { arbitrary: fc.constant(false), weight: 1 }),
  protection: fc.oneof(
    { arbitrary: fc.constant('none' as const), weight: 4 },
    { arbitrary: fc.constantFrom('past' as const, 'future' as const), weight: 1 },
  ),
  number: fc.oneof(
    { arbitrary: fc.constant('own' as const), weight: 6 },
    { arbitrary: fc.constantFrom('other' as const, 'absent' as const, 'junk' as const), weight: 1 },
  ),
  /** Whose project it names. */
  project: fc.oneof(
    { arbitrary: fc.constant('own' as const), weight: 8 },
    { arbitrary: fc.constantFrom('next' as const, 'none' as const), weight: 1 },
  ),
  state: fc.oneof(
    { arbitrary: fc.constant('succeeded' as const), weight: 5 },
    {
      arbitrary: fc.constantFrom('failed' as const, 'cancelled' as const, 'running' as const, 'removed' as const),
      weight: 1,
    },
  ),
  quarantined: fc.oneof({ arbitrary: fc.constant(false), weight: 8 }, { arbitrary: fc.constant(true), weight: 1 }),
  due: fc.oneof(
    { arbitrary: fc.constant('deadline' as const), weight: 6 },
    { arbitrary: fc.constantFrom('long-ago' as const, 'never' as const, 'future' as const), weight: 1 },
  ),
});
export type RecordChoice = typeof recordChoice extends fc.Arbitrary<infer T> ? T : never;

export const projectChoice = fc.record({
  parent: fc.oneof(
    { arbitrary: fc.constant('ours' as const), weight: 8 },
    { arbitrary: fc.constantFrom('other' as const, 'organization' as const), weight: 1 },
  ),
  late: fc.oneof({ arbitrary: fc.constant(true), weight: 3 }, { arbitrary: fc.constant(false), weight: 1 }),
  managed: label,
  deployment: label,
  deleteAfter: fc.oneof(
    { arbitrary: fc.constant('genuine'), weight: 10 },
    {
      arbitrary: fc.constantFrom(
        'absent', 'earlier', 'future', 't', '', '0', 't-1', 't12x', 'never', 't99999999999999999999', '1700000000', 't1e9', 't0',
      ), // biome-ignore format: one list
      weight: 2,
    },
  ),
  protectedUntil: fc.oneof(
    { arbitrary: fc.constant('absent'), weight: 10 },
    { arbitrary: fc.constantFrom('past', 'future', '', 't', 'forever', 'true', 't99999999999999999999'), weight: 2 },
  ),
  bootstrap: label,
  owner: label,
  proof: fc.oneof(
    { arbitrary: fc.constant('genuine' as const), weight: 10 },
    {
      arbitrary: fc.constantFrom(
        'absent' as const,
        'next' as const,
        'forged' as const,
        'other-key' as const,
        'empty' as const,
      ),
      weight: 2,
    },
  ),
  deleted: fc.oneof({ arbitrary: fc.constant(false), weight: 10 }, { arbitrary: fc.constant(true), weight: 1 }),
  lien: fc.oneof({ arbitrary: fc.constant(false), weight: 10 }, { arbitrary: fc.constant(true), weight: 1 }),
  record: fc.option(recordChoice, { freq: 2 }),
});
export type ProjectChoice = typeof projectChoice extends fc.Arbitrary<infer T> ? T : never;

/** Who a project and its record are, before anybody touches them. */
export interface Identity {
  readonly projectId: string;
  readonly number: string;
  readonly bootstrapId: string;
}

export interface Place {
  readonly now: number;
  readonly parent: string;
  readonly otherParent: string;
  readonly organization: string;
  readonly deployment: string;
  readonly proofKey: string;
}

const hour = 3_600_000;
const timeLabel = (milliseconds: number): string => `t${Math.floor(milliseconds / 1000)}`;
const owner = 'alice@example.com';

function signedFor({ number, bootstrapId }: Identity, deleteAfter: string, key: string): Signed {
  const facts = { projectNumber: number, bootstrapId, owner: ownerLabel(owner), expiry: deleteAfter };
  return {
    number,
    bootstrap: bootstrapId,
    owner: facts.owner,
    deleteAfter,
    proof: proofOf(key, facts),
  };
}

const chosen = (choice: Label, genuine: string, other: string): string | undefined =>
  ({ genuine, absent: undefined, other, empty: '', junk: 'x-1_' })[choice];

/** The world as the adversary left it. */
export function tamper(
  choices: readonly ProjectChoice[],
  identities: readonly Identity[],
  place: Place,
): { readonly projects: OracleProject[]; readonly world: OracleWorld } {
  const of = (i: number) => identities[i % identities.length] as Identity;
  const lateOf = (i: number) => choices[i % choices.length]?.late === true;
  const expiryOf = (i: number) => timeLabel(place.now + (lateOf(i) ? -2 : 2) * hour);
  const signed = choices.map((_, i) => signedFor(of(i), expiryOf(i), place.proofKey));
  const projects = choices.map((choice, i): OracleProject => {
    const { projectId, number, bootstrapId } = of(i);
    const genuine = signed[i] as Signed;
    const next = signed[(i + 1) % signed.length] as Signed;
    const times: Readonly<Record<string, string | undefined>> = {
      genuine: genuine.deleteAfter,
      absent: undefined,
      earlier: timeLabel(place.now - 3 * hour),
      future: timeLabel(place.now + 3 * hour),
      past: timeLabel(place.now - hour),
    };
    const timeOf = (text: string): string | undefined => (Object.hasOwn(times, text) ? times[text] : text);
    const proofs = {
      genuine: genuine.proof,
      absent: undefined,
      next: next.proof,
      forged: `p${'0'.repeat(60)}`,
      'other-key': signedFor(of(i), genuine.deleteAfter, 'another key').proof,
      empty: '',
    };
    const labels = {
      'plinth-managed': chosen(choice.managed, 'true', 'false'),
      'plinth-deployment': chosen(choice.deployment, place.deployment, 'another'),
      'delete-after': timeOf(choice.deleteAfter),
      'plinth-protected-until': timeOf(choice.protectedUntil),
      'plinth-bootstrap': chosen(choice.bootstrap, bootstrapId, next.bootstrap),
      'plinth-owner': chosen(choice.owner, genuine.owner, ownerLabel('bob@example.com')),
      'plinth-proof': proofs[choice.proof],
    };
    return {
      projectId,
      number,
      parent: { ours: place.parent, other: place.otherParent, organization: place.organization }[choice.parent],
      active: !choice.deleted,
      lien: choice.lien,
      labels: Object.fromEntries(
        Object.entries(labels).filter((entry): entry is [string, string] => entry[1] !== undefined),
      ),
    };
  });
  const records = choices.flatMap(({ record }, i): OracleRecord[] => {
    if (record === null) return [];
    const { bootstrapId, ...own } = of(i);
    const named = { own, next: of(i + 1), none: { projectId: `${own.projectId.slice(0, 20)}-no`, number: '1' } }[
      record.project
    ];
    const deadline = place.now + (record.late ? -2 : 2) * hour;
    const dueAt = { deadline, 'long-ago': 0, never: Number.POSITIVE_INFINITY, future: place.now + 9 * hour }[
      record.due
    ];
    return [
      {
        id: bootstrapId,
        projectId: named.projectId,
        number: { own: named.number, other: of(i + 1).number, absent: undefined, junk: '999' }[record.number],
        state: record.state,
        deadline,
        protectedUntil: { none: undefined, past: place.now - hour, future: place.now + hour }[record.protection],
        removing: false,
        quarantined: record.quarantined,
        due: dueAt <= place.now,
      },
    ];
  });
  const { now, parent, deployment } = place;
  return { projects, world: { now, parent, deployment, records, signed } };
}
