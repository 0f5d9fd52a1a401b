/** Who owns a bootstrap, and whom it is shared with. */

import { iamMember } from '../../shared/iam-member.js';
import { collections } from '../../shared/names.js';
import { Problem } from '../../shared/problems.js';
import type { Context } from '../context.js';
import type { StoredBootstrap } from '../engine/record/documents.js';
import { type BootstrapRecord, countersId, liftCounters, liftName, nameId, read } from '../engine/record/documents.js';
import type { AnyStep } from '../engine/step.js';
import { holdWrite } from '../organizations/ownership.js';
import { persist } from '../store/persist.js';
import type { Write } from '../store/store.js';
import { type Alteration, alter } from './alter.js';
import { boundWithout } from './bound.js';
import { countSpend } from './ceilings.js';
import { holdersOf, peopleFields, teamsOf } from './team-people.js';
import { roleSteps } from './team-roles.js';

/** Nobody works with more people. The limit keeps policies and records small. */
const mostPeople = 20;

const callerRole = 'caller-role';

const refused = (message: string): Problem =>
  new Problem('bad-input', `with ${message}`, { errors: [{ path: 'with', message }] });

const without = (people: readonly string[] | undefined, email: string): string[] =>
  (people ?? []).filter((each) => each !== email);

/** Empty lists are not stored. */
const some = (people: string[]): string[] | undefined => (people.length === 0 ? undefined : people);

/** If it is shared already, nothing changes. But if the role on the project could not be given, that is tried again. */
export const share = (
  context: Context,
  steps: readonly AnyStep[],
  id: string,
  actor: string,
  email: string,
): Promise<StoredBootstrap> =>
  alter(context, steps, id, { actor, action: `share with ${email}`, shownBy: roleSteps }, (record) => {
    const { owner, sharedWith = [], formerPeople, instances } = record;
    if (email === owner) throw refused('is the owner');
    if (sharedWith.includes(email) && instances[callerRole]?.state !== 'failed') return undefined;
    const people = [...without(sharedWith, email), email];
    if (people.length > mostPeople) throw refused(`would be one too many: it is shared with ${mostPeople} people`);
    return { fields: { sharedWith: people, formerPeople: some(without(formerPeople, email)) } };
  });

/** If it is not shared with them, nothing changes. */
export const unshare = (
  context: Context,
  steps: readonly AnyStep[],
  id: string,
  actor: string,
  email: string,
): Promise<StoredBootstrap> =>
  alter(context, steps, id, { actor, action: `unshare with ${email}`, shownBy: roleSteps }, (record) => {
    const { sharedWith = [], formerPeople } = record;
    if (!sharedWith.includes(email)) return undefined;
    return {
      fields: {
        sharedWith: some(without(sharedWith, email)),
        formerPeople: [...without(formerPeople, email), email],
        boundTo: boundWithout(record, email),
      },
    };
  });

/**
 * Record, claim on the name and counters change in one commit. Labels, proof and roles follow. The former owner no longer sees
 * it. A transfer to the current owner changes nothing. Throws `too-many` if the new owner is at the limit, and `over-ceiling`
 * if what it costs would pass theirs.
 */
export const transfer = (
  context: Context,
  steps: readonly AnyStep[],
  id: string,
  actor: string,
  email: string,
): Promise<StoredBootstrap> =>
  alter(
    context,
    steps,
    id,
    { actor, action: `transfer to ${email}`, shownBy: ['project', ...roleSteps] },
    async (record, at) => {
      const { owner, sharedWith, formerPeople } = record;
      if (email === owner) return undefined;
      const fields = {
        owner: email,
        ownerMember: iamMember(email),
        sharedWith: some(without(sharedWith, email)),
        formerPeople: [...without(without(formerPeople, email), owner), owner],
        // A person it was shared with keeps the bound account. A new person is known only by e-mail.
        boundTo: boundWithout(record, owner),
      };
      const held = await heldBy(context, record, fields);
      return {
        fields: { ...fields, ...held.fields },
        writes: [...(await claimWrites(context, id, record, email, at)), ...held.writes],
      };
    },
  );

/** What follows from its teams for a new owner. Throws `bad-input` if they are not in the team that it belongs to. */
async function heldBy(
  context: Context,
  record: BootstrapRecord,
  fields: Pick<Alteration['fields'], 'owner' | 'sharedWith' | 'formerPeople'> & { readonly owner: string },
): Promise<Pick<Required<Alteration>, 'fields' | 'writes'>> {
  if (teamsOf(record).length === 0) return { fields: {}, writes: [] };
  const { team } = record;
  const holders = await holdersOf(context, record);
  const owning = holders.find((holder) => holder.team.teamId === team);
  if (team !== undefined && owning?.members.includes(fields.owner) !== true) {
    throw refused(`is no member of team ${team}, which it belongs to`);
  }
  const { sharedWith, formerPeople, ...others } = record;
  const given = {
    ...others,
    owner: fields.owner,
    ...(fields.sharedWith !== undefined && { sharedWith: fields.sharedWith }),
    ...(fields.formerPeople !== undefined && { formerPeople: fields.formerPeople }),
  };
  return {
    fields: peopleFields(context.config, given, holders),
    writes: holders.map((holder) => holdWrite(holder)),
  };
}

/**
 * Moves the name and the count to the new owner. Claim and count belong together: a bootstrap that lost its claim is not
 * counted either.
 */
async function claimWrites(
  { store, config }: Context,
  id: string,
  record: BootstrapRecord,
  email: string,
  at: string,
): Promise<Write[]> {
  const [foundName, foundCounters] = await persist(() =>
    Promise.all([store.get(collections.names, nameId(record.name)), store.get(collections.counters, countersId)]),
  );
  const claimed = read(foundName, liftName);
  const counted = read(foundCounters, liftCounters);
  if (claimed?.data.bootstrapId !== id || counted === undefined) return [];
  const { byOwner } = counted.data;
  const theirs = byOwner[email] ?? 0;
  const { livingPerOwner } = config.limits;
  if (theirs >= livingPerOwner) {
    throw new Problem('too-many', `${email} has ${theirs} bootstraps, and the limit per owner is ${livingPerOwner}.`, {
      advice: 'Wait until one of theirs is removed, or ask your operator to raise the limit.',
      members: { limit: 'livingPerOwner', value: livingPerOwner },
    });
  }
  const spend = countSpend(config, counted.data, { before: record, after: { ...record, owner: email } }, at);
  const { [claimed.data.owner]: before = 0, ...others } = byOwner;
  const left = before > 1 ? { ...others, [claimed.data.owner]: before - 1 } : others;
  return [
    {
      kind: 'update',
      collection: claimed.collection,
      id: claimed.id,
      version: claimed.version,
      data: { owner: email },
    },
    {
      kind: 'update',
      collection: counted.collection,
      id: counted.id,
      version: counted.version,
      data: { byOwner: { ...left, [email]: theirs + 1 }, ...(spend === undefined ? {} : { spend }) },
    },
  ];
}
