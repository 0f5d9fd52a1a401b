/** The ceilings above a bootstrap of a team. Stands on few documents, so that cleanup carries no more of organizations with it. */
import { collections } from '../../shared/names.js';
import type { Ceilings } from '../../shared/organization/ceilings.js';
import { read } from '../store/lift.js';
import type { Store } from '../store/store.js';
import { liftOrganization, liftTeam, type TeamRecord, teamDocumentId } from './records.js';

/** Of the team and its organization, by two reads: what counts towards them is not read. */
export async function ceilingsOfTeam(
  { store }: { readonly store: Pick<Store, 'get'> },
  teamId: number,
): Promise<Ceilings[]> {
  const team = read(await store.get(collections.teams, teamDocumentId(teamId)), liftTeam)?.data;
  return team === undefined || team.deletedAt !== undefined
    ? []
    : [team.ceilings ?? {}, (await ceilingsAbove({ store }, team)) ?? {}];
}

export async function ceilingsAbove(
  { store }: { readonly store: Pick<Store, 'get'> },
  { organizationId }: TeamRecord,
): Promise<Ceilings | undefined> {
  if (organizationId === null) return undefined;
  return read(await store.get(collections.organizations, organizationId), liftOrganization)?.data.ceilings;
}
