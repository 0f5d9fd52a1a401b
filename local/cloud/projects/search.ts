/** The filters of projects.search (v3) and projects.list (v1). All terms `field:value` or `field=value` must hold. */
import { wildcard } from '../compute/filter.js';
import type { ProjectRecord } from '../kernel/api.js';
import { badRequest } from '../kernel/errors.js';

/** Reads the filter. Throws Google's 400 if it is malformed. */
export function readProjectFilter(filter: string): (project: ProjectRecord) => boolean {
  const terms = filter
    .trim()
    .split(/\s+/)
    .filter((term) => term !== '' && term !== 'AND' && !/^[()]+$/.test(term))
    .map((term) => term.replaceAll(/^\(+|\)+$/g, ''));
  if (terms.includes('OR') || terms.includes('NOT')) throw badRequest('Request contains an invalid argument.', 'query');
  const tests = terms.map(readTerm);
  return (project) => tests.every((test) => test(project));
}

function readTerm(term: string): (project: ProjectRecord) => boolean {
  const [, field, value] = /^([\w.-]+)[:=](.*)$/.exec(term) ?? [];
  if (field === undefined || value === undefined) throw badRequest('Request contains an invalid argument.', 'query');
  const wanted = wildcard(value.replaceAll(/^["']|["']$/g, ''));
  const label = /^labels\.(.+)$/.exec(field)?.[1];
  if (label !== undefined) return ({ labels }) => labels[label] !== undefined && wanted.test(labels[label]);
  const read = fields[field];
  if (read === undefined) throw badRequest(`Request contains an invalid argument: unknown field ${field}.`, 'query');
  return (project) => read(project).some((text) => wanted.test(text));
}

const fields: Readonly<Record<string, (project: ProjectRecord) => string[]>> = {
  id: ({ projectId }) => [projectId],
  projectId: ({ projectId }) => [projectId],
  projectNumber: ({ projectNumber }) => [projectNumber],
  name: ({ displayName }) => [displayName],
  displayName: ({ displayName }) => [displayName],
  parent: ({ parent }) => [parent],
  'parent.type': ({ parent }) => [parent.replace(/s?\/.*$/, '')],
  'parent.id': ({ parent }) => [parent.split('/')[1] ?? ''],
  state: ({ state }) => [state],
  lifecycleState: ({ state }) => [state],
  labels: ({ labels }) => Object.keys(labels),
};
