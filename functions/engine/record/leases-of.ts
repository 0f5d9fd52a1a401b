/** All leases of one bootstrap, as stored. Counting and deleting them needs no parsing. */
import { collections } from '../../../shared/names.js';
import type { Context } from '../../context.js';
import type { Document, Query } from '../../store/store.js';

export const leasesOf = (
  { store }: Pick<Context, 'store'>,
  bootstrapId: string,
  most: Pick<Query, 'limit'> = {},
): Promise<Document[]> =>
  store.query({ collection: collections.leases, where: [['bootstrapId', '==', bootstrapId]], ...most });
