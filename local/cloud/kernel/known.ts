/**
 * What Google has, by name: services, machine types, methods of compute. It tells a limit of the simulation from a mistake of
 * the client. Each file in `known/` names its source and date, and is read at first use.
 */
import { readFileSync } from 'node:fs';

/** The build compiles only sources. The data stays in the checkout. */
const folder = new URL('../../../../local/cloud/known/', import.meta.url);

function lazily<T>(file: string, key: string): () => Readonly<Record<string, T>> {
  let read: Readonly<Record<string, T>> | undefined;
  return () => {
    read ??= (JSON.parse(readFileSync(new URL(file, folder), 'utf8')) as Record<string, Record<string, T>>)[key] ?? {};
    return read;
  };
}

/** Google's services, by host without `.googleapis.com`. The text holds the versions: `v1 v2beta`. */
export const knownServices = lazily<string>('services.json', 'services');

/** Machine types of Google: vCPUs and memory in MB. */
export const knownMachineTypes = lazily<readonly [cpus: number, memoryMb: number]>(
  'machine-types.json',
  'machineTypes',
);

/** The methods of compute v1, by collection: `get list`. */
export const knownComputeMethods = lazily<string>('compute-methods.json', 'collections');

/** The numbers of enums, by API and by the names of the enum, joined by blanks. */
export const knownEnumNumbers = lazily<Readonly<Record<string, readonly number[]>>>('enum-numbers.json', 'enums');

/** The endpoints that gcloud's properties redirect, as host and path: `compute/compute/v1/`. */
export const knownGcloudEndpoints = lazily<string>('gcloud.json', 'endpoints');
