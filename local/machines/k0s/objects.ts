/** The objects of a cluster, stored in one file instead of etcd. */
import { randomBytes, randomUUID } from 'node:crypto';
import { fault } from './fault.js';
import { apiOf, type Kind, kindOf, type Metadata, now, type Thing } from './kinds.js';
import { place, readIfThere, writeWhole } from './place.js';

export interface Change {
  readonly type: 'ADDED' | 'MODIFIED' | 'DELETED';
  readonly kind: Kind;
  readonly thing: Thing;
}

export type Draft = { readonly metadata?: Partial<Metadata> & { readonly generateName?: string } } & Readonly<
  Record<string, unknown>
>;

export interface Objects {
  /** Lists the objects of one namespace, or of all. */
  list(kind: Kind, namespace?: string): readonly Thing[];
  version(): string;
  find(kind: Kind, namespace: string | undefined, name: string): Thing | undefined;
  get(kind: Kind, namespace: string | undefined, name: string): Thing;
  create(kind: Kind, namespace: string | undefined, draft: Draft): Thing;
  /** `quietly` skips the write to the disk. */
  replace(kind: Kind, namespace: string | undefined, name: string, draft: Draft, quietly?: boolean): Thing;
  remove(kind: Kind, namespace: string | undefined, name: string): Thing;
  /** What was deleted after this version, as far as it is remembered. */
  deletedSince(kind: Kind, version: number): Thing[];
  onChange(listener: (change: Change) => void): () => void;
}

const isName = (name: string): boolean => name.length <= 253 && /^[a-z0-9]([a-z0-9.-]*[a-z0-9])?$/.test(name);
const namespaceKind = kindOf('namespaces');

interface Kept {
  version: number;
  readonly things: Record<string, Thing>;
}

const keyOf = (kind: Kind, namespace: string | undefined, name: string): string =>
  [`${apiOf(kind)}/${kind.plural}`, kind.namespaced ? (namespace ?? 'default') : '', name].join(' ');

const mostDeleted = 100;

/** The last deletions, for a watch that begins after one that it is to report. */
function createDeletions() {
  const last: { readonly kind: Kind; readonly thing: Thing }[] = [];
  return {
    add(kind: Kind, thing: Thing): Thing {
      last.push({ kind, thing });
      if (last.length > mostDeleted) last.shift();
      return thing;
    },
    since: (kind: Kind, version: number): Thing[] =>
      last.flatMap(({ kind: its, thing }) =>
        its === kind && Number(thing.metadata.resourceVersion) > version ? thing : [],
      ),
  };
}

export function createObjects(path: string = place.objects): Objects {
  const text = readIfThere(path);
  const kept: Kept = text === undefined ? { version: 1, things: {} } : (JSON.parse(text) as Kept);
  const listeners = new Set<(change: Change) => void>();

  function changed(type: Change['type'], kind: Kind, thing: Thing, quietly = false): Thing {
    if (!quietly) writeWhole(path, JSON.stringify(kept));
    for (const listener of listeners) listener({ type, kind, thing });
    return thing;
  }

  const deleted = createDeletions();
  function gone(kind: Kind, namespace: string | undefined, name: string, { metadata, ...rest }: Thing): Thing {
    delete kept.things[keyOf(kind, namespace, name)];
    kept.version += 1;
    const thing = { ...rest, metadata: { ...metadata, resourceVersion: String(kept.version) } } as Thing;
    return changed('DELETED', kind, deleted.add(kind, thing));
  }

  const self: Objects = {
    list: (kind, namespace) =>
      Object.entries(kept.things)
        .filter(([key]) => key.startsWith(`${apiOf(kind)}/${kind.plural} `))
        .map(([, thing]) => thing)
        .filter(({ metadata }) => namespace === undefined || metadata.namespace === namespace)
        .sort((a, b) => (a.metadata.name < b.metadata.name ? -1 : 1)),
    version: () => String(kept.version),
    find: (kind, namespace, name) => kept.things[keyOf(kind, namespace, name)],
    get(kind, namespace, name) {
      const found = self.find(kind, namespace, name);
      if (found === undefined) throw missing(kind, name);
      return found;
    },
    create(kind, namespace, draft) {
      const name = nameOf(kind, draft);
      if (kind.namespaced) self.get(namespaceKind, undefined, namespace ?? '');
      if (self.find(kind, namespace, name) !== undefined) {
        throw fault(409, 'AlreadyExists', `${plural(kind)} "${name}" already exists`);
      }
      kept.version += 1;
      const thing = newThing(kind, namespace, name, draft, kept.version);
      kept.things[keyOf(kind, namespace, name)] = thing;
      return changed('ADDED', kind, thing);
    },
    replace(kind, namespace, name, draft, quietly) {
      const before = self.get(kind, namespace, name);
      checkVersion(kind, name, draft, before.metadata.resourceVersion);
      kept.version += 1;
      const thing = replacement(kind, before, draft, kept.version);
      if (isMarked(thing) && !isHeld(thing)) return gone(kind, namespace, name, thing);
      kept.things[keyOf(kind, namespace, name)] = thing;
      return changed('MODIFIED', kind, thing, quietly);
    },
    remove(kind, namespace, name) {
      const thing = self.get(kind, namespace, name);
      if (!isHeld(thing)) return gone(kind, namespace, name, thing);
      kept.version += 1;
      const marked = markedForDeletion(thing, kept.version);
      kept.things[keyOf(kind, namespace, name)] = marked;
      return changed('MODIFIED', kind, marked);
    },
    deletedSince: deleted.since,
    onChange(listener) {
      listeners.add(listener);
      return () => void listeners.delete(listener);
    },
  };
  makeNamespaces(self);
  return self;
}

/** Whoever set a finalizer still has something to take away. */
const isHeld = ({ metadata }: Thing): boolean => ((metadata['finalizers'] as string[] | undefined) ?? []).length > 0;

const isMarked = ({ metadata }: Thing): boolean => metadata['deletionTimestamp'] !== undefined;

/** A marked object stays until nobody holds it any more. */
function markedForDeletion(thing: Thing, version: number): Thing {
  const deletionTimestamp = thing.metadata['deletionTimestamp'] ?? now();
  return { ...thing, metadata: { ...thing.metadata, deletionTimestamp, resourceVersion: String(version) } };
}

/** What the server sets stays as it was. */
function replacement(kind: Kind, before: Thing, draft: Draft, version: number): Thing {
  const { name, namespace, uid, creationTimestamp, deletionTimestamp } = before.metadata;
  const metadata = {
    ...draft.metadata,
    name,
    uid,
    creationTimestamp,
    resourceVersion: String(version),
    ...(kind.namespaced ? { namespace } : {}),
    ...(deletionTimestamp === undefined ? {} : { deletionTimestamp }),
  };
  return { ...draft, apiVersion: apiOf(kind), kind: kind.kind, metadata } as Thing;
}

/** Makes the namespaces that every cluster has. */
function makeNamespaces(objects: Objects): void {
  for (const name of ['default', 'kube-system', 'kube-public', 'kube-node-lease']) {
    if (objects.find(namespaceKind, undefined, name) === undefined) {
      objects.create(namespaceKind, undefined, { metadata: { name }, status: { phase: 'Active' } });
    }
  }
}

const missing = (kind: Kind, name: string) => fault(404, 'NotFound', `${plural(kind)} "${name}" not found`);

/** The name in the draft, or a generated one if the draft has only its beginning. */
function nameOf(kind: Kind, { metadata: { name: given, generateName } = {} }: Draft): string {
  const name = given ?? (generateName === undefined ? '' : `${generateName}${randomBytes(3).toString('hex')}`);
  if (!isName(name)) {
    throw fault(422, 'Invalid', `${kind.kind} "${name}" is invalid: metadata.name: Invalid value: "${name}"`);
  }
  return name;
}

function newThing(kind: Kind, namespace: string | undefined, name: string, draft: Draft, version: number): Thing {
  const { generateName: _prefix, ...given } = draft.metadata ?? {};
  return {
    ...draft,
    apiVersion: apiOf(kind),
    kind: kind.kind,
    metadata: {
      ...given,
      name,
      ...(kind.namespaced && namespace !== undefined ? { namespace } : {}),
      uid: randomUUID(),
      resourceVersion: String(version),
      creationTimestamp: now(),
    },
  };
}

function checkVersion(kind: Kind, name: string, draft: Draft, current: string | undefined): void {
  const asked = draft.metadata?.resourceVersion;
  if (asked === undefined || asked === '' || asked === current) return;
  throw fault(
    409,
    'Conflict',
    `Operation cannot be fulfilled on ${plural(kind)} "${name}": the object has been modified; please apply your changes to the latest version and try again`,
  );
}

export const plural = ({ group, plural: name }: Kind): string => (group === '' ? name : `${name}.${group}`);
