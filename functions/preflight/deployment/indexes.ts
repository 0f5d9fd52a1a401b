/** Whether the database has the indexes that plinth queries by. A query without its index is refused, whatever it would find. */
import { Problem } from '../../../shared/problems.js';
import { defineFinding, ok, stop } from '../../engine/finding.js';
import type { Query } from '../../store/store.js';
import { applyTerraform } from './mends.js';

type Where = readonly [field: string, op: '==', value: string];
const is = (...fields: readonly string[]): Where[] => fields.map((field) => [field, '==', '']);
const sorted = (collection: string, equal: readonly string[], by: string, direction: 'asc' | 'desc'): Query => ({
  collection,
  where: is(...equal),
  orderBy: [by, direction],
  limit: 1,
});

/** One for each composite index, in terraform/firestore.indexes.json. */
export const indexedQueries: readonly Query[] = [
  sorted('invitations', ['email'], 'organizationId', 'asc'),
  sorted('invitations', ['organizationId'], 'email', 'asc'),
  sorted('logs', ['bootstrapId', 'instance'], 'offset', 'asc'),
  sorted('organizationEvents', ['organizationId'], 'id', 'desc'),
  sorted('organizationEvents', ['teamId'], 'id', 'desc'),
  sorted('organizationMembers', ['email'], 'organizationId', 'asc'),
  sorted('organizationMembers', ['organizationId'], 'email', 'asc'),
  sorted('teamMembers', ['email'], 'teamId', 'asc'),
  sorted('teamMembers', ['teamId'], 'email', 'asc'),
  sorted('teams', ['organizationId'], 'teamId', 'asc'),
  sorted('transfers', ['teamId'], 'id', 'asc'),
];

export const indexes = defineFinding({
  code: 'indexes',
  title: 'Indexes of the database',
  why: 'A query without its index is refused.',
  by: 'bootstraps',
  mustBeAsked: true,
  about: [],
  ask: async ({ context: { store, config } }) => ({
    project: config.project,
    found: await Promise.all(
      indexedQueries.map(async (query) => {
        try {
          await store.query(query);
          return { query, isServed: true };
        } catch (error) {
          if (error instanceof Problem && error.code === 'unavailable') throw error;
          return { query, isServed: false };
        }
      }),
    ),
  }),
  judge({ project, found }) {
    const missing = found.filter(({ isServed }) => !isServed).map(({ query }) => nameOf(query));
    if (missing.length === 0) return ok(`${found.length} queries that need one were answered`);
    return stop(
      new Problem('internal', `The database refuses what needs these indexes: ${missing.join('; ')}.`, {
        advice: `${applyTerraform}, and wait until the indexes are built: gcloud firestore indexes composite list --project=${project}`,
      }),
    );
  },
});

const nameOf = ({ collection, where = [], orderBy = ['', 'asc'] }: Query): string =>
  `${collection} by ${[...where.map(([field]) => field), orderBy[0]].join(', ')}`;
