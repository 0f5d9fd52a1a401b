import { expect } from 'chai';
import { openApiDocument } from '../../functions/http/openapi.js';
import { problemRoutes } from '../../shared/api.js';
import { flagOf, isLocal, isSecret, optionNames } from '../../shared/bootstrap/options.js';
import { bootstrapRoutes } from '../../shared/bootstrap/routes.js';

interface Operation {
  readonly operationId: string;
  readonly security?: unknown[];
  readonly parameters: { readonly name: string; readonly in: string; readonly required: boolean }[];
  readonly requestBody?: { readonly content: Record<string, { readonly schema: Schema }> };
  readonly responses: Record<string, { readonly content: Record<string, unknown> }>;
}
interface Schema {
  readonly properties: Record<string, Schema & { readonly writeOnly?: boolean; readonly description?: string }>;
  readonly additionalProperties?: boolean;
}

describe('the OpenAPI document', () => {
  const routes = { ...bootstrapRoutes, ...problemRoutes };
  const document = JSON.parse(JSON.stringify(openApiDocument({ title: 'plinth', version: '1' }, routes))) as {
    readonly openapi: string;
    readonly paths: Record<string, Record<string, Operation>>;
  };

  it('has every operation, at its path and method, with its parameters and replies', () => {
    expect(document.openapi).to.equal('3.1.0');
    for (const [operationId, route] of Object.entries(routes)) {
      const operation = document.paths[route.path]?.[route.method.toLowerCase()];
      expect(operation?.operationId).to.equal(operationId);
      const named = [...route.path.matchAll(/\{(\w+)\}/g)].map(([, name]) => name);
      const inPath = operation?.parameters.filter((each) => each.in === 'path');
      expect(inPath?.map(({ name }) => name)).to.deep.equal(named);
      expect(inPath?.every(({ required }) => required)).to.equal(true);
      expect(Object.keys(operation?.responses ?? {})).to.include.members([...Object.keys(route.replies), '404', '500']);
      expect('401' in (operation?.responses ?? {})).to.equal(route.caller === 'known');
    }
  });

  it('describes each option that travels by the help of its flag, secrets as write-only', () => {
    const post = document.paths['/bootstraps']?.['post'] as Required<Operation>;
    const schema = post.requestBody.content['application/json']?.schema as Schema;
    const options = schema.properties['options'] as Schema;
    expect(options.additionalProperties).to.equal(false);
    const travelling = optionNames.filter((option) => !isLocal(option));
    expect(Object.keys(options.properties)).to.have.members(travelling);
    for (const option of travelling) {
      expect(options.properties[option]?.description).to.contain(flagOf(option).help);
      expect(options.properties[option]?.writeOnly ?? false).to.equal(isSecret(option));
    }
  });
});
