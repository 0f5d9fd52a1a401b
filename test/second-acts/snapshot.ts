/** All that a command may change, at one moment: the user's files, the resources and secrets in the cloud, plinth's record. */
import { createHash } from 'node:crypto';
import { lstatSync, readdirSync, readFileSync, readlinkSync } from 'node:fs';
import { join, relative } from 'node:path';
import type { Store } from '../../functions/store/store.js';
import type { SimulatedCloud } from '../../local/cloud/index.js';
import { collections } from '../../shared/names.js';

export interface Snapshot {
  /** By the path from the user's folder: a hash of the content, or what stands there instead of a file. */
  readonly files: ReadonlyMap<string, string>;
  /** By table and name. Times and etags are left out. */
  readonly cloud: ReadonlyMap<string, string>;
  /** The payload of each secret in Secret Manager that is in use. */
  readonly secrets: ReadonlyMap<string, string>;
  /** The documents of bootstraps with this name. */
  readonly documents: ReadonlyMap<string, string>;
  /** The living bootstrap of the name. */
  readonly bootstrap: Recorded | undefined;
}

export interface Recorded {
  readonly id: string;
  readonly projectId: string;
  readonly state: string;
  readonly removal: boolean;
  /** It has a platform, or is to have one. */
  readonly installed: boolean;
  /** Flags that no command can change. */
  readonly fixed: Readonly<Record<'base-domain' | 'zone', string>>;
}

export interface Change {
  readonly name: string;
  readonly what: 'is new' | 'is gone' | 'has changed';
}

/** Tables that hold how calls went, and what Google makes of resources: no resources themselves. */
const passing =
  /^(?:compute\.(?:operations|requests|guests)|operations|projects\.(?:indexed|making)|faults\.|pubsub\.|storage\.uploads|cloudscheduler\.|ports|secretmanager\.)/;
const volatileFields = new Set([
  'etag',
  'fingerprint',
  'labelFingerprint',
  'updateTime',
  'lastStartTimestamp',
  'inForce',
]);

const stable = (value: unknown): string =>
  JSON.stringify(value, (field, each: unknown) => (volatileFields.has(field) ? undefined : each));

export function changesBetween(before: ReadonlyMap<string, string>, after: ReadonlyMap<string, string>): Change[] {
  const names = [...new Set([...before.keys(), ...after.keys()])].sort();
  return names.flatMap((name): Change[] => {
    const [was, is] = [before.get(name), after.get(name)];
    if (was === is) return [];
    return [{ name, what: was === undefined ? 'is new' : is === undefined ? 'is gone' : 'has changed' }];
  });
}

interface Place {
  readonly folder: string;
  readonly cloud: SimulatedCloud;
  readonly store: Store;
  /** Of the project. It begins the project's id, and no other project's. */
  readonly name: string;
}

type Json = Readonly<Record<string, unknown>>;

export async function takeSnapshot({ folder, cloud, store, name }: Place): Promise<Snapshot> {
  const found = await store.query({ collection: collections.bootstraps, where: [['name', '==', name]] });
  const ids = found.map(({ id }) => id);
  const { tables } = cloud.state() as unknown as {
    readonly tables: Readonly<Record<string, Readonly<Record<string, Json>>>>;
  };
  const isOurs = (key: string): boolean => key.includes(`${name}-`) || ids.some((id) => key.includes(id));
  const rows = (table: string) => Object.entries(tables[table] ?? {}).filter(([key]) => isOurs(key));
  const resources = Object.keys(tables)
    .filter((table) => !passing.test(table))
    .flatMap((table) => rows(table).map(([key, row]): [string, string] => [`${table} ${key}`, stable(row)]));
  const named = new Map(found.map(({ id, data }) => [`${id}-caller`, data['callerSecret'] as string | undefined]));
  return {
    files: filesIn(folder),
    cloud: new Map(resources),
    secrets: new Map(
      rows('secretmanager.secrets').map(([key, row]) => {
        const name = key.split('/').at(-1) ?? key;
        return [name, payloadOf(row, named.get(name))];
      }),
    ),
    documents: await documentsOf(store, ids),
    bootstrap: living(found.map(({ id, data }) => ({ id, ...data }))),
  };
}

/** Of the version that a record names, or of the newest. A command that fails may leave a version that no record names. */
function payloadOf({ lastVersion, versions }: Json, named = String(lastVersion)): string {
  const { data, resource } = ((versions as Json)[named] ?? {}) as { data?: string; resource?: Json };
  return data ?? `(${String(resource?.['state'])})`;
}

/** Of a view that counts money and time, only what a command decides. */
async function documentsOf(store: Store, ids: readonly string[]): Promise<Map<string, string>> {
  const all: [string, string][] = [];
  for (const id of ids) {
    const record = await store.get(collections.bootstraps, id);
    if (record !== undefined) {
      const { options, state, generation, deadlineAt, protection, sharedWith } = record.data;
      const decided = { options, state, generation, deadlineAt, protection, sharedWith };
      all.push([`the record ${id}`, stable(decided)]);
    }
  }
  return new Map(all);
}

function living(found: readonly (Json & { readonly id: string })[]): Recorded | undefined {
  const here = found.find(({ state }) => state !== 'removed');
  if (here === undefined) return undefined;
  const { id, projectId, state, removal, options } = here;
  const { baseDomain, zone } = options as Json;
  return {
    ...{
      id,
      projectId: String(projectId),
      state: String(state),
      removal: removal !== undefined,
      installed: here['package'] !== undefined,
    },
    fixed: { 'base-domain': String(baseDomain), zone: String(zone) },
  };
}

export function filesIn(folder: string): Map<string, string> {
  const files = new Map<string, string>();
  const walk = (at: string): void => {
    for (const name of readdirSync(at)) {
      const path = join(at, name);
      const found = lstatSync(path);
      const known = relative(folder, path);
      if (found.isDirectory()) walk(path);
      else if (found.isSymbolicLink()) files.set(known, `link to ${readlinkSync(path)}`);
      else if (found.isFile()) files.set(known, createHash('sha256').update(readFileSync(path)).digest('hex'));
      else files.set(known, 'neither file nor folder');
    }
  };
  walk(folder);
  return files;
}
