/** A store that notes which queries the product makes, and from where, and what its documents hold: what indexes are for. */
import { relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Data, Query, Store, Write } from '../../functions/store/store.js';

/** What matters to an index: which fields, not which values. */
export interface QueryShape {
  readonly collection: string;
  /** In alphabetical order. */
  readonly equal: readonly string[];
  readonly range?: string;
  readonly order?: readonly [field: string, direction: 'asc' | 'desc'];
}

export interface Recording {
  /** By their text, each once. */
  readonly shapes: Map<string, QueryShape>;
  /** Places in `functions/` that queried: `functions/engine/run/sweep.ts:27`. */
  readonly sites: Set<string>;
  /** Of each collection its fields, with the kinds of values that were written. */
  readonly fields: Map<string, Map<string, Set<FieldKind>>>;
}
export type FieldKind = 'map' | 'array' | 'long text' | 'scalar';

/** Longer texts are prose, keys or files; nobody looks one up by them. */
const longText = 300;

export const projectFolder = fileURLToPath(new URL('../../..', import.meta.url));

function siteOf(stack: string): string | undefined {
  for (const line of stack.split('\n')) {
    const [, file, at] = /\(?(?:file:\/\/)?(\/[^()]*?\.ts):(\d+):\d+\)?$/.exec(line) ?? [];
    const path = file === undefined ? '' : relative(projectFolder, file);
    if (path.startsWith('functions/') && !path.startsWith('functions/store/')) return `${path}:${at}`;
  }
  return undefined;
}

export function shapeOf({ collection, where = [], orderBy }: Query): QueryShape {
  const ranges = new Set(where.filter(([, op]) => op !== '==').map(([field]) => field));
  if (ranges.size > 1) throw new Error(`A query of ${collection} has ranges on ${[...ranges].join(' and ')}`);
  const [range] = ranges;
  return {
    collection,
    equal: [...new Set(where.filter(([, op]) => op === '==').map(([field]) => field))].sort(),
    ...(range === undefined ? {} : { range }),
    ...(orderBy === undefined ? {} : { order: orderBy }),
  };
}

const kindOf = (value: unknown): FieldKind => {
  if (Array.isArray(value)) return 'array';
  if (typeof value === 'object' && value !== null) return 'map';
  return typeof value === 'string' && value.length > longText ? 'long text' : 'scalar';
};

export const createRecording = (): Recording => ({ shapes: new Map(), sites: new Set(), fields: new Map() });

export function recordStore(store: Store, { shapes, sites, fields }: Recording): Store {
  const noteData = (collection: string, data: Data): void => {
    const known = fields.get(collection) ?? new Map<string, Set<FieldKind>>();
    fields.set(collection, known);
    for (const [field, value] of Object.entries(data)) {
      if (value !== undefined) known.set(field, (known.get(field) ?? new Set()).add(kindOf(value)));
    }
  };
  const note = (writes: readonly Write[]): void => {
    for (const write of writes) if (write.kind !== 'delete') noteData(write.collection, write.data);
  };
  return {
    ...store,
    query(query) {
      const shape = shapeOf(query);
      shapes.set(JSON.stringify(shape), shape);
      const site = siteOf(new Error().stack ?? '');
      if (site !== undefined) sites.add(site);
      return store.query(query);
    },
    commit(writes) {
      note(writes);
      return store.commit(writes);
    },
    transaction: (body) =>
      store.transaction((transaction) =>
        body({
          ...transaction,
          write(...writes) {
            note(writes);
            transaction.write(...writes);
          },
        }),
      ),
  };
}
