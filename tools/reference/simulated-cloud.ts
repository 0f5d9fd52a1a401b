/** The page that says which of Google's methods the simulated cloud answers, from its handlers and the surface. */
import { apiDefinitions, apis } from '../../local/cloud/apis.js';
import type { ApiDefinition, SimulatedApi } from '../../local/cloud/kernel/api.js';
import { knownComputeMethods } from '../../local/cloud/kernel/known.js';
import { surfaceOf } from '../../local/cloud/kernel/surface.js';
import { whyServed } from '../../local/cloud/why-served.js';

/** Compute's document here is cut. The names of all its methods are data of their own. */
const allOf = ({ api }: ApiDefinition): number =>
  api === 'compute.v1'
    ? Object.values(knownComputeMethods()).flatMap((verbs) => verbs.split(' ')).length
    : surfaceOf(api).methods.size;

/** Methods without the name of the API, by collection: `instances`: `get`, `list`. */
function collectionsOf({ handlers }: ApiDefinition): string {
  const verbs = new Map<string, string[]>();
  for (const id of Object.keys(handlers).sort()) {
    const parts = id.split('.').slice(1);
    const collection = parts.slice(0, -1).join('.');
    verbs.set(collection, [...(verbs.get(collection) ?? []), parts.at(-1) ?? '']);
  }
  return [...verbs].map(([collection, each]) => `\`${collection}\`: ${each.join(', ')}`).join('<br>');
}

const exceptions = (): string[] =>
  Object.entries(whyServed).flatMap(([api, reasons]) =>
    Object.entries(reasons.exceptions ?? {}).map(([method, why]) => `| \`${api}\` | \`${method}\` | ${why} |`),
  );

function row(definition: ApiDefinition): string {
  const host = surfaceOf(definition.api).host.replace('.googleapis.com', '') as SimulatedApi;
  const count = `${Object.keys(definition.handlers).length} of ${allOf(definition)}`;
  return `| ${apis[host].title}, \`${definition.api}\` | ${count} | ${collectionsOf(definition)} |`;
}

export function simulatedCloud(): string {
  return [
    '# The simulated cloud',
    '',
    'Generated from the handlers and from the surface of the APIs (`npm run docs`).',
    '',
    'Each row is an API. The second column counts the methods that are simulated, of all that Google has.',
    '',
    'Whatever Google has and the simulation lacks answers 501, with the reason `SIMULATOR_LIMIT`. This holds for methods, versions, services and machine types. Whatever Google lacks is refused in its own words.',
    '',
    '| API | methods | which |',
    '| --- | --- | --- |',
    ...apiDefinitions.map(row),
    '',
    'Any service of Google can be enabled in a project. That is only a switch: calls to a service without a row answer 501.',
    '',
    '## Why a method is served',
    '',
    "plinth calls it, a command in README, docs/use or docs/operate does, or first contact. Or gcloud or Terraform's provider needs it for what plinth creates. `local/cloud/why-served.ts` lists each method under its reason. gcloud repeats a request that is answered with 5xx for half a minute before it reports a 501. These methods stay by exception:",
    '',
    '| API | method | why |',
    '| --- | --- | --- |',
    ...exceptions(),
    '',
    '## What replies honour',
    '',
    '- `fields` keeps the named fields of a reply.',
    '- `enum-encoding=int`, in `alt` or `$alt`, writes enums as numbers of the published protos. An enum stays a name where no proto is known.',
    '- `$.xgafv=2` writes errors without `errors[]`.',
    '- `orderBy` of compute takes `name` and `creationTimestamp desc`.',
    '',
  ].join('\n');
}
