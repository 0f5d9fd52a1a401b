/**
 * The numbers of enums, from the published protos. An API's document lists names alone, and their order says nothing: in Artifact
 * Registry the format 5 is APT, the fifth name is another.
 */
import type { ApiName } from './api.js';
import { knownEnumNumbers } from './known.js';

/** The numbers of an API's enums, by their names in the document's order. In compute a name has the same number everywhere. */
const listsOf = (api: ApiName): Readonly<Record<string, readonly number[]>> => knownEnumNumbers()[api] ?? {};

let ofCompute: ReadonlyMap<string, number> | undefined;

function computeNumbers(): ReadonlyMap<string, number> {
  ofCompute ??= new Map(
    Object.entries(listsOf('compute.v1')).flatMap(([names, numbers]) =>
      names.split(' ').map((name, i) => [name, numbers[i] ?? -1] as const),
    ),
  );
  return ofCompute;
}

/** The number of a name, or undefined if no published proto tells it. */
export function enumNumber(api: ApiName, names: readonly string[], name: string): number | undefined {
  if (api === 'compute.v1') return computeNumbers().get(name);
  const number = listsOf(api)[names.join(' ')]?.[names.indexOf(name)];
  return number === -1 ? undefined : number;
}

/** The name of a number. Undefined if the enum has no such number, or a proto that is not known here might have it. */
export const enumName = (api: ApiName, names: readonly string[], number: number): string | undefined =>
  names.find((name) => enumNumber(api, names, name) === number);

/** Whether all numbers of an enum are known. */
export const hasEnumNumbers = (api: ApiName, names: readonly string[]): boolean =>
  names.every((name) => enumNumber(api, names, name) !== undefined);
