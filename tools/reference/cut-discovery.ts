/**
 * Cuts a discovery document of Google's to the methods that the simulated cloud serves, and to the schemas that these need.
 * Prose is left out. Run it by hand, after methods were added or removed:
 *
 *     npm run -s build && node dist/tools/reference/cut-discovery.js compute.v1 <Google's document>
 *
 * Methods can only be added from a document that has them. The present one is enough to remove some.
 */
import { readFileSync, writeFileSync } from 'node:fs';
import { apiDefinitions } from '../../local/cloud/apis.js';

type Tree = Record<string, unknown>;

interface Resource {
  readonly methods?: Readonly<Record<string, { readonly id: string }>>;
  readonly resources?: Readonly<Record<string, Resource>>;
}

interface Document extends Resource {
  readonly schemas: Readonly<Record<string, unknown>>;
}

/** Only the mark of a required field is kept. A field that is named `description` is an object. */
function withoutProse(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(withoutProse);
  if (typeof value !== 'object' || value === null) return value;
  const kept = Object.entries(value as Tree).filter(
    ([key, each]) =>
      key !== 'enumDescriptions' &&
      !(key === 'description' && typeof each === 'string' && !each.startsWith('Required.')),
  );
  return Object.fromEntries(
    kept.map(([key, each]) => [
      key,
      key === 'description' && typeof each === 'string' ? 'Required.' : withoutProse(each),
    ]),
  );
}

function cutResource({ methods = {}, resources = {} }: Resource, served: ReadonlySet<string>): Resource | undefined {
  const left = Object.entries(methods).filter(([, { id }]) => served.has(id));
  const inner = Object.entries(resources).flatMap(([name, each]) => {
    const cut = cutResource(each, served);
    return cut === undefined ? [] : [[name, cut] as const];
  });
  if (left.length === 0 && inner.length === 0) return undefined;
  return {
    ...(left.length === 0 ? {} : { methods: Object.fromEntries(left) }),
    ...(inner.length === 0 ? {} : { resources: Object.fromEntries(inner) }),
  };
}

function referencesIn(value: unknown): string[] {
  if (typeof value !== 'object' || value === null) return [];
  return Object.entries(value).flatMap(([key, each]) =>
    key === '$ref' && typeof each === 'string' ? [each] : referencesIn(each),
  );
}

function neededBy(resources: unknown, schemas: Document['schemas']): Tree {
  const needed = new Set(referencesIn(resources));
  // A set visits what is added to it meanwhile.
  for (const name of needed) for (const each of referencesIn(schemas[name])) needed.add(each);
  return Object.fromEntries(Object.entries(schemas).filter(([name]) => needed.has(name)));
}

const headings = ['name', 'version', 'revision', 'rootUrl', 'servicePath', 'batchPath'];

function cut(document: Document, served: ReadonlySet<string>): Tree {
  const { resources = {} } = cutResource(document, served) ?? {};
  return {
    ...Object.fromEntries(headings.map((key) => [key, (document as unknown as Tree)[key]])),
    resources,
    schemas: neededBy(resources, document.schemas),
  };
}

const [api, path] = process.argv.slice(2);
const definition = apiDefinitions.find((each) => each.api === api);
if (definition === undefined || path === undefined) {
  throw new Error('Name an API, such as compute.v1, and the path of its discovery document.');
}
const document = withoutProse(JSON.parse(readFileSync(path, 'utf8'))) as Document;
const made = cut(document, new Set(Object.keys(definition.handlers)));
writeFileSync(`local/cloud/discovery/${definition.api}.json`, JSON.stringify(made));
