/** What is wrong with a request, in words for people: each fault is a sentence, and none is a validator's. */
import { expect } from 'chai';
import type { ProblemBody } from '../../shared/problems.js';
import type { Asked, Operation } from '../organizations/organizations-server.js';
import { useOrganizations } from './organizations-world.js';

const organizationId = '00000000-0000-4000-8000-000000000000';
const params = { organizationId };

const cases: readonly (readonly [detail: string, operation: Operation, asked: Asked])[] = [
  ['name is missing.', 'createOrganization', { body: {} }],
  ['name must be text, not a number.', 'createOrganization', { body: { name: 5 } }],
  ['name must be text, not null.', 'createOrganization', { body: { name: null } }],
  ['name must not be empty. colour is not known here.', 'createOrganization', { body: { name: ' ', colour: 'red' } }],
  ['body must be an object, not a list.', 'createOrganization', { body: [] }],
  [
    'email must be an e-mail address. role must be admin or member.',
    'addOrganizationMember',
    { params, body: { email: 'x', role: 'king' } },
  ],
  ['query.limit must be at most 200.', 'listOrganizationMembers', { params, query: { limit: '201' } }],
  ['query.limit must be a whole number from 1 to 200.', 'listOrganizationMembers', { params, query: { limit: '0' } }],
  ['path.organizationId must be a UUID.', 'getOrganization', { params: { organizationId: 'x' } }],
  ['path.teamId must be at most 2147483647.', 'getTeam', { params: { teamId: 2147483648 } }],
  [
    'force must be true or false, not text.',
    'migrateTeam',
    { params: { teamId: 1 }, body: { organizationId, force: 'yes' } },
  ],
  [
    'header.if-match must have at most 1000 characters.',
    'migrateTeam',
    { params: { teamId: 1 }, body: { organizationId }, headers: { 'if-match': 'x'.repeat(1001) } },
  ],
  [
    'query.cursor is no cursor of this list for this caller; begin again without it.',
    'listTeams',
    { query: { limit: '1', cursor: 'x' } },
  ],
];

describe('what is wrong with a request', () => {
  const world = useOrganizations();
  for (const [detail, operation, asked] of cases) {
    it(`is told in plain words: ${detail}`, async () => {
      const { status, body } = await world.server.ask(operation, asked);
      expect(status).to.equal(400);
      expect((body as ProblemBody).detail).to.equal(detail);
      for (const { path, message } of (body as ProblemBody).errors ?? [])
        expect(detail).to.include(`${path} ${message}.`);
    });
  }
});
