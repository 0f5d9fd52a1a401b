/** The form of both documents: what is in them is named, described and open, and each example in them is one. */
import { request } from 'node:http';
import { Validator } from '@seriousme/openapi-schema-validator';
import { expect } from 'chai';
import { bootstrapsApi } from '../../functions/http/bootstraps/api.js';
import { openApiDocument } from '../../functions/http/openapi/openapi.js';
import { organizationsApi } from '../../functions/http/organizations/api.js';
import { flagOf, isLocal, isSecret, optionNames } from '../../shared/bootstrap/options.js';
import {
  type Document,
  examplesOf,
  type Json,
  type MediaType,
  type Operation,
  type ReadDocument,
  readDocument,
} from '../support/api-document.js';
import { alice, bob, outsider, useOrganizations } from './organizations-world.js';

const documents = [
  ['organizations', organizationsApi],
  ['bootstraps', bootstrapsApi],
] as const;

const written = (api: (typeof documents)[number][1]): ReadDocument =>
  readDocument(JSON.parse(JSON.stringify(openApiDocument(api))) as Document);

/** Each object in a document, the keys that lead to it, and nothing twice. */
function* within(
  node: unknown,
  path: readonly string[] = [],
): Generator<readonly [path: readonly string[], node: Json]> {
  if (typeof node !== 'object' || node === null) return;
  if (!Array.isArray(node)) yield [path, node as Json];
  for (const [key, child] of Object.entries(node)) {
    // Examples are values, not parts of the document.
    if (key !== 'example' && key !== 'examples') yield* within(child, [...path, key]);
  }
}

const said = (text: unknown): boolean => typeof text === 'string' && text.length >= 4;
const isNamed = (schema: Json): boolean => {
  const parts = (schema['oneOf'] ?? schema['anyOf']) as Json[] | undefined;
  if (parts !== undefined) return parts.every(isNamed);
  return '$ref' in schema || (schema['type'] === 'array' && isNamed(schema['items'] as Json));
};

for (const [name, api] of documents) {
  describe(`the OpenAPI document of ${name}`, () => {
    const read = written(api);
    const { document, operations } = read;
    const media = (of: Operation): [string, MediaType][] => [
      ...Object.entries(of.requestBody?.content ?? {}),
      ...Object.keys(of.responses).flatMap((status) => Object.entries(read.response(of, status)?.content ?? {})),
    ];

    it('has every operation, at its path and method, with its parameters and replies', () => {
      expect(document.openapi).to.equal('3.1.0');
      expect(document.servers).to.deep.include({ url: '/', description: 'Where this document is served' });
      for (const [operationId, route] of Object.entries(api.routes)) {
        const operation = document.paths[route.path]?.[route.method.toLowerCase()] as Operation;
        expect(operation?.operationId).to.equal(operationId);
        const named = [...route.path.matchAll(/\{(\w+)\}/g)].map(([, each]) => each);
        const inPath = read.parameters(operation).filter((each) => each.in === 'path');
        expect(inPath.map((each) => each.name)).to.deep.equal(named);
        expect(inPath.every((each) => each.required)).to.equal(true);
        expect(Object.keys(operation.responses)).to.include.members([...Object.keys(route.replies), '404', '500']);
        expect('401' in operation.responses).to.equal(route.caller === 'known');
      }
    });

    it("is valid by the standard's own schema, and every reference in it leads somewhere", async () => {
      const validator = new Validator();
      // It takes the document for its own.
      const { valid, errors } = await validator.validate({ ...structuredClone(document) });
      expect(errors ?? [], JSON.stringify(errors)).to.deep.equal([]);
      expect(valid).to.equal(true);
      validator.resolveRefs();
    });

    it('says of everything what it is', () => {
      const tags = new Map(document.tags?.map((tag) => [tag.name, tag.description]));
      expect([...tags.values()].every(said)).to.equal(true);
      expect(said(document.info['description'])).to.equal(true);
      const mute: string[] = [];
      for (const operation of operations) {
        const { operationId, summary, description, tags: own = [] } = operation;
        if (!said(description) || description === summary) mute.push(operationId);
        expect(own.length, operationId).to.equal(1);
        expect(tags.has(own[0] ?? ''), `${operationId}: ${own[0]}`).to.equal(true);
        for (const parameter of read.parameters(operation)) {
          if (!said(parameter.description)) mute.push(`${operationId}: ${parameter.name}`);
          if (!('example' in parameter)) mute.push(`${operationId}: ${parameter.name}, an example`);
        }
        for (const status of Object.keys(operation.responses)) {
          if (!said(read.response(operation, status)?.description)) mute.push(`${operationId}: ${status}`);
        }
        for (const [type, each] of media(operation)) {
          if (type.endsWith('json') && examplesOf(each).length === 0) mute.push(`${operationId}: ${type}, an example`);
        }
      }
      for (const [each, schema] of Object.entries(document.components['schemas'] ?? {})) {
        if (!said(schema['description'])) mute.push(each);
        for (const [field, property] of Object.entries((schema['properties'] ?? {}) as Record<string, Json>)) {
          const { description, $ref } = { ...read.resolved<Json>(property), ...property };
          if (!said(description) && $ref === undefined && !('const' in property)) mute.push(`${each}.${field}`);
        }
      }
      expect(mute).to.deep.equal([]);
    });

    it('names each body and reply', () => {
      const inline = operations.flatMap((operation) =>
        media(operation)
          .filter(([type, { schema }]) => !type.startsWith('text/') && !isNamed(schema))
          .map(([type]) => `${operation.operationId}: ${type}`),
      );
      expect(inline).to.deep.equal([]);
      const text = JSON.stringify(document);
      for (const [kind, all] of Object.entries(document.components)) {
        if (kind === 'securitySchemes') continue;
        for (const each of Object.keys(all)) expect(text).to.contain(`"#/components/${kind}/${each}"`);
      }
    });

    it('lets replies grow', () => {
      const closed = new Set<string>();
      const seen = new Set<string>();
      const look = (node: unknown, from: string): void => {
        for (const [, each] of within(node)) {
          if (each['additionalProperties'] === false) closed.add(from);
          const { $ref } = each;
          if (typeof $ref !== 'string' || seen.has($ref)) continue;
          seen.add($ref);
          look(read.resolved(each), $ref);
        }
      };
      for (const operation of operations) look(operation.responses, operation.operationId);
      expect([...closed]).to.deep.equal([]);
    });

    it('has examples that are valid', () => {
      const faults: string[] = [];
      const check = (where: string, schema: Json, value: unknown): void => {
        const found = read.faults(schema, value);
        if (found !== undefined) faults.push(`${where}: ${found}`);
      };
      for (const operation of operations) {
        for (const [type, each] of media(operation)) {
          for (const example of examplesOf(each)) check(`${operation.operationId} ${type}`, each.schema, example);
        }
        for (const parameter of read.parameters(operation)) {
          check(`${operation.operationId} ${parameter.name}`, parameter.schema, parameter.example);
        }
      }
      for (const [path, node] of within(document.components['schemas'])) {
        for (const example of (node['examples'] ?? []) as unknown[]) check(path.join('.'), node, example);
      }
      expect(faults).to.deep.equal([]);
      expect(JSON.stringify(document)).not.to.contain('"…"');
    });
  });
}

describe('the OpenAPI documents', () => {
  const world = useOrganizations();
  const organizations = written(organizationsApi);
  const bootstraps = written(bootstrapsApi);

  it('describe each option that travels by the help of its flag, secrets as write-only', () => {
    const body = bootstraps.operation('beginBootstrap').requestBody?.content['application/json']?.schema as Json;
    const { properties } = bootstraps.resolved<{ properties: Record<string, Json> }>(body);
    const options = bootstraps.resolved<{
      properties: Record<string, Json>;
      additionalProperties: unknown;
      required: string[];
    }>(properties['options'] as Json);
    expect(options.additionalProperties).to.equal(false);
    const travelling = optionNames.filter((option) => !isLocal(option));
    expect(Object.keys(options.properties)).to.have.members(travelling);
    expect(options.required).to.have.members(travelling.filter((option) => flagOf(option).required));
    for (const option of travelling) {
      expect(options.properties[option]?.['description']).to.contain(flagOf(option).help);
      expect(options.properties[option]?.['writeOnly'] ?? false).to.equal(isSecret(option));
    }
  });

  it('say what the replies are that are no JSON', () => {
    const said = (operationId: string, type: string) =>
      bootstraps.response(bootstraps.operation(operationId), 200)?.content?.[type];
    expect(said('followBootstrap', 'text/event-stream')?.schema).to.deep.equal({
      $ref: '#/components/schemas/StreamItem',
    });
    for (const [operationId, named] of [
      ['getConfig', 'InstallConfig'],
      ['getSecrets', 'EncryptedSecretsFile'],
    ] as const) {
      const schema = said(operationId, 'text/yaml')?.schema;
      expect(schema).to.deep.include({ type: 'string', format: 'yaml', contentMediaType: 'application/yaml' });
      expect(schema?.['contentSchema']).to.deep.equal({ $ref: `#/components/schemas/${named}` });
    }
  });

  it('show who stands in the way of a migration, as it is answered', async () => {
    const organizationId = await world.organization({ [bob]: 'member' });
    const teamId = await world.team({ [outsider]: 'member' });
    const asked = { as: alice, params: { teamId }, body: { organizationId } };
    const refused = await world.refused('members-outside', 'migrateTeam', asked);
    const described = organizations.response(organizations.operation('migrateTeam'), 400);
    const schema = described?.content?.['application/problem+json']?.schema as Json;
    expect(organizations.faults(schema, refused)).to.equal(undefined);
    const { members: _, ...without } = refused;
    expect(organizations.faults(schema, without)).to.be.a('string');
    expect(organizations.faults(schema, { ...refused, members: 'x' })).to.be.a('string');
  });

  it('know of headers that are too large, which Node itself refuses, and of bodies', async () => {
    const headers = { 'x-large': 'x'.repeat(20_000) };
    const status = await new Promise<number | undefined>((resolve, reject) => {
      request(`${world.server.origin}/organizations`, { headers }, (reply) => resolve(reply.resume().statusCode))
        .on('error', reject)
        .end();
    });
    expect(status).to.equal(431);
    const { status: large } = await world.server.ask('createTeam', { body: { name: 'x'.repeat(65 * 1024) } });
    expect(large).to.equal(413);
    for (const read of [organizations, bootstraps]) {
      for (const operation of read.operations) {
        expect(read.response(operation, 431)?.content).to.equal(undefined);
        expect(Object.keys(operation.responses)).to.include.members(['413', '431']);
      }
    }
  });
});
