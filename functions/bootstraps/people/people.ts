/** Who owns a bootstrap, and whom it is shared with. */

import { iamMember } from '../../../shared/iam-member.js';
import { collections } from '../../../shared/names.js';
import { Problem } from '../../../shared/problems.js';
import type { Context } from '../../context.js';
import { latestFormer } from '../../engine/record/bounded.js';
import { countMore, countWrites, isCounted, readCounts } from '../../engine/record/counts.js';
import type { StoredBootstrap } from '../../engine/record/documents.js';
import { type BootstrapRecord, liftName, nameId, read } from '../../engine/record/documents.js';
import type { AnyStep } from '../../engine/step.js';
import type { Write } from '../../store/store.js';
import { alter } from '../alter.js';
import { checkOneMoreOf } from '../budget/living.js';
import { countSpend } from '../budget/months.js';
import { boundWithout } from './bound.js';
import { ofTeams, some } from './team-people.js';
import { roleSteps } from './team-roles.js';

/** Nobody works with more people. The limit keeps policies and records small. */
const mostPeople = 20;

const callerRole = 'caller-role';

const refused = (message: string): Problem =>
  new Problem('bad-input', `with ${message}`, { errors: [{ path: 'with', message }] });

const without = (people: readonly string[] | undefined, email: string): string[] =>
  (people ?? []).filter((each) => each !== email);

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
        formerPeople: latestFormer([...without(formerPeople, email), email]),
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
        formerPeople: latestFormer([...without(without(formerPeople, email), owner), owner]),
        // A person it was shared with keeps the bound account. A new person is known only by e-mail.
        boundTo: boundWithout(record, owner),
      };
      const held = await ofTeams(context, { ...record, ...fields });
      if (held.fields.ownerLeft === true) throw refused(`is no member of team ${record.team}, which it belongs to`);
      return {
        fields: { ...fields, ...held.fields },
        writes: [...(await claimWrites(context, id, record, email, at)), ...held.writes],
      };
    },
  );

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
  const claimed = read(await store.get(collections.names, nameId(record.name)), liftName);
  if (claimed?.data.bootstrapId !== id) return [];
  const { team } = record;
  const owners = [...new Set([record.owner, claimed.data.owner, email])];
  const counts = await readCounts({ store }, { owners, teams: team === undefined ? [] : [team] });
  if (!isCounted(counts)) return [];
  checkOneMoreOf(counts, email, config.limits);
  const left = countMore(counts, { owner: claimed.data.owner, inAll: false }, { living: -1 }, at);
  const taken = countMore(left, { owner: email, inAll: false }, { living: 1 }, at);
  const counted = countSpend(config, taken, { before: record, after: { ...record, owner: email } }, at) ?? taken;
  return [
    {
      kind: 'update',
      collection: claimed.collection,
      id: claimed.id,
      version: claimed.version,
      data: { owner: email },
    },
    ...countWrites(counts, counted),
  ];
}
