/** Turns objects into the table that kubectl prints. */
import type { Kind, Thing } from './kinds.js';

/** Returns the content unchanged if the client asked for no table. */
export function tableOf(kind: Kind, content: object, accept: string | undefined): object {
  if (accept?.includes('as=Table') !== true) return content;
  const things = (content as { readonly items?: readonly Thing[] }).items ?? [content as Thing];
  const columns = ['Name', ...Object.keys(kind.columns), 'Age'];
  return {
    kind: 'Table',
    apiVersion: 'meta.k8s.io/v1',
    metadata: {},
    columnDefinitions: columns.map((name) => ({
      name,
      type: 'string',
      format: name === 'Name' ? 'name' : '',
      description: '',
      priority: 0,
    })),
    rows: things.map((thing) => {
      const { apiVersion, kind: name, metadata } = thing;
      return { cells: cellsOf(kind, thing), object: { kind: name, apiVersion, metadata } };
    }),
  };
}

export const cellsOf = (kind: Kind, thing: Thing): string[] => [
  thing.metadata.name,
  ...Object.values(kind.columns).map((of) => of(thing)),
  ageOf(thing.metadata.creationTimestamp),
];

function ageOf(since: string): string {
  const seconds = Math.max(0, Math.round((Date.now() - Date.parse(since)) / 1000));
  if (seconds < 120) return `${seconds}s`;
  return seconds < 7200 ? `${Math.floor(seconds / 60)}m` : `${Math.floor(seconds / 3600)}h`;
}
