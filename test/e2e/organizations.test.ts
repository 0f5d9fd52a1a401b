/** The story of organizations as people live it: the command line, the real function, over HTTP. */
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { expect } from 'chai';
import { createStack, type Stack } from '../../local/stack/stack.js';
import type { Member, Organization, OrganizationEvent } from '../../shared/organization/organization.js';
import type { MigrationPreview, Team } from '../../shared/organization/team.js';
import { createSandbox, type Ran, type Sandbox } from '../cli/run-cli.js';

interface Result {
  readonly exitCode: number;
  readonly problem?: { readonly code: string; readonly detail: string; readonly members?: readonly string[] };
  readonly organization: Organization;
  readonly organizations: readonly Organization[];
  readonly team: Team;
  readonly teams: readonly Team[];
  readonly members: readonly Member[];
  readonly events: readonly OrganizationEvent[];
  readonly preview: MigrationPreview;
  readonly removedMembers: readonly string[];
}

const emails = (members: readonly Member[]): string[] => members.map(({ email }) => email);

describe('organizations, by the command line', function () {
  this.timeout(240_000);
  let stack: Stack;
  let sandbox: Sandbox;
  const tokens: Record<string, string> = {};
  const [alice, bob, zoe] = ['alice@example.com', 'bob@example.com', 'zoe@example.org'];

  before(async () => {
    stack = await createStack();
    sandbox = createSandbox(stack.url);
    for (const email of [alice, bob, zoe]) tokens[email] = (await stack.tokens(email)).idToken;
  });
  after(async () => {
    sandbox?.remove();
    await stack?.close();
  });

  const plinth = (email: string, ...args: string[]): Promise<Ran> =>
    sandbox.run(args, { PLINTH_TOKEN: tokens[email] ?? '' });
  const asking = async (email: string, ...args: string[]): Promise<Result> => {
    const { code, stdout } = await plinth(email, ...args, '--json');
    const result = JSON.parse(stdout) as Result;
    expect(result.exitCode).to.equal(code);
    return result;
  };

  it('a team moves into an organization: refused with the outsiders named, one added, the other removed, the rest stay', async () => {
    const { organization } = await asking(alice, 'org', 'create', 'acme');
    const { organizations } = await asking(alice, 'org', 'list');
    expect(organizations).to.deep.equal([{ ...organization, role: 'admin' }]);
    const { team } = await asking(alice, 'team', 'create', 'platform');
    const id = String(team.teamId);
    await plinth(alice, 'team', 'add-member', id, bob);
    await plinth(alice, 'team', 'add-member', id, zoe);
    const migrate = ['team', 'migrate', id, '--organization', 'acme'];

    const refused = await asking(alice, ...migrate);
    expect(refused).to.have.property('exitCode', 2);
    expect(refused.problem?.detail).to.equal(
      `Team ${id} cannot be migrated because these members are not members of the new organization: ${bob}, ${zoe}. Add them to the organization first, or use the force option to remove them from the team.`,
    );
    expect(refused.problem?.members).to.deep.equal([bob, zoe]);
    expect((await asking(alice, 'org', 'teams', 'acme')).teams).to.deep.equal([]);

    expect((await plinth(alice, 'org', 'add-member', organization.id, bob)).code).to.equal(0);
    const { preview } = await asking(alice, ...migrate, '--dry-run');
    expect([emails(preview.stays), emails(preview.leaves)]).to.deep.equal([[alice, bob], [zoe]]);
    expect(emails((await asking(alice, 'team', 'members', id)).members)).to.deep.equal([alice, bob, zoe]);

    const migrated = await asking(alice, ...migrate, '--force', '--yes');
    expect([migrated.exitCode, migrated.removedMembers]).to.deep.equal([0, [zoe]]);
    expect(emails((await asking(alice, 'team', 'members', id)).members)).to.deep.equal([alice, bob]);
    expect((await asking(alice, 'org', 'teams', 'acme')).teams).to.deep.equal([
      { ...team, organizationId: organization.id },
    ]);
    expect((await asking(zoe, 'team', 'list')).teams).to.deep.equal([]);

    expect(await asking(alice, ...migrate), 'again').to.include({ exitCode: 0 });
    const { events } = await asking(alice, 'org', 'events', 'acme');
    expect(events.map(({ action }) => action)).to.deep.equal(['team-migrated', 'member-added', 'organization-created']);
    expect((await plinth(alice, 'org', 'events', 'acme')).stdout).to.include(
      'platform, standalone, 3 members → platform, 2 members',
    );
    const few = await plinth(alice, 'org', 'events', 'acme', '--limit', '2');
    expect(few.stderr).to.include('There are older ones');
  });

  it('who goes from the organization goes from its teams, and the last admin stays', async () => {
    const held = await asking(alice, 'org', 'remove-member', 'acme', bob);
    expect(held).to.have.property('exitCode', 5);
    expect(held.problem).to.have.property('teams').with.lengthOf(1);
    expect((await plinth(alice, 'org', 'remove-member', 'acme', bob, '--force', '--yes')).code).to.equal(0);
    const { teams } = await asking(alice, 'org', 'teams', 'acme');
    expect(emails((await asking(alice, 'team', 'members', String(teams[0]?.teamId))).members)).to.deep.equal([alice]);
    for (const args of [
      ['org', 'remove-member', 'acme', alice],
      ['org', 'set-role', 'acme', alice, 'member'],
    ]) {
      const { code, stderr } = await plinth(alice, ...args);
      expect(code).to.equal(5);
      expect(stderr).to.include('last admin');
    }
    await plinth(alice, 'org', 'add-member', 'acme', bob, '--role', 'admin');
    expect((await plinth(bob, 'org', 'set-role', 'acme', alice, 'member')).stdout).to.include('is now a member');
    expect((await plinth(alice, 'org', 'add-member', 'acme', zoe)).code, 'no admin any more').to.equal(3);
  });

  it('an answer that is lost on its way makes nothing twice', async () => {
    const lossy = await startLossyProxy(stack.url);
    try {
      const made = await sandbox.run(['org', 'create', 'once'], {
        PLINTH_TOKEN: tokens[alice] ?? '',
        PLINTH_ENDPOINT: lossy.url,
      });
      expect(made.code, made.stderr).to.equal(0);
      expect(lossy.statuses()).to.deep.equal([201, 201]);
      const { organizations } = await asking(alice, 'org', 'list');
      const named = organizations.filter(({ name }) => name === 'once');
      expect(named).to.have.lengthOf(1);
      expect(made.stdout).to.include(named[0]?.id);
    } finally {
      await lossy.close();
    }
  });

  it('what one may not see is not there', async () => {
    const { organizations } = await asking(alice, 'org', 'list');
    const id = organizations[0]?.id ?? '';
    for (const args of [
      ['org', 'members', id],
      ['org', 'teams', id],
      ['team', 'members', '1'],
      ['team', 'migrate', '1', '--organization', id],
    ]) {
      expect((await plinth(zoe, ...args)).code, args.join(' ')).to.equal(4);
    }
  });
});

/** Hands on what is asked, and loses the first answer. */
async function startLossyProxy(target: string) {
  const statuses: number[] = [];
  const server = createServer(async (request, response) => {
    const { authorization = '', 'idempotency-key': key = '', 'content-type': type = '' } = request.headers;
    const reply = await fetch(`${target}${request.url}`, {
      method: request.method ?? 'GET',
      headers: { authorization, 'idempotency-key': String(key), 'content-type': type },
      body: await text(request),
    });
    statuses.push(reply.status);
    if (statuses.length === 1) response.destroy();
    else response.writeHead(reply.status, { 'content-type': 'application/json' }).end(await reply.text());
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    statuses: () => statuses,
    close: async () => {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}
