import { Validator } from '@seriousme/openapi-schema-validator';
import { expect } from 'chai';
import { createMemoryStore } from '../../local/functions/memory-store.js';
import { organizationRoutes } from '../../shared/organization/routes.js';
import { createIssuer, type Issuer } from '../http/issuer.js';
import { createOrganizationsServer, type OrganizationsServer } from './organizations-server.js';

interface Document {
  readonly openapi: string;
  readonly paths: Record<string, Record<string, { readonly operationId: string; readonly responses: object }>>;
}

/** The validator takes the document for its own. */
const copyOf = (document: Document): Record<string, unknown> => ({ ...structuredClone(document) });

describe('the OpenAPI document of the organization API', () => {
  let issuer: Issuer;
  let server: OrganizationsServer;
  let document: Document;
  before(async () => {
    issuer = await createIssuer();
    server = await createOrganizationsServer(issuer, { store: createMemoryStore() });
    const reply = await fetch(`${server.origin}/openapi.json`);
    expect(reply.status).to.equal(200);
    expect(reply.headers.get('content-type')).to.contain('application/json');
    document = (await reply.json()) as Document;
  });
  after(() => {
    server.close();
    issuer.close();
  });

  it("is valid by the standard's own schema, and every reference in it leads somewhere", async () => {
    const validator = new Validator();
    const { valid, errors } = await validator.validate(copyOf(document));
    expect(errors ?? [], JSON.stringify(errors)).to.deep.equal([]);
    expect(valid).to.equal(true);
    expect(validator.version).to.equal('3.1');
    validator.resolveRefs();
  });

  it('would not be valid with a mistake in it', async () => {
    const wrong = copyOf(document) as unknown as Document;
    (wrong.paths['/organizations']?.['get'] as { responses: object }).responses = [];
    expect((await new Validator().validate(copyOf(wrong))).valid).to.equal(false);
  });

  it('has every operation, each name once', () => {
    const found = Object.values(document.paths).flatMap((path) =>
      Object.values(path).map(({ operationId }) => operationId),
    );
    expect(found).to.include.members(Object.keys(organizationRoutes));
    expect(new Set(found).size).to.equal(found.length);
    for (const { path, method, replies } of Object.values(organizationRoutes)) {
      const operation = document.paths[path]?.[method.toLowerCase()];
      expect(operation?.responses).to.include.keys(...Object.keys(replies), '400', '401', '404');
    }
  });
});
