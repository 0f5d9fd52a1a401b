import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import type { MigrationPreview } from '../../shared/organization/team.js';
import type { Sandbox } from './run-cli.js';
import { json, refuse, type Service } from './service.js';
import { useService } from './use-service.js';

const acme = '7d8b9c1e-4f5a-4b6c-8d7e-9f0a1b2c3d4e';
const other = '11111111-2222-4333-8444-555555555555';
const createdAt = '2026-01-31T12:00:00.000Z';
const organization = { id: acme, name: 'acme', role: 'admin', createdAt };
const alice = { email: 'alice@example.com', role: 'admin' } as const;
const bob = { email: 'bob@example.com', role: 'member' } as const;
const zoe = { email: 'zoe@example.org', role: 'member' } as const;
const moved = { teamId: 42, name: 'platform', organizationId: acme, createdAt };
const team = { ...moved, role: 'admin' };

const invitation = {
  ...{ organizationId: acme, email: 'zoe@example.org', role: 'member', invitedBy: 'alice@example.com' },
  ...{ invitedAt: createdAt, expiresAt: '2026-02-14T12:00:00.000Z', state: 'pending' },
};

const transfer = {
  ...{ id: acme, teamId: 42, organizationId: acme, force: false, proposedBy: 'alice@example.com' },
  ...{ proposedAt: createdAt, expiresAt: '2026-02-14T12:00:00.000Z' },
};

const answers = (status: number, body: unknown, headers: Record<string, string> = {}) =>
  ((response) => {
    for (const [name, value] of Object.entries(headers)) response.setHeader(name, value);
    if (status === 204) response.writeHead(204).end();
    else json(response, status, body);
  }) satisfies Parameters<Service['instead']['set']>[1][number];

describe('plinth org and plinth team', () => {
  let service: Service;
  let sandbox: Sandbox;
  useService((each) => {
    ({ service, sandbox } = each);
  });
  const run = (...args: string[]) => sandbox.run(args);
  const script = (name: string, ...some: Parameters<Service['instead']['set']>[1]) => service.instead.set(name, some);
  const asked = () => service.seen.map(({ method, path }) => `${method} ${path}`);

  const cases: ReadonlyArray<{
    readonly args: string;
    readonly call: string;
    readonly sends?: unknown;
    readonly status?: number;
    readonly reply?: unknown;
    readonly shows: readonly (string | RegExp)[];
    readonly result: string;
  }> = [
    {
      args: 'org list',
      call: 'GET /organizations',
      reply: [organization],
      shows: [/ID +NAME +ROLE +CREATED/, new RegExp(`${acme}  acme  admin +2026-01-31 12:00 UTC`)],
      result: 'organizations',
    },
    { args: 'org list', call: 'GET /organizations', reply: [], shows: ['no organization'], result: 'organizations' },
    {
      args: 'org create acme',
      call: 'POST /organizations',
      sends: { name: 'acme' },
      status: 201,
      reply: organization,
      shows: [`Organization acme is made: ${acme}`],
      result: 'organization',
    },
    {
      args: 'org list --deleted',
      call: 'GET /organizations?deleted=true',
      reply: [{ ...organization, deletedAt: '2026-02-01T12:00:00.000Z' }],
      shows: [/ID +NAME +ROLE +DELETED/, '2026-02-01 12:00 UTC'],
      result: 'organizations',
    },
    {
      args: `org ceilings ${acme}`,
      call: `GET /organizations/${acme}`,
      reply: { ...organization, ceilings: { living: 5 } },
      shows: ['Living bootstraps  at most 5', 'Cost in a month    no ceiling'],
      result: 'organization',
    },
    {
      args: 'team ceilings 42',
      call: 'GET /teams/42',
      reply: { ...team, ceilings: { usdPerMonth: '250.00' } },
      shows: ['Living bootstraps  no ceiling', 'Cost in a month    at most 250.00 USD'],
      result: 'team',
    },
    {
      args: `org rename ${acme} zenith`,
      call: `PUT /organizations/${acme}/name`,
      sends: { name: 'zenith' },
      reply: { ...organization, name: 'zenith' },
      shows: ['It is named zenith now.'],
      result: 'organization',
    },
    {
      args: `org delete ${acme} --yes`,
      call: `DELETE /organizations/${acme}`,
      reply: { ...organization, deletedAt: createdAt },
      shows: [`is deleted. Within 30 days, this takes it back: plinth org restore ${acme}`],
      result: 'deleted',
    },
    {
      args: `org restore ${acme}`,
      call: `POST /organizations/${acme}/restore`,
      reply: organization,
      shows: [`Organization acme is there again: ${acme}`],
      result: 'organization',
    },
    {
      args: `org members ${acme}`,
      call: `GET /organizations/${acme}/members`,
      reply: [alice, bob],
      shows: [/E-MAIL +ROLE/, /alice@example\.com +admin/, /bob@example\.com +member/],
      result: 'members',
    },
    {
      args: `org add-member ${acme} Bob@Example.com`,
      call: `POST /organizations/${acme}/members`,
      sends: { email: 'bob@example.com' },
      status: 201,
      reply: bob,
      shows: ['bob@example.com is now a member of the organization.'],
      result: 'member',
    },
    {
      args: `org add-member ${acme} alice@example.com --role admin`,
      call: `POST /organizations/${acme}/members`,
      sends: { email: 'alice@example.com', role: 'admin' },
      reply: alice,
      shows: ['was an admin of the organization already; nothing changes'],
      result: 'member',
    },
    {
      args: `org invite ${acme} zoe@example.org --role admin`,
      call: `POST /organizations/${acme}/invitations`,
      sends: { members: [{ email: 'zoe@example.org', role: 'admin' }] },
      reply: { invited: [invitation], members: [bob] },
      shows: ['zoe@example.org is invited until 2026-02-14 12:00 UTC.', 'bob@example.com is a member already.'],
      result: 'invited',
    },
    {
      args: `org invitations ${acme}`,
      call: `GET /organizations/${acme}/invitations`,
      reply: [invitation],
      shows: [/E-MAIL +ROLE +STATE +UNTIL +INVITED BY/, /zoe@example\.org +member +pending/],
      result: 'invitations',
    },
    {
      args: 'org invitations',
      call: 'GET /invitations',
      reply: [{ ...invitation, name: 'acme' }],
      shows: [new RegExp(`${acme} +acme +member +pending`)],
      result: 'invitations',
    },
    {
      args: `org resend ${acme} zoe@example.org`,
      call: `POST /organizations/${acme}/invitations/zoe%40example.org/resend`,
      reply: invitation,
      shows: ['zoe@example.org is invited until 2026-02-14 12:00 UTC.'],
      result: 'invitation',
    },
    {
      args: `org revoke ${acme} zoe@example.org`,
      call: `DELETE /organizations/${acme}/invitations/zoe%40example.org`,
      status: 204,
      shows: ['zoe@example.org is not invited any more.'],
      result: 'revoked',
    },
    {
      args: `org accept ${acme}`,
      call: `POST /invitations/${acme}/accept`,
      status: 201,
      reply: zoe,
      shows: ['zoe@example.org is now a member of the organization.'],
      result: 'member',
    },
    {
      args: `org decline ${acme}`,
      call: `POST /invitations/${acme}/decline`,
      status: 204,
      shows: ['The invitation is declined.'],
      result: 'declined',
    },
    {
      args: `org set-role ${acme} a/b@example.com admin`,
      call: `PUT /organizations/${acme}/members/a%2Fb%40example.com/role`,
      sends: { role: 'admin' },
      reply: { email: 'a/b@example.com', role: 'admin' },
      shows: ['a/b@example.com is now an admin of the organization.'],
      result: 'member',
    },
    {
      args: `org remove-member ${acme} bob@example.com`,
      call: `DELETE /organizations/${acme}/members/bob%40example.com`,
      status: 204,
      shows: ['bob@example.com is no longer a member of the organization.'],
      result: 'removed',
    },
    {
      args: `org remove-member ${acme} bob@example.com --force --yes`,
      call: `DELETE /organizations/${acme}/members/bob%40example.com?force=true`,
      status: 204,
      shows: ['or its teams.'],
      result: 'removed',
    },
    {
      args: `org remove-member ${acme} bob@example.com --why retired`,
      call: `DELETE /organizations/${acme}/members/bob%40example.com?why=retired`,
      status: 204,
      shows: ['bob@example.com is no longer a member of the organization.'],
      result: 'removed',
    },
    {
      args: `org teams ${acme}`,
      call: `GET /organizations/${acme}/teams`,
      reply: [team],
      shows: [/TEAM +NAME +ROLE +CREATED/, /42 +platform +admin/],
      result: 'teams',
    },
    {
      args: `org events ${acme}`,
      call: `GET /organizations/${acme}/events?limit=50`,
      reply: [
        {
          id: 'e2',
          at: createdAt,
          actor: 'alice@example.com',
          action: 'team-migrated',
          teamId: 42,
          before: { team: { ...moved, organizationId: null }, members: [alice, bob, zoe] },
          after: { team: moved, members: [alice, bob] },
        },
        {
          id: 'e1',
          at: createdAt,
          actor: 'alice@example.com',
          action: 'member-role-changed',
          email: 'bob@example.com',
          before: { ...bob, role: 'admin' },
          after: bob,
        },
        { id: 'e0', at: createdAt, actor: 'x', action: 'of-a-newer-service', before: null, after: 7 },
      ],
      shows: [
        /WHEN +WHO +WHAT +ABOUT +CHANGE/,
        /team-migrated +team 42 +platform, standalone, 3 members → platform, 2 members/,
        /member-role-changed +bob@example.com +admin → member/,
        'of-a-newer-service',
      ],
      result: 'events',
    },
    {
      args: 'team list',
      call: 'GET /teams',
      reply: [team, { ...team, teamId: 2147483647, organizationId: null }],
      shows: [
        /TEAM +NAME +ORGANIZATION +ROLE/,
        new RegExp(`42 +platform +${acme} +admin`),
        /2147483647 +platform +- +admin/,
      ],
      result: 'teams',
    },
    {
      args: 'team create platform',
      call: 'POST /teams',
      sends: { name: 'platform' },
      status: 201,
      reply: team,
      shows: ['Team platform is made: 42'],
      result: 'team',
    },
    {
      args: `team create platform --organization ${acme.toUpperCase()}`,
      call: 'POST /teams',
      sends: { name: 'platform', organizationId: acme },
      status: 201,
      reply: team,
      shows: ['Team platform is made: 42'],
      result: 'team',
    },
    {
      args: 'team list --deleted',
      call: 'GET /teams?deleted=true',
      reply: [],
      shows: ['You belong to no deleted team.'],
      result: 'teams',
    },
    {
      args: 'team rename 42 data',
      call: 'PUT /teams/42/name',
      sends: { name: 'data' },
      reply: { ...team, name: 'data' },
      shows: ['Team 42 is named data now.'],
      result: 'team',
    },
    {
      args: 'team set-role 42 bob@example.com admin',
      call: 'PUT /teams/42/members/bob%40example.com/role',
      sends: { role: 'admin' },
      reply: { ...bob, role: 'admin' },
      shows: ['bob@example.com is now an admin of team 42.'],
      result: 'member',
    },
    {
      args: 'team delete 42 --yes',
      call: 'DELETE /teams/42',
      reply: { ...team, deletedAt: createdAt },
      shows: ['Team 42 is deleted. Within 30 days, this takes it back: plinth team restore 42'],
      result: 'deleted',
    },
    {
      args: 'team restore 42',
      call: 'POST /teams/42/restore',
      reply: { team, removedMembers: ['zoe@example.org'] },
      shows: ['Team platform (42) is there again.', /left the organization: zoe@example\.org/],
      result: 'team',
    },
    {
      args: 'team members 42',
      call: 'GET /teams/42/members',
      reply: [],
      shows: ['No members.'],
      result: 'members',
    },
    {
      args: 'team add-member 42 bob@example.com --role=member',
      call: 'POST /teams/42/members',
      sends: { email: 'bob@example.com', role: 'member' },
      status: 201,
      reply: bob,
      shows: ['bob@example.com is now a member of team 42.'],
      result: 'member',
    },
    {
      args: `team transfer 42 --organization ${acme}`,
      call: 'POST /teams/42/transfers',
      sends: { organizationId: acme, force: false },
      status: 201,
      reply: transfer,
      shows: [`It is proposed that team 42 goes to ${acme}, until 2026-02-14 12:00 UTC.`],
      result: 'transfer',
    },
    {
      args: 'team transfer 42 --force',
      call: 'POST /teams/42/transfers',
      sends: { organizationId: null, force: true },
      reply: { team: { ...moved, organizationId: null }, removedMembers: [] },
      shows: ['Team 42 stands alone now.'],
      result: 'team',
    },
    {
      args: 'team transfers 42',
      call: 'GET /teams/42/transfers',
      reply: [transfer],
      shows: [/TO +PROPOSED BY +UNTIL +MEMBERS OUTSIDE/, /alice@example\.com +2026-02-14 12:00 UTC +stop it/],
      result: 'transfers',
    },
    {
      args: `team accept 42 --organization ${acme}`,
      call: `POST /teams/42/transfers/${acme}/accept`,
      reply: { team: moved, removedMembers: ['zoe@example.org'] },
      shows: [`Team 42 is in organization ${acme} now.`, 'Removed from the team: zoe@example.org'],
      result: 'team',
    },
    {
      args: 'team refuse 42',
      call: 'POST /teams/42/transfers/standalone/refuse',
      status: 204,
      shows: ['It is not proposed any more that team 42 goes to stand alone.'],
      result: 'refused',
    },
    {
      args: 'team undo 42 --dry-run',
      call: 'GET /teams/42/migrations/latest/undo',
      reply: {
        ...{ teamId: 42, migrationId: '0660bf5151db38-4eba9a80', organizationId: acme },
        stays: [alice],
        returns: [zoe, bob],
        leaves: [{ email: 'dave@example.com', role: 'member' }],
        changes: [{ ...bob, role: 'admin' }],
        until: createdAt,
      },
      shows: [
        'possible until 2026-01-31 12:00 UTC',
        /Come back: 1\n +zoe@example\.org \(member\)/,
        /Change their roles: 1\n +bob@example\.com \(admin → member\)/,
        /Leave: 1\n +dave@example\.com/,
      ],
      result: 'preview',
    },
    {
      args: 'team detach 42 --yes',
      call: 'POST /teams/42/detach',
      reply: {
        team: { ...moved, organizationId: null },
        restoredMembers: ['bob@example.com'],
        removedMembers: ['zoe@example.org'],
      },
      shows: ['Team platform (42) stands alone again.', 'Came back: bob@example.com', 'Removed: zoe@example.org'],
      result: 'team',
    },
    {
      args: 'team remove-member 42 bob@example.com',
      call: 'DELETE /teams/42/members/bob%40example.com',
      status: 204,
      shows: ['bob@example.com is no member of team 42 any more.'],
      result: 'removed',
    },
    {
      args: 'team remove-member 42 bob@example.com --why elsewhere',
      call: 'DELETE /teams/42/members/bob%40example.com?why=elsewhere',
      status: 204,
      shows: ['bob@example.com is no member of team 42 any more.'],
      result: 'removed',
    },
  ];
  for (const { args, call, sends, status = 200, reply, shows, result } of cases) {
    it(`${args}: ${call}`.replaceAll(acme, 'ID'), async () => {
      const words = args.split(' ');
      const name = call.replace(/\?.*/, '');
      script(name, answers(status, reply), answers(status, reply));
      const { code, stdout, stderr } = await run(...words);
      expect(code, stderr).to.equal(0);
      expect(stderr).to.equal('');
      expect(asked()).to.deep.equal([call]);
      expect(service.seen[0]?.body).to.deep.equal(sends);
      for (const text of shows) {
        if (typeof text === 'string') expect(stdout).to.include(text);
        else expect(stdout).to.match(text);
      }
      const asJson = await run(...words, '--json');
      expect(asJson.stdout.match(/\n/g), asJson.stdout).to.have.lengthOf(1);
      expect(JSON.parse(asJson.stdout)).to.include({ type: 'result', exitCode: 0 }).and.to.have.property(result);
    });
  }

  it('set one ceiling and keep the other, and name all faults of both flags', async () => {
    const set = { living: 3, usdPerMonth: '250.00' };
    script('GET /teams/42', answers(200, { ...team, ceilings: set }), answers(200, { ...team, ceilings: set }));
    script('PUT /teams/42/ceilings', answers(200, { ...team, ceilings: set }), answers(200, team));
    expect((await run('team', 'ceilings', '42', '--living', '3')).stdout).to.contain('at most 250.00 USD');
    await run('team', 'ceilings', '42', '--living', 'none', '--usd-per-month', '9.5');
    const sent = service.seen.filter(({ method }) => method === 'PUT').map(({ body }) => body);
    expect(sent).to.deep.equal([set, { usdPerMonth: '9.5' }]);
    const faulty = await run('org', 'ceilings', acme, '--living', '-1', '--usd-per-month', 'much');
    expect(faulty.code).to.equal(2);
    expect(faulty.stderr).to.contain('--living must be').and.to.contain('--usd-per-month must be an amount');
  });

  it('add and invite the people of a file, and name each faulty line of it', async () => {
    const people = join(sandbox.folder, 'people.txt');
    writeFileSync(people, '# the team\nbob@example.com\n\nZoe@Example.org # new\n');
    script(`POST /organizations/${acme}/members/batch`, answers(200, { added: [bob, zoe], unchanged: [] }));
    script('POST /teams/42/members/batch', answers(200, { added: [bob], unchanged: [zoe] }));
    const org = await run('org', 'add-members', acme, '--file', people);
    expect(org.stdout, org.stderr).to.include('2 added to the organization: bob@example.com, zoe@example.org');
    expect(service.seen[0]?.body).to.deep.equal({ members: [bob, zoe] });
    expect((await run('team', 'add-members', '42', '--file', people)).stdout).to.include('1 were members already.');
    writeFileSync(people, 'bob\nzoe@example.org\nzoe@example.org\n');
    const faulty = await run('org', 'invite', acme, '--file', people);
    expect([faulty.code, faulty.stderr.match(/people\.txt:[13] /g)?.length]).to.deep.equal([2, 2]);
    expect((await run('org', 'invite', acme)).stderr).to.include('<email> is missing; or give --file');
  });

  it('tell all faults of flags and arguments at once, and call nothing', async () => {
    const faulty: ReadonlyArray<readonly [string[], readonly string[]]> = [
      [
        ['org', 'add-member', '', 'no-mail', '--role=owner', 'more', '--froce'],
        [
          '<organization> must not',
          '<email> must be an e-mail address',
          '--role must be',
          '"more" is',
          '--froce is no',
        ],
      ],
      [
        ['org', 'set-role', acme, `${'x'.repeat(250)}@example.com`],
        ['<email> must have at most 254', '<role> is missing'],
      ],
      [
        ['org', 'events', '--limit', '0'],
        ['<organization> is missing', '--limit must be at least 1'],
      ],
      [['org', 'create', ' '], ['<name> must not be empty']],
      [
        ['team', 'members', '4x', '--force'],
        ['<teamId> must be a whole number, not "4x"', '--force is no flag of plinth team members'],
      ],
      [
        ['team', 'migrate', '2147483648', '--force'],
        ['<teamId>', '--organization is required', '--yes is needed with --force here'],
      ],
      [['team', 'migrate', '42', '--organization'], ['--organization value missing']],
    ];
    for (const [args, texts] of faulty) {
      const { code, stdout, stderr } = await run(...args);
      expect([code, stdout], args.join(' ')).to.deep.equal([2, '']);
      for (const text of texts) expect(stderr).to.include(text);
      expect(stderr.match(/^ {2}/gm)).to.have.lengthOf(texts.length);
    }
    expect(service.seen).to.deep.equal([]);
    const { stderr } = await run('org');
    expect(stderr).to.include('org add-member').and.not.include('bootstrap-cloud');
  });

  it('explain themselves: arguments, flags, who may, an example', async () => {
    const { stdout } = await run('org', 'remove-member', '--help');
    for (const text of ['<organization>', '<email>', '--force', 'The last admin stays', '$ plinth org remove-member']) {
      expect(stdout).to.include(text);
    }
    const group = (await run('team', '--help')).stdout;
    expect(group).to.include('team migrate <teamId>').and.not.include('org list');
  });

  it('take an organization by its name, if one belongs to just one of that name', async () => {
    const named = [organization, { ...organization, id: other, name: 'twice' }, { ...organization, name: 'twice' }];
    script('GET /organizations', ...Array.from({ length: 3 }, () => answers(200, named)));
    script(`GET /organizations/${acme}/teams`, answers(200, [team]));
    expect((await run('org', 'teams', 'acme')).stdout).to.include('platform');
    const two = await run('org', 'teams', 'twice');
    expect(two.code).to.equal(2);
    expect(two.stderr).to.include('2 organizations named "twice"').and.include(other).and.include('Give the id');
    const none = await run('org', 'teams', 'nobody');
    expect(none.code).to.equal(4);
    expect(none.stderr).to.include('"nobody"').and.include('plinth org list');
  });

  it('show nothing that moves the cursor, whatever people call things', async () => {
    script('GET /organizations', answers(200, [{ ...organization, name: 'a\u001b[2Jb\r\nc' }]));
    const { stdout } = await run('org', 'list');
    expect(stdout).to.include('ab c').and.not.include('\u001b').and.not.include('\r');
  });

  it('go to the endpoint of the organization API in the config file', async () => {
    const { PLINTH_ENDPOINT: _, ...env } = sandbox.env;
    sandbox.env = env;
    const missing = await run('org', 'list');
    expect([missing.code, missing.stderr.includes('endpoints.api')]).to.deep.equal([2, true]);
    mkdirSync(sandbox.configFolder, { recursive: true });
    const endpoints = `endpoints:\n  bootstraps: https://elsewhere.example.com\n  api: ${service.url}\n`;
    writeFileSync(join(sandbox.configFolder, 'config.yaml'), endpoints);
    script('GET /organizations', answers(200, []));
    expect((await run('org', 'list')).code).to.equal(0);
    expect(service.seen[0]?.headers.authorization).to.equal('Bearer token-of-alice');
  });

  it('say what the API says, with its exit code, and what else it tells as JSON', async () => {
    const path = `DELETE /organizations/${acme}/members/bob%40example.com`;
    const held = refuse('conflict', 'bob@example.com is still a member of these teams: 42 (platform).', {
      members: { teams: [{ teamId: 42, name: 'platform' }] },
    });
    script(path, held, held);
    const { code, stderr } = await run('org', 'remove-member', acme, 'bob@example.com');
    expect(code).to.equal(5);
    expect(stderr).to.include('42 (platform)').and.include(`remove-member ${acme} bob@example.com --force`);
    const { stdout } = await run('org', 'remove-member', acme, 'bob@example.com', '--json');
    expect(JSON.parse(stdout)).to.have.nested.property('problem.teams[0].teamId', 42);
  });

  it('undo a migration exactly as they showed it', async () => {
    const preview = {
      ...{ teamId: 42, migrationId: '0660bf5151db38-4eba9a80', organizationId: acme },
      ...{ stays: [alice], returns: [], leaves: [], changes: [], until: createdAt },
    };
    script('GET /teams/42/migrations/latest/undo', answers(200, preview, { etag: '"seen"' }));
    const undone = { team: { ...moved, organizationId: null }, restoredMembers: [], removedMembers: [] };
    script('POST /teams/42/migrations/0660bf5151db38-4eba9a80/undo', answers(200, undone));
    const { stdout, stderr } = await run('team', 'undo', '42', '--yes');
    expect(stdout, stderr).to.include('Team platform (42) stands alone again');
    expect(service.seen[1]?.headers['if-match']).to.equal('"seen"');
    expect((await run('team', 'undo', '42')).stderr).to.include('--yes is needed here');
  });

  describe('removing a member from the teams too', () => {
    const path = `DELETE /organizations/${acme}/members/bob%40example.com`;
    const remove = ['org', 'remove-member', acme, 'bob@example.com', '--force'];
    const held = refuse('conflict', 'bob@example.com is still a member of these teams: 42 (platform), 43 (data).', {
      members: {
        teams: [
          { teamId: 42, name: 'platform' },
          { teamId: 43, name: 'data' },
        ],
      },
    });

    it('shows the teams and asks first', async () => {
      script(path, held, answers(204, undefined));
      const started = sandbox.startOnTerminal(remove);
      await started.saw(/Remove bob@example\.com from these 2 teams and from the organization\? \[y\/N\] $/);
      expect(started.text()).to.match(/platform \(42\)\s+data \(43\)/);
      expect(asked()).to.deep.equal([path]);
      started.type('y\n');
      const { code, stdout } = await started.ended;
      expect(code, stdout).to.equal(0);
      expect(stdout).to.include('or its teams.');
      expect(asked()).to.deep.equal([path, `${path}?force=true`]);
    });

    for (const [name, keys, exit, says] of [
      ['a no', 'n\n', 2, 'nothing has changed'],
      ['Ctrl-C', '\u0003', 130, 'Nothing was changed.'],
    ] as const) {
      it(`changes nothing after ${name}, and says so`, async () => {
        script(path, held);
        const started = sandbox.startOnTerminal(remove);
        await started.saw(/\[y\/N\] $/);
        started.type(keys);
        const { code, stdout } = await started.ended;
        expect(code, stdout).to.equal(exit);
        expect(stdout).to.include(says);
        expect(asked()).to.deep.equal([path]);
      });
    }

    it('does not ask where there is no team to lose', async () => {
      script(path, answers(204, undefined));
      const { code, stdout } = await sandbox.startOnTerminal(remove).ended;
      expect(code, stdout).to.equal(0);
    });

    it('is refused where nobody can be asked, before anything is looked at', async () => {
      const { code, stderr } = await run(...remove);
      expect(code).to.equal(2);
      expect(stderr).to.include('--yes is needed with --force here');
      expect(asked()).to.deep.equal([]);
    });
  });

  describe('when an answer is lost', () => {
    const keys = () => service.seen.map(({ headers }) => headers['idempotency-key']);

    it('ask again under the same key, and under another one the next time', async () => {
      script(
        'POST /organizations',
        (response) => void response.destroy(),
        (response) => {
          response.writeHead(201, { 'content-type': 'application/json', 'content-length': '1000' });
          response.write('{"id":');
          setTimeout(() => response.destroy(), 20);
        },
        (response, seen) => {
          response.setHeader('retry-after', '0.05');
          return refuse('conflict', 'A request with this key is still in flight.')(response, seen);
        },
        answers(201, organization),
      );
      const { code, stdout, stderr } = await run('org', 'create', 'acme');
      expect(code, stderr).to.equal(0);
      expect(stdout).to.include(acme);
      expect(keys()).to.have.lengthOf(4);
      expect(new Set(keys())).to.have.lengthOf(1);
      expect(keys()[0]).to.match(/^[0-9a-f-]{36}$/);
      script('POST /organizations', answers(201, organization));
      await run('org', 'create', 'acme');
      expect(new Set(keys())).to.have.lengthOf(2);
    });

    it('take for done what a lost removal did', async () => {
      const gone = refuse('not-found', 'bob@example.com is no member.');
      script('DELETE /teams/42/members/bob%40example.com', (response) => void response.destroy(), gone);
      expect((await run('team', 'remove-member', '42', 'bob@example.com')).code).to.equal(0);
      script('DELETE /teams/42/members/bob%40example.com', gone);
      expect((await run('team', 'remove-member', '42', 'bob@example.com')).code).to.equal(4);
    });
  });

  it('page through as many events as were asked for', async () => {
    const events = Array.from({ length: 200 }, (_, i) => ({
      id: `e${i}`,
      at: createdAt,
      actor: 'alice@example.com',
      action: 'member-added',
      email: 'bob@example.com',
      before: null,
      after: bob,
    }));
    const path = `/organizations/${acme}/events`;
    const next = { link: `<https://evil.example.com/${path}?limit=200&cursor=c%2F1>; rel="next"` };
    script(`GET ${path}`, answers(200, events, next), answers(200, events.slice(0, 50), next));
    const { code, stdout, stderr } = await run('org', 'events', acme, '--limit', '250');
    expect(code).to.equal(0);
    expect(asked()).to.deep.equal([`GET ${path}?limit=200`, `GET ${path}?limit=50&cursor=c%2F1`]);
    expect(stdout.match(/member-added/g)).to.have.lengthOf(250);
    expect(stderr).to.include('There are older ones');
  });

  describe('team migrate', () => {
    const preview = (leaves: MigrationPreview['leaves'], tag: string) =>
      answers(
        200,
        { teamId: 42, organizationId: acme, stays: [alice, bob], leaves, blockers: leaves.length > 0 ? ['…'] : [] },
        { etag: tag },
      );
    const look = 'GET /teams/42/migration';
    const move = 'POST /teams/42/migrate';
    const migrate = ['team', 'migrate', '42', '--organization', acme];
    const moves = () =>
      service.seen.filter(({ method }) => method === 'POST').map(({ headers, body }) => [headers['if-match'], body]);
    const outside =
      'Team 42 cannot be migrated because these members are not members of the new organization: zoe@example.org. Add them to the organization first, or use the force option to remove them from the team.';
    const changed = refuse('precondition-failed', 'Team 42 or its members have changed since the preview.');

    it('shows who stays, and moves the team that was shown', async () => {
      script(look, preview([], '"one"'));
      script(move, answers(200, { team, removedMembers: [] }));
      const { code, stdout, stderr } = await run(...migrate);
      expect(code, stderr).to.equal(0);
      expect(stderr).to.match(/Stay: 2\n {2}alice@example\.com \(admin\)\n {2}bob@example\.com\nLeave: 0/);
      expect(stdout).to.equal(`Team platform (42) is in organization ${acme} now.\n`);
      expect(moves()).to.deep.equal([['"one"', { organizationId: acme, force: false }]]);
    });

    it('says of members outside both ways out, with the exit code of the refusal', async () => {
      for (const more of [[], ['--json']]) {
        script(look, preview([zoe], '"one"'));
        script(move, refuse('members-outside', outside, { members: { members: ['zoe@example.org'] } }));
        const { code, stdout, stderr } = await run(...migrate, ...more);
        expect(code).to.equal(2);
        expect(stderr)
          .to.include('Outside the organization: 1\n  zoe@example.org')
          .and.include(outside)
          .and.include(`plinth org add-member ${acme} zoe@example.org`)
          .and.include(`plinth team migrate 42 --organization ${acme} --force`);
        if (more.length === 0) expect(stdout).to.equal('');
        else expect(JSON.parse(stdout)).to.have.nested.property('problem.members[0]', 'zoe@example.org');
      }
    });

    it('only shows with --dry-run', async () => {
      script(look, preview([zoe], '"one"'), preview([zoe], '"one"'));
      const { code, stdout } = await run(...migrate, '--dry-run');
      expect(code).to.equal(0);
      expect(stdout).to.include('zoe@example.org').and.include('refused without --force');
      const forced = await run(...migrate, '--dry-run', '--force', '--json');
      expect(JSON.parse(forced.stdout)).to.have.nested.property('preview.leaves[0].email', 'zoe@example.org');
      expect(moves()).to.deep.equal([]);
    });

    it('removes with --force --yes, and looks again when something has changed', async () => {
      script(look, preview([zoe], '"one"'), preview([zoe, { ...zoe, email: 'yan@example.org' }], '"two"'));
      script(move, changed, answers(200, { team, removedMembers: ['yan@example.org', 'zoe@example.org'] }));
      const { code, stdout, stderr } = await run(...migrate, '--force', '--yes');
      expect(code, stderr).to.equal(0);
      expect(stderr).to.include('has changed meanwhile').and.include('Leave: 2');
      expect(stdout).to.include('Removed from the team: yan@example.org, zoe@example.org');
      expect(moves()).to.deep.equal([
        ['"one"', { organizationId: acme, force: true }],
        ['"two"', { organizationId: acme, force: true }],
      ]);
    });

    it('gives up on a team that changes all the time', async () => {
      script(look, ...Array.from({ length: 9 }, () => preview([], '"one"')));
      script(move, ...Array.from({ length: 9 }, () => changed));
      const { code, stderr } = await run(...migrate);
      expect(code).to.equal(5);
      expect(stderr).to.include('have changed since the preview');
      expect(moves()).to.have.lengthOf(5);
    });

    it('cuts a long list of those who stay short, and never that of those who leave', async () => {
      const people = (count: number, domain: string) =>
        Array.from({ length: count }, (_, i) => ({ email: `person-${i}@${domain}`, role: 'member' as const }));
      const [stays, leaves] = [people(300, 'example.com'), people(300, 'example.org')];
      script(look, answers(200, { teamId: 42, organizationId: acme, stays, leaves, blockers: [] }, { etag: '"1"' }));
      const { stdout } = await run(...migrate, '--dry-run');
      expect(stdout).to.include('Stay: 300').and.include('and 280 more').and.include('person-299@example.org');
      expect(stdout).to.not.include('person-299@example.com');
    });

    describe('on a terminal', () => {
      const question = 'Remove this member from team 42 and migrate it? [y/N] ';

      it('asks before anyone is removed, and asks again when it has changed', async () => {
        script(look, preview([zoe], '"one"'), preview([zoe, { ...zoe, email: 'yan@example.org' }], '"two"'));
        script(move, changed, answers(200, { team, removedMembers: ['yan@example.org', 'zoe@example.org'] }));
        const started = sandbox.startOnTerminal([...migrate, '--force']);
        await started.saw(/Remove this member from team 42 and migrate it\? \[y\/N\] $/);
        expect(moves()).to.deep.equal([]);
        started.type('y\n');
        await started.saw(/Remove these 2 members from team 42 and migrate it\? \[y\/N\] $/);
        started.type('yes\n');
        const { code, stdout } = await started.ended;
        expect(code, stdout).to.equal(0);
        expect(stdout).to.include('Removed from the team: yan@example.org, zoe@example.org');
        expect(moves().map(([tag]) => tag)).to.deep.equal(['"one"', '"two"']);
      });

      for (const [name, keys, exit] of [
        ['a no', 'n\n', 2],
        ['an empty line', '\n', 2],
        ['the end of the input', '\u0004', 2],
        ['Ctrl-C', '\u0003', 130],
      ] as const) {
        it(`changes nothing after ${name}`, async () => {
          script(look, preview([zoe], '"one"'));
          const started = sandbox.startOnTerminal([...migrate, '--force']);
          await started.saw(/\[y\/N\] $/);
          expect(started.text()).to.include(question);
          started.type(keys);
          const { code, stdout } = await started.ended;
          expect(code, stdout).to.equal(exit);
          if (exit === 2) expect(stdout).to.include('is not migrated; nothing has changed');
          else expect(stdout).to.include('Interrupted.').and.include('Nothing was changed.');
          expect(moves()).to.deep.equal([]);
        });
      }

      it('does not ask where nobody leaves', async () => {
        script(look, preview([], '"one"'));
        script(move, answers(200, { team, removedMembers: [] }));
        const { code, stdout } = await sandbox.startOnTerminal([...migrate, '--force']).ended;
        expect(code).to.equal(0);
        expect(stdout).to.not.include('[y/N]');
      });
    });
  });
});
