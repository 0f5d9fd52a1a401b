/**
 * The ceilings of teams and organizations: who sets them, and what they limit now. A bootstrap is counted in a commit against
 * the version of the counters. Setting a ceiling writes the counters too. So once it is answered, nothing begins that missed it.
 */
import { amountText, microsOf } from '../../shared/bootstrap/money.js';
import { collections, countersId, teamCountId } from '../../shared/names.js';
import type { Ceilings } from '../../shared/organization/ceilings.js';
import type { Organization } from '../../shared/organization/organization.js';
import type { Team } from '../../shared/organization/team.js';
import { Problem } from '../../shared/problems.js';
import type { Config } from '../config.js';
import type { Context } from '../context.js';
import type { Caller } from '../identity/auth.js';
import type { Store, Transaction, Write } from '../store/store.js';
import { asAdmin, asTeamAdmin } from './change.js';
import { liftTeam, type TeamRecord } from './documents.js';
import { ceilingsAbove } from './limits.js';
import { viewOfOrganization } from './organizations.js';
import { readOrganizationWithDeleted, readTeam } from './rights.js';
import { viewOfTeam } from './teams/teams.js';
import { transactInOrganization, transactInTeam } from './transact.js';

type Kind = keyof Ceilings;
const kinds: readonly Kind[] = ['living', 'usdPerMonth'];

/** One form for one amount. Undefined: there are none. */
function stored({ prices }: Pick<Config, 'prices'>, { living, usdPerMonth }: Ceilings): Ceilings | undefined {
  if (usdPerMonth !== undefined && prices.currency !== 'USD') {
    const message = `is in USD, and the prices of this deployment are in ${prices.currency}`;
    throw new Problem('bad-input', `usdPerMonth ${message}.`, { errors: [{ path: 'usdPerMonth', message }] });
  }
  if (living === undefined && usdPerMonth === undefined) return undefined;
  return {
    ...(living !== undefined && { living }),
    ...(usdPerMonth !== undefined && { usdPerMonth: amountText(microsOf(usdPerMonth)) }),
  };
}

const amountOf = ({ living, usdPerMonth }: Ceilings, kind: Kind): number =>
  kind === 'living'
    ? (living ?? Number.POSITIVE_INFINITY)
    : usdPerMonth === undefined
      ? Number.POSITIVE_INFINITY
      : microsOf(usdPerMonth);

/** What is in the commit of a new ceiling, so that no count that missed it is committed. */
async function countAnew(transaction: Transaction): Promise<Write> {
  const found = await transaction.get(collections.counters, countersId);
  const at = { collection: collections.counters, id: countersId };
  const ceilingsAt = new Date(transaction.readAt() / 1000).toISOString();
  return found === undefined
    ? { kind: 'create', ...at, data: { schema: 1, inAll: 0, ceilingsAt } }
    : { kind: 'update', ...at, data: { ceilingsAt } };
}

export const setOrganizationCeilings = (
  context: Context,
  caller: Caller,
  organizationId: string,
  wanted: Ceilings,
): Promise<Organization> =>
  transactInOrganization(
    context,
    organizationId,
    asAdmin(caller, organizationId, [], async ({ organization, role }, transaction) => {
      const ceilings = stored(context.config, wanted);
      if (isSame(organization.ceilings, ceilings)) return { result: viewOfOrganization(organization, role) };
      const changed = { ...organization, ceilings };
      return {
        result: viewOfOrganization(changed, role),
        writes: [
          { kind: 'update', collection: collections.organizations, id: organizationId, data: { ceilings } },
          await countAnew(transaction),
        ],
        events: [
          {
            action: 'organization-ceilings-set',
            before: viewOfOrganization(organization, undefined),
            after: viewOfOrganization(changed, undefined),
          },
        ],
      };
    }),
  );

/** In an organization, its admins alone raise a ceiling. Otherwise a team could end what they have set for it. */
export const setTeamCeilings = (context: Context, caller: Caller, teamId: number, wanted: Ceilings): Promise<Team> =>
  transactInTeam(
    context,
    teamId,
    asTeamAdmin(caller, teamId, [], async ({ team, role, governor }, transaction) => {
      const ceilings = stored(context.config, wanted);
      if (isSame(team.ceilings, ceilings)) return { result: viewOfTeam(team, role) };
      const { organizationId } = team;
      if (organizationId !== null && !caller.operator && governor?.role !== 'admin') {
        const organization = await readOrganizationWithDeleted(transaction, organizationId);
        checkLower(team, ceilings ?? {}, organization?.ceilings ?? {});
      }
      const changed = { ...team, ceilings };
      return {
        result: viewOfTeam(changed, role),
        writes: [await countAnew(transaction)],
        team: { ceilings },
        events: [
          {
            action: 'team-ceilings-set',
            before: { team: viewOfTeam(team, undefined) },
            after: { team: viewOfTeam(changed, undefined) },
          },
        ],
      };
    }),
  );

const isSame = (before: Ceilings = {}, after: Ceilings = {}): boolean =>
  kinds.every((kind) => amountOf(before, kind) === amountOf(after, kind));

function checkLower(
  { teamId, organizationId, ceilings = {} }: TeamRecord,
  wanted: Ceilings,
  ofOrganization: Ceilings,
): void {
  const faults = kinds.flatMap((kind) => {
    const asked = amountOf(wanted, kind);
    if (asked > amountOf(ceilings, kind))
      return [{ path: kind, message: `is ${ceilings[kind]} and may not be raised` }];
    const above = asked > amountOf(ofOrganization, kind) && wanted[kind] !== undefined;
    return above ? [{ path: kind, message: `is at most ${ofOrganization[kind]}, which is the organization's` }] : [];
  });
  if (faults.length === 0) return;
  const said = faults.map(({ path, message }) => `${path} ${message}`).join(', ');
  throw new Problem(
    'forbidden',
    `Only an admin of organization ${organizationId} raises ceilings of team ${teamId}: ${said}.`,
    {
      errors: faults,
      advice: 'Ask one of its admins, or set a lower one.',
    },
  );
}

/** A ceiling in force, and what counts towards it. */
export interface Bound {
  readonly of: 'Team' | 'Organization';
  readonly id: string;
  readonly ceilings: Ceilings;
  /** How many bootstraps its teams own now. */
  readonly living: number;
  /** Its teams that ever had bootstraps. */
  readonly teams: readonly number[];
}

/**
 * The ceilings for what this team owns. Read after the counters, and committed against their version: nothing else begins in
 * between. A team that comes into the organization in between came afterwards, as a migration passes ceilings.
 */
export async function boundsOfTeam(
  context: { readonly store: Pick<Store, 'get' | 'getMany' | 'query'> },
  teamId: number,
): Promise<Bound[]> {
  const { store } = context;
  const team = await readTeam(store, teamId);
  return team === undefined ? [] : boundsOf(context, team);
}

export async function boundsOf(
  { store }: { readonly store: Pick<Store, 'get' | 'query'> },
  team: TeamRecord,
): Promise<Bound[]> {
  const { teamId, organizationId, ceilings, owns = 0 } = team;
  const own: Bound[] =
    ceilings === undefined ? [] : [{ of: 'Team', id: String(teamId), ceilings, living: owns, teams: [teamId] }];
  const ofOrganization = await ceilingsAbove({ store }, team);
  if (organizationId === null || ofOrganization === undefined) return own;
  return [...own, await boundOf({ store }, organizationId, ofOrganization)];
}

async function boundOf(
  { store }: { readonly store: Pick<Store, 'query'> },
  organizationId: string,
  ceilings: Ceilings,
): Promise<Bound> {
  const found = await store.query({
    collection: collections.teams,
    where: [
      ['organizationId', '==', organizationId],
      ['holds', '==', true],
    ],
  });
  const teams = found.map(({ data }) => liftTeam(data));
  const living = teams.reduce((sum, { owns = 0 }) => sum + owns, 0);
  return { of: 'Organization', id: organizationId, ceilings, living, teams: teams.map(({ teamId }) => teamId) };
}

/**
 * The ceilings of the organization that this team's bootstraps would pass, in words. A migration makes nothing that costs, and
 * an admin who may set the ceilings asks for it. So it warns, and nothing new begins there until there is room.
 */
export async function passedBy(
  { store }: Pick<Context, 'store'>,
  asked: { readonly organizationId: string; readonly ceilings: Ceilings | undefined; readonly team: TeamRecord },
): Promise<string[]> {
  const { organizationId, ceilings, team } = asked;
  if (ceilings === undefined) return [];
  const { living, teams } = await boundOf({ store }, organizationId, ceilings);
  const then = 'It moves all the same, and nothing new begins until there is room.';
  const all = living + (team.owns ?? 0);
  const most = amountOf(ceilings, 'usdPerMonth');
  const [own = {}, ...others] = await spendsOf({ store }, [team.teamId, ...teams]);
  const months = Object.entries(own).flatMap(([month, ofTeam]) => {
    const sum = others.reduce((total, each) => total + (each[month] ?? 0), ofTeam);
    if (sum <= most) return [];
    return [
      `The organization would spend ${amountText(sum)} USD in ${month}, and its ceiling is ${ceilings.usdPerMonth}. ${then}`,
    ];
  });
  return all > amountOf(ceilings, 'living') && (team.owns ?? 0) > 0
    ? [
        `The organization would have ${all} living bootstraps, and its ceiling is ${ceilings.living}. ${then}`,
        ...months,
      ]
    : months;
}

type Spend = Readonly<Record<string, number>>;

/** By month, what the bootstraps of each team come to, in whole micro-units. */
async function spendsOf({ store }: Pick<Context, 'store'>, teams: readonly number[]): Promise<Spend[]> {
  const found = await store.getMany(collections.counters, teams.map(teamCountId));
  return found.map((each) => (each?.data['spend'] ?? {}) as Spend);
}
