import { expect } from 'chai';
import { apiDefinitions } from '../../local/cloud/apis.js';
import type { ApiName } from '../../local/cloud/kernel/api.js';
import { type Method, type Parameter, type Schema, type Surface, surfaceOf } from '../../local/cloud/kernel/surface.js';
import { bySeed, createRounds, searchMs, seed } from '../support/search.js';
import { owner, project, type ReadyCloud, readyCloud } from './ready-cloud.js';

const fuzzed = apiDefinitions.map(({ api }) => api);
/** Their methods are about what another API makes, the caller's own profile alone, or few constraints by name. */
const needsOthers: readonly ApiName[] = ['iamcredentials.v1', 'oslogin.v1', 'orgpolicy.v2'];
/** They wait, or take from the caller what all the rest needs. */
const untried = /\.wait$|organizations\.setIamPolicy$/;
/** Of all methods of an API. Nights have the time for more. */
const fewest = 2;
/** Of an API of few methods, so that some requests are good ones. */
const fewestRequests = 60;
/** By then any API has answered something well, or never does. */
const mostRounds = 5000;

/** Names that may be there, so that later requests find what earlier ones made. */
const names: Readonly<Record<string, readonly string[]>> = {
  project: [project, project, project, 'bare-project', 'unpaid-project', 'no-such-project'],
  projects: [project, project, project, 'bare-project', 'unpaid-project', 'no-such-project', '-'],
  projectId: [project, 'other-project'],
  zone: ['europe-west4-a', 'europe-west4-b', 'nowhere-1-a'],
  region: ['europe-west4', 'nowhere-1'],
  locations: ['europe-west4', 'global', '-'],
  folders: ['1', '2'],
  organizations: ['100', '101'],
  billingAccounts: ['000000-000000-000000', '111111-111111-111111'],
  services: ['compute.googleapis.com', 'dns.googleapis.com', 'nothing.googleapis.com'],
};
const words = ['a1', 'name-one', 'name-two', 'default', 'x', ''];
const texts = [
  ...words,
  'a.example.com.',
  '10.0.0.0/16',
  '10.0.0.5',
  'roles/viewer',
  `user:${owner}`,
  'e2-medium',
  '80',
  'A',
  '2020-01-01T00:00:00Z',
  '3600s',
  'YQ==',
  `projects/${project}/global/networks/default`,
  `projects/${project}/topics/a1`,
  'global/networks/name-one',
  'zones/europe-west4-a/machineTypes/e2-medium',
  'labels',
  'é"\\',
];

/** Requests of every shape that the surface allows, and a little beyond. */
function generator(random: () => number) {
  const pick = <T>(from: readonly T[]): T => from[Math.floor(random() * from.length)] as T;
  const inPath = (name: string): string => encodeURIComponent(pick(names[name] ?? words.slice(0, 5)));

  function path({ parameters = {}, path: template }: Method): string {
    return template.replaceAll(/\{(\+?)([^}]+)\}/g, (_, reserved: string, name: string) => {
      if (reserved === '') return inPath(name);
      const pattern = (parameters[name]?.pattern ?? '^[^/]+$').replaceAll(/\[\^\/\]\+|\.\*/g, '*');
      const parts = pattern.replaceAll(/[\^$]/g, '').split('/');
      // `services.get` has the bare pattern of two names: they are a project's.
      if (parts[0] === '*' && parts.length > 1) parts[0] = 'projects';
      return parts.map((part, i) => (part === '*' ? inPath(parts[i - 1] ?? name) : part)).join('/');
    });
  }

  function text(of: Pick<Parameter, 'enum' | 'format' | 'type'>): string {
    if (of.enum !== undefined && random() < 0.9) return pick(of.enum);
    if (of.type === 'boolean') return pick(['true', 'false']);
    if (of.type === 'integer') return pick(['0', '1', '5', '1000', '-1']);
    return pick(texts);
  }

  function query({ parameters = {} }: Method): string {
    const params = new URLSearchParams();
    for (const [name, parameter] of Object.entries(parameters)) {
      const wanted = parameter.description?.startsWith('Required') === true || parameter.required === true;
      if (parameter.location === 'query' && (wanted || random() < 0.2))
        params.append(name, pick(names[name] ?? [text(parameter)]));
    }
    return params.size === 0 ? '' : `?${params}`;
  }

  function value(surface: Surface, schema: Schema, depth: number): unknown {
    const resolved = schema.$ref === undefined ? schema : (surface.schemas[schema.$ref] ?? {});
    if (random() < 0.01) return pick([null, 1, 'x', [], {}, true]);
    if (resolved.type === 'array')
      return Array.from({ length: Math.floor(random() * 3) }, () => value(surface, resolved.items ?? {}, depth - 1));
    if (resolved.type === 'object') return object(surface, resolved, depth);
    if (resolved.type === 'boolean') return random() < 0.5;
    if (resolved.type === 'integer' || resolved.type === 'number') return pick([0, 1, 10, 100, 300, 10_000]);
    if (resolved.enum !== undefined) return pick(resolved.enum);
    switch (resolved.format) {
      case 'int64':
      case 'uint64':
        return pick(['0', '10', '50', '1000']);
      case 'byte':
        return pick(['', 'YQ==', 'AAAA']);
      case 'google-duration':
        return pick(['0s', '10s', '600s', '86400s']);
      case 'google-datetime':
        return pick(['2020-01-01T00:00:00Z', '2099-01-01T00:00:00Z']);
      default:
        return pick(texts);
    }
  }

  function object(surface: Surface, schema: Schema, depth: number): unknown {
    if (schema.additionalProperties !== undefined)
      return { [pick(words)]: value(surface, schema.additionalProperties, depth - 1) };
    const fields = Object.entries(schema.properties ?? {}).filter(([, field]) => {
      const required = field.annotations !== undefined || field.description?.startsWith('Required') === true;
      return required || (depth > 0 && random() < 0.35);
    });
    return Object.fromEntries(
      fields.map(([name, field]) => [name, name === 'name' ? pick(words) : value(surface, field, depth - 1)]),
    );
  }

  return (surface: Surface, method: Method) => ({
    path: path(method) + query(method),
    body: method.request === undefined ? undefined : value(surface, { $ref: method.request.$ref }, 3),
  });
}

describe('whatever is sent to the simulated cloud', () => {
  let cloud: ReadyCloud;
  beforeEach(async () => {
    cloud = await readyCloud({ seed });
  });
  afterEach(() => cloud.close());

  for (const api of fuzzed) {
    it(`is answered by ${api} as Google could have answered it ${bySeed}`, async () => {
      const surface = surfaceOf(api);
      const generate = generator(cloud.world.random);
      const host = surface.host.replace('.googleapis.com', '') as Parameters<ReadyCloud['call']>[0];
      const seen = new Map<number, number>();
      const methods = new Set(surface.templates.map(({ method }) => method).filter(({ id }) => !untried.test(id)));
      const goesOn = createRounds(Math.max(fewest, fewestRequests / methods.size), searchMs / fuzzed.length);
      // Among bad requests there must be good ones, or the bad ones prove little. How soon one comes is chance.
      const wantsGood = () => !needsOthers.includes(api) && !seen.has(200) && rounds < mostRounds;
      let rounds = 0;
      while (goesOn() || wantsGood()) {
        rounds += 1;
        for (const method of methods) {
          const { path, body } = generate(surface, method);
          const reply = await cloud.call(host, `${method.httpMethod} ${surface.base}${path}`, body);
          // Some answer 501 for one service and 200 for another. So all are asked until something is answered well.
          if (reply.status === 501 && seen.has(200)) methods.delete(method);
          seen.set(reply.status, (seen.get(reply.status) ?? 0) + 1);
          expect(reply.status, `${method.id} ${path} ${JSON.stringify(body)}: ${reply.message}`).not.to.equal(500);
          // Deleted, it would answer all the rest with the same refusal.
          if (method.id === 'cloudresourcemanager.projects.delete') {
            await cloud.call('cloudresourcemanager', `POST /v1/projects/${project}:undelete`, {});
          }
        }
      }
      if (!needsOthers.includes(api)) expect([...seen.keys()]).to.include(200);
    }).timeout(searchMs + 240_000);
  }
});
