/** Finds bootstraps: one by the name that a person types, or all that a person may see. */

import { collections } from '../../shared/names.js';
import { Problem } from '../../shared/problems.js';
import type { Context } from '../context.js';
import { isHidden, liftBootstrap, liftName, nameId, read, type StoredBootstrap } from '../engine/record/documents.js';
import { isBootstrapId } from '../engine/record/ids.js';
import { getBootstrap } from '../engine/record/update.js';
import type { Query } from '../store/store.js';

/** By the project's name only. */
export async function findClaimed(context: Pick<Context, 'store'>, name: string): Promise<StoredBootstrap | undefined> {
  const claimed = read(await context.store.get(collections.names, nameId(name)), liftName);
  return claimed === undefined ? undefined : getBootstrap(context, claimed.data.bootstrapId);
}

/** By the project's id, the bootstrap's own, or the project's name: anybody may name a project after an id of another. */
export async function findByName(context: Pick<Context, 'store'>, name: string): Promise<StoredBootstrap | undefined> {
  const { store } = context;
  const [[byProject], own, claimed] = await Promise.all([
    store.query({ collection: collections.bootstraps, where: [['projectId', '==', name]], limit: 1 }),
    isBootstrapId(name) ? store.get(collections.bootstraps, name) : undefined,
    findClaimed(context, name),
  ]);
  return read(byProject ?? own, liftBootstrap) ?? claimed;
}

/** Those that are meant, as `findByName` has it. */
export function namedSo(found: readonly StoredBootstrap[], name: string): readonly StoredBootstrap[] {
  const byId = found.filter(({ id, data }) => id === name || data.projectId === name);
  return byId.length > 0 ? byId : found.filter(({ data }) => data.name === name);
}

/** Newest first: all bootstraps, or those that a person owns or that are shared with them. */
export async function listBootstraps(
  { store }: Pick<Context, 'store'>,
  { person }: { readonly person?: string | undefined } = {},
): Promise<StoredBootstrap[]> {
  const { bootstraps: collection } = collections;
  const queries: Query[] =
    person === undefined
      ? [{ collection }]
      : [
          { collection, where: [['owner', '==', person]] },
          { collection, where: [['sharedWith', 'array-contains', person]] },
        ];
  const found = await Promise.all(queries.map((query) => store.query(query)));
  return found
    .flat()
    .flatMap((document) => read(document, liftBootstrap) ?? [])
    .filter(({ data }) => !isHidden(data))
    .sort((a, b) => (a.data.createdAt < b.data.createdAt ? 1 : -1));
}

/** The bootstrap that a claim on a name refers to. */
export async function getClaimed({ store }: Context, id: string): Promise<StoredBootstrap> {
  const found = read(await store.get(collections.bootstraps, id), liftBootstrap);
  if (found === undefined) throw new Problem('internal', `A name is claimed for ${id}, which is not there.`);
  return found;
}
