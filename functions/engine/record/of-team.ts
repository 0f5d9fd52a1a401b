/** The records of what a team owns. */
import { collections } from '../../../shared/names.js';
import type { Document, Store } from '../../store/store.js';

/**
 * All but the bootstrap `id`, also removed ones while their records are kept. Read after the team, and committed against its
 * version, they are all: whoever begins one writes the team.
 */
export async function othersOf(
  { store }: { readonly store: Pick<Store, 'query'> },
  team: number,
  id: string,
): Promise<Document[]> {
  const found = await store.query({ collection: collections.bootstraps, where: [['team', '==', team]] });
  return found.filter((each) => each.id !== id);
}

/** How many of them a team is counted for. */
export const livingAmong = (documents: readonly Document[]): number =>
  documents.filter(({ data }) => data['state'] !== 'removed').length;
