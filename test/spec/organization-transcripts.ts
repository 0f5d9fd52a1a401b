/**
 * The four operations of the organization API, as specified: what is asked, what is replied, and what holds afterwards.
 * Pinned: see test/house/spec-is-pinned.test.ts.
 *
 * In paths, bodies and replies `{organization}`, `{other}`, `{team}` and `{inside}` stand for the ids of those that are `given`.
 */

/** `success`: any 2xx. `refusal`: any 4xx. The numbers are those that are specified. */
export type Status = 200 | 400 | 'success' | 'refusal';

export interface Exchange {
  /** E-mail; null: nobody says who asks. */
  readonly as: string | null;
  readonly method: 'GET' | 'POST';
  readonly path: string;
  readonly body?: Readonly<Record<string, unknown>>;
  readonly status: Status;
  /** The reply is an array, whose elements have these values in this field, in any order. */
  readonly lists?: { readonly field: 'id' | 'teamId'; readonly values: readonly string[] };
  /** The detail of the reply names these e-mails and no others, comma-separated, and tells both ways out. */
  readonly outsiders?: readonly string[];
}

export interface Transcript {
  readonly name: string;
  readonly given?: {
    /** `{organization}`, with this admin. */
    readonly organization?: { readonly admin: string; readonly members?: readonly string[] };
    /** Another organization, `{other}`. */
    readonly other?: { readonly admin: string; readonly members?: readonly string[] };
    /** The members of `{team}`, a standalone one. */
    readonly team?: readonly string[];
    /** The members of `{inside}`, a team that was made in the organization. */
    readonly inside?: readonly string[];
  };
  readonly exchanges: readonly Exchange[];
  readonly after?: {
    /** The members of `{team}`. */
    readonly team?: readonly string[];
    /** The members of `{organization}`. */
    readonly organization?: readonly string[];
    /** Whether `{team}` is in the list of the organization's teams. */
    readonly migrated?: boolean;
  };
}

/** Admin of the organization, and no member of the team. */
const admin = 'alice@example.com';
/** Members of the organization. */
const [bob, carol] = ['bob@example.com', 'carol@example.com'];
/** No members of the organization. */
const [dave, erin] = ['dave@example.com', 'erin@elsewhere.example'];
const stranger = 'mallory@elsewhere.example';

const organization = { admin, members: [bob, carol] };
const everybody = [admin, bob, carol];

const listOrganizations: readonly Transcript[] = [
  {
    name: 'the organizations that the caller belongs to, as admin or as member, and no others',
    given: { organization: { admin: 'gina@example.com' }, other: { admin, members: ['gina@example.com'] } },
    exchanges: [
      {
        as: 'gina@example.com',
        method: 'GET',
        path: '/organizations',
        status: 'success',
        lists: { field: 'id', values: ['{organization}', '{other}'] },
      },
    ],
  },
  {
    name: 'an empty array for who belongs to none',
    given: { organization },
    exchanges: [
      { as: stranger, method: 'GET', path: '/organizations', status: 'success', lists: { field: 'id', values: [] } },
    ],
  },
];

const addMember: readonly Transcript[] = [
  {
    name: 'the user is a member from then on',
    given: { organization: { admin } },
    exchanges: [
      {
        as: admin,
        method: 'POST',
        path: '/organizations/{organization}/members',
        body: { email: 'frank@elsewhere.example', role: 'member' },
        status: 'success',
      },
      {
        as: 'frank@elsewhere.example',
        method: 'GET',
        path: '/organizations',
        status: 'success',
        lists: { field: 'id', values: ['{organization}'] },
      },
    ],
    after: { organization: [admin, 'frank@elsewhere.example'] },
  },
  ...(
    [
      ['no e-mail', { role: 'member' }],
      ['an e-mail that is none', { email: 'frank', role: 'member' }],
      ['an e-mail that is no string', { email: 7, role: 'member' }],
      ['a role that is no string', { email: 'frank@elsewhere.example', role: 7 }],
    ] as const
  ).map(
    ([what, body]): Transcript => ({
      name: `refused with ${what}`,
      given: { organization: { admin } },
      exchanges: [
        { as: admin, method: 'POST', path: '/organizations/{organization}/members', body, status: 'refusal' },
      ],
      after: { organization: [admin] },
    }),
  ),
  {
    name: 'refused for an organization whose id is no UUID',
    exchanges: [
      {
        as: admin,
        method: 'POST',
        path: '/organizations/42/members',
        body: { email: 'frank@elsewhere.example', role: 'member' },
        status: 'refusal',
      },
    ],
  },
];

const migration = (body: Readonly<Record<string, unknown>>, status: Status): Exchange => ({
  as: admin,
  method: 'POST',
  path: '/teams/{team}/migrate',
  body,
  status,
});
const into = { organizationId: '{organization}' };

/** `force` is optional, and false where it is omitted. */
const unforced = [
  ['omitted', {}],
  ['false', { force: false }],
] as const;

const migrate: readonly Transcript[] = [
  // Every team member is an organization member.
  ...([...unforced, ['true', { force: true }]] as const).map(
    ([force, given]): Transcript => ({
      name: `the team is in the organization, with all its members, force ${force}`,
      given: { organization, team: [bob, carol] },
      exchanges: [migration({ ...into, ...given }, 200)],
      after: { migrated: true, team: [bob, carol], organization: everybody },
    }),
  ),

  // Some team members are not organization members, and force is false or omitted.
  ...unforced.flatMap(([force, given]): Transcript[] => [
    {
      name: `400 with members outside of the organization, force ${force}; nothing changes`,
      given: { organization, team: [bob, dave, carol, erin] },
      exchanges: [{ ...migration({ ...into, ...given }, 400), outsiders: [dave, erin] }],
      after: { migrated: false, team: [bob, carol, dave, erin], organization: everybody },
    },
    {
      name: `400 with one member outside of the organization, force ${force}; nothing changes`,
      given: { organization, team: [bob, erin] },
      exchanges: [{ ...migration({ ...into, ...given }, 400), outsiders: [erin] }],
      after: { migrated: false, team: [bob, erin], organization: everybody },
    },
    {
      name: `400 with nobody inside of the organization, force ${force}; nothing changes`,
      given: { organization, team: [dave, erin] },
      exchanges: [{ ...migration({ ...into, ...given }, 400), outsiders: [dave, erin] }],
      after: { migrated: false, team: [dave, erin], organization: everybody },
    },
  ]),

  // Some team members are not organization members, and force is true.
  {
    name: 'force true removes the members outside of the organization from the team, and the others stay',
    given: { organization, team: [bob, dave, carol, erin] },
    exchanges: [migration({ ...into, force: true }, 200)],
    after: { migrated: true, team: [bob, carol], organization: everybody },
  },
  {
    name: 'force true leaves a team without members where none was inside of the organization',
    given: { organization, team: [dave, erin] },
    exchanges: [migration({ ...into, force: true }, 200)],
    after: { migrated: true, team: [], organization: everybody },
  },

  // The two ways out that the detail suggests.
  {
    name: 'who is added to the organization first stays in the team',
    given: { organization, team: [bob, dave, erin] },
    exchanges: [
      { ...migration(into, 400), outsiders: [dave, erin] },
      {
        as: admin,
        method: 'POST',
        path: '/organizations/{organization}/members',
        body: { email: dave, role: 'member' },
        status: 'success',
      },
      { ...migration(into, 400), outsiders: [erin] },
      {
        as: admin,
        method: 'POST',
        path: '/organizations/{organization}/members',
        body: { email: erin, role: 'member' },
        status: 'success',
      },
      migration(into, 200),
    ],
    after: { migrated: true, team: [bob, dave, erin], organization: [...everybody, dave, erin] },
  },
  {
    name: 'after a refusal the same request with force true migrates the team',
    given: { organization, team: [bob, dave] },
    exchanges: [{ ...migration(into, 400), outsiders: [dave] }, migration({ ...into, force: true }, 200)],
    after: { migrated: true, team: [bob], organization: everybody },
  },

  // The payload: organizationId is a UUID and required, force is a boolean.
  ...(
    [
      ['no organization', {}],
      ['an organization that is no UUID', { organizationId: '42' }],
      ['an organization that is no string', { organizationId: 42 }],
      ['force that is a string', { ...into, force: 'true' }],
      ['force that is a number', { ...into, force: 1 }],
    ] as const
  ).map(
    ([what, body]): Transcript => ({
      name: `refused with ${what}`,
      given: { organization, team: [bob, dave] },
      exchanges: [migration(body, 'refusal')],
      after: { migrated: false, team: [bob, dave], organization: everybody },
    }),
  ),
  ...['red', '1.5'].map(
    (team): Transcript => ({
      name: `refused for a team whose id is no integer: ${team}`,
      given: { organization },
      exchanges: [{ ...migration(into, 'refusal'), path: `/teams/${team}/migrate` }],
    }),
  ),

  // An admin of the organization performs it.
  ...(
    [
      ['a member of the organization who is admin of the team', bob],
      ['an admin of the team who is not in the organization', dave],
      ['somebody who is in neither', stranger],
      ['nobody', null],
    ] as const
  ).map(
    ([who, as]): Transcript => ({
      name: `refused to ${who}`,
      given: { organization, team: as === dave ? [dave, bob] : [bob, dave] },
      exchanges: [{ ...migration({ ...into, force: true }, 'refusal'), as }],
      after: { migrated: false, team: [bob, dave], organization: everybody },
    }),
  ),
];

const listTeams: readonly Transcript[] = [
  {
    name: 'an empty array where there is none',
    given: { organization, team: [bob] },
    exchanges: [
      {
        as: admin,
        method: 'GET',
        path: '/organizations/{organization}/teams',
        status: 'success',
        lists: { field: 'teamId', values: [] },
      },
    ],
  },
  {
    name: 'teams that were made there and teams that were migrated',
    given: { organization, team: [bob], inside: [admin] },
    exchanges: [
      migration(into, 200),
      {
        as: admin,
        method: 'GET',
        path: '/organizations/{organization}/teams',
        status: 'success',
        lists: { field: 'teamId', values: ['{inside}', '{team}'] },
      },
    ],
  },
  {
    name: 'refused for an organization whose id is no UUID',
    exchanges: [{ as: admin, method: 'GET', path: '/organizations/42/teams', status: 'refusal' }],
  },
];

export const transcripts: Readonly<Record<string, readonly Transcript[]>> = {
  'GET /organizations': listOrganizations,
  'POST /organizations/{organizationId}/members': addMember,
  'POST /teams/{teamId}/migrate': migrate,
  'GET /organizations/{organizationId}/teams': listTeams,
};
