/**
 * Firestore refuses a query whose composite index is missing, and its emulator does not. So every query that the product
 * makes is recorded here and compared with what terraform/firestore.indexes.json declares.
 */

import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import * as z from 'zod';
import { findByName, listBootstraps } from '../../functions/bootstraps/find.js';
import { noticeWrites } from '../../functions/bootstraps/lifetime/warn.js';
import { bootstrapsOf } from '../../functions/bootstraps/people/team-roles.js';
import { SessionRecord } from '../../functions/console/sessions.js';
import { CountersRecord, OwnerCountRecord, TeamCountRecord } from '../../functions/engine/record/counts.js';
import {
  BootstrapRecord,
  EventRecord,
  FileRecord,
  LeaseRecord,
  LogChunkRecord,
  LogHeadRecord,
  PassRecord,
  SearchRecord,
} from '../../functions/engine/record/documents.js';
import { DurationsRecord } from '../../functions/engine/record/durations.js';
import { createStepLog } from '../../functions/engine/record/log.js';
import { readLog } from '../../functions/engine/record/read-log.js';
import { realTimers } from '../../functions/host/clock.js';
import { RateRecord } from '../../functions/http/rate-limit.js';
import { membersOf } from '../../functions/pools/member.js';
import { PoolNotesRecord } from '../../functions/pools/notes.js';
import { PoolShareRecord } from '../../functions/pools/share.js';
import { FunctionReport } from '../../functions/preflight/deployment/reports.js';
import { SeenRecord } from '../../functions/preflight/seen.js';
import { NoticeRecord } from '../../functions/webhook/notices.js';
import { createMemoryStore } from '../../local/functions/memory-store.js';
import { collections } from '../../shared/names.js';
import { createIssuer, type Issuer } from '../http/issuer.js';
import { callEverything } from '../organizations/every-operation.js';
import { createOrganizationsServer, type OrganizationsServer } from '../organizations/organizations-server.js';
import {
  createRecording,
  type FieldKind,
  projectFolder,
  type QueryShape,
  type Recording,
  recordStore,
  shapeOf,
} from '../support/recording-store.js';
import { redactorOf } from '../support/redactor.js';
import { makeScene, type Scene } from '../support/scene.js';

interface IndexFile {
  readonly indexes: readonly {
    readonly collectionGroup: string;
    readonly queryScope: 'COLLECTION';
    readonly fields: readonly { readonly fieldPath: string; readonly order: 'ASCENDING' | 'DESCENDING' }[];
  }[];
  /** Single fields: those that are not indexed at all, and those by which Firestore removes documents. */
  readonly fieldOverrides: readonly {
    readonly collectionGroup: string;
    readonly fieldPath: string;
    readonly ttl: boolean;
    readonly indexes: readonly [];
  }[];
}

const declared = JSON.parse(readFileSync(join(projectFolder, 'terraform/firestore.indexes.json'), 'utf8')) as IndexFile;

/** One text for what is the same to Firestore: fields compared for equality may stand in any order. */
const indexText = (collection: string, equal: readonly string[], last: string, direction: string): string =>
  `${collection}: ${[...equal].sort().join(', ')}; ${last} ${direction}`;

/** Undefined: the indexes that each field has by itself serve it, merged for several equalities. */
function compositeFor({ collection, equal, range, order }: QueryShape): string | undefined {
  const [last, direction] = order ?? [range, 'asc'];
  if (range !== undefined && range !== last) throw new Error(`${collection}: a range on ${range}, ordered by ${last}`);
  if (last === undefined || equal.length === 0 || equal.includes(last)) return undefined;
  return indexText(collection, equal, last, direction);
}

const declaredTexts = declared.indexes.map(({ collectionGroup, fields }) => {
  const last = fields.at(-1);
  if (last === undefined || fields.length < 2)
    throw new Error(`An index of ${collectionGroup} has fewer than two fields`);
  const equal = fields.slice(0, -1).map(({ fieldPath }) => fieldPath);
  return indexText(collectionGroup, equal, last.fieldPath, last.order === 'ASCENDING' ? 'asc' : 'desc');
});

interface Site {
  /** `file:line` */
  readonly place: string;
  /** What stands there, if it stands there in so many words. */
  readonly shape: QueryShape | undefined;
}

/** From the source: for queries that are made only where something goes wrong, or that nobody can ask for here. */
function shapeIn(text: string): QueryShape | undefined {
  const [, name] = /^\{\s*collection: collections\.(\w+),/.exec(text) ?? [];
  const [query = ''] = /^\{[\s\S]*?\n? *\}\)/.exec(text) ?? [];
  if (name === undefined || /(?:where|orderBy)(?:,|: (?!\[))|\.\.\./.test(query)) return undefined;
  const where = [...query.matchAll(/\['(\w+)', '(==|<=?|>=?)', /g)].map(
    ([, field, op]) => [field, op, ''] as [string, '==', string],
  );
  const [, field, direction] = /orderBy: \['(\w+)', '(asc|desc)'\]/.exec(query) ?? [];
  const collection = collections[name as keyof typeof collections];
  return shapeOf({ collection, where, ...(field === undefined ? {} : { orderBy: [field, direction as 'asc'] }) });
}

/** Each place in the product that queries. */
const sites: readonly Site[] = readdirSync(join(projectFolder, 'functions'), { recursive: true, encoding: 'utf8' })
  // The last one asks for all that is declared, and has a test of its own.
  .filter(
    (file) =>
      file.endsWith('.ts') && !file.startsWith('store/') && file !== join('preflight', 'deployment', 'indexes.ts'),
  )
  .flatMap((file) => {
    const source = readFileSync(join(projectFolder, 'functions', file), 'utf8');
    return [...source.matchAll(/\.query\(/g)].map(({ index, 0: call }) => ({
      place: `functions/${file}:${source.slice(0, index).split('\n').length}`,
      shape: shapeIn(source.slice(index + call.length)),
    }));
  });

/** Fields that the recorded story may never write. */
const stored: readonly (readonly [collection: string, record: z.ZodObject])[] = [
  [collections.bootstraps, BootstrapRecord],
  [collections.leases, LeaseRecord],
  [collections.consoleSessions, SessionRecord],
  [collections.events, EventRecord],
  [collections.files, FileRecord],
  [collections.logs, LogChunkRecord],
  [collections.logHeads, LogHeadRecord],
  [collections.notices, NoticeRecord],
  [collections.counters, CountersRecord],
  [collections.counters, OwnerCountRecord],
  [collections.counters, TeamCountRecord],
  [collections.passes, PassRecord],
  [collections.passes, SearchRecord],
  [collections.passes, PoolNotesRecord],
  [collections.durations, DurationsRecord],
  [collections.rates, RateRecord],
  [collections.rates, PoolShareRecord],
  [collections.preflights, SeenRecord],
  [collections.functionReports, FunctionReport],
];

function noteFields({ fields }: Recording, collection: string, record: z.ZodObject): void {
  const { properties = {}, $defs = {} } = z.toJSONSchema(record, { unrepresentable: 'any' }) as {
    properties?: Record<string, { readonly type?: string; readonly $ref?: string }>;
    $defs?: Record<string, { readonly type?: string }>;
  };
  const known = fields.get(collection) ?? new Map<string, Set<FieldKind>>();
  fields.set(collection, known);
  for (const [field, { $ref, type = $defs[$ref?.replace('#/$defs/', '') ?? '']?.type }] of Object.entries(properties)) {
    const kind = type === 'object' ? 'map' : type === 'array' ? 'array' : 'scalar';
    known.set(field, (known.get(field) ?? new Set()).add(kind));
  }
}

const overridesOf = (wanted: (each: IndexFile['fieldOverrides'][number]) => boolean): string[] =>
  declared.fieldOverrides.filter(wanted).map(({ collectionGroup, fieldPath }) => `${collectionGroup}.${fieldPath}`);

describe("Firestore's indexes", () => {
  const recording = createRecording();
  let scene: Scene;
  let issuer: Issuer;
  let server: OrganizationsServer;
  before(async function () {
    this.timeout(300_000);
    scene = await makeScene({ timeFactor: 0, wrapStore: (store) => recordStore(store, recording) });
    const alice = await scene.caller();
    await alice.bootstrap('indexes');
    await alice.plinth('list');
    await alice.plinth('cancel', 'indexes');
    // What only operators ask for, and what asks by the clock.
    const store = recordStore(createMemoryStore(), recording);
    await findByName({ store }, 'no-such-project');
    await listBootstraps({ store });
    await membersOf({ store }, 'a pool');
    await bootstrapsOf({ store }, 1);
    // What only jobs on machines write.
    const whose = { bootstrapId: 'b1', instance: 'install', generation: 1, expireAt: '2030-01-01T00:00:00.000Z' };
    const clock = { ...realTimers, now: () => new Date(), wait: async () => undefined };
    await createStepLog({ store, clock }, whose, redactorOf()).append('job', 0, Buffer.alloc(1000, 'x'), true);
    await readLog({ store }, 'b1', 'install', 0);
    // What only a deployment with a webhook writes.
    const warning = {
      at: '2030-01-01T00:00:00.000Z',
      removeAt: '2030-01-01T01:00:00.000Z',
      text: 'soon',
      advice: 'extend it',
    };
    const warned = { name: 'indexes', projectId: 'indexes-1', owner: 'alice@example.com', events: 1 };
    await store.commit(noticeWrites('b1', warned, { ...warning, text: warning.text.repeat(50) }));
    issuer = await createIssuer();
    // Nothing is sent to it. Without one, no message waits.
    const env = { PLINTH_WEBHOOK_URL: 'http://127.0.0.1:9/webhook' };
    server = await createOrganizationsServer(issuer, { store: recordStore(createMemoryStore(), recording), env });
    await callEverything(server);
    for (const [collection, record] of stored) noteFields(recording, collection, record);
  });
  after(async () => {
    server?.close();
    issuer?.close();
    await scene?.close();
  });

  const shapes = (): QueryShape[] => [
    ...recording.shapes.values(),
    ...sites.flatMap(({ place, shape }) => (recording.sites.has(place) ? [] : (shape ?? []))),
  ];
  const queried = (): Set<string> =>
    new Set(
      shapes().flatMap(({ collection, equal, range, order }) =>
        [...equal, range, order?.[0]].flatMap((field) => (field === undefined ? [] : [`${collection}.${field}`])),
      ),
    );

  it('are compared with every place that queries', () => {
    expect(recording.sites).to.have.property('size').above(8);
    const unknown = sites.filter(({ place, shape }) => shape === undefined && !recording.sites.has(place));
    expect(
      unknown.map(({ place }) => place),
      'neither passed by this test nor readable to it',
    ).to.deep.equal([]);
  });

  it('are all there, and none is without use', () => {
    const needed = new Set(shapes().flatMap((shape) => compositeFor(shape) ?? []));
    expect(declaredTexts).to.have.members([...needed]);
  });

  const large: readonly FieldKind[] = ['map', 'array', 'long text'];
  it('leave out the fields that hold maps, lists and long texts, and only those', () => {
    const found = [...recording.fields].flatMap(([collection, fields]) =>
      [...fields].flatMap(([field, kinds]) =>
        large.some((kind) => kinds.has(kind)) ? [`${collection}.${field}`] : [],
      ),
    );
    const inUse = queried();
    const exempt = overridesOf(({ ttl }) => !ttl);
    expect(exempt).to.have.members(found.filter((field) => !inUse.has(field)));
    expect(
      overridesOf(() => true).filter((field) => inUse.has(field)),
      'queried, but not indexed',
    ).to.deep.equal([]);
  });

  it('let Firestore remove what bears a time to go', () => {
    const temporary = [...recording.fields].flatMap(([collection, fields]) =>
      fields.has('expireAt') ? [`${collection}.expireAt`] : [],
    );
    expect(overridesOf(({ ttl }) => ttl)).to.have.members(temporary);
  });

  it('are of collections that there are', () => {
    const known = Object.values(collections) as string[];
    expect([...recording.fields.keys()].filter((collection) => !known.includes(collection))).to.deep.equal([]);
  });
});
