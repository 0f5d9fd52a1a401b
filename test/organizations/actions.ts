/** Actions by chance, for fast-check: few people, few organizations and teams, so that they meet often. */
import fc from 'fast-check';
import type { Action, ActionKind } from './model.js';
import { operator } from './organizations-server.js';

export const people = ['alice', 'bob', 'carol', 'dave'].map((name) => `${name}@example.com`);
/** Also who only ever is a member, and whose addresses Firestore would not take as ids. */
export const members = [...people, 'a/b@example.com', '__x__@example.com'];

/** Everything as numbers: which of the organizations and teams there are by then is decided when it is played. */
export interface Drawn {
  readonly kind: ActionKind;
  readonly by: string;
  readonly email: string;
  readonly organization: number;
  readonly team: number;
  readonly admin: boolean;
  readonly force: boolean;
  /** Of a team: standalone. */
  readonly alone: boolean;
}

const kinds: Readonly<Record<ActionKind, number>> = {
  createOrganization: 1,
  createTeam: 4,
  addOrganizationMember: 8,
  setOrganizationMemberRole: 4,
  removeOrganizationMember: 8,
  addTeamMember: 8,
  removeTeamMember: 4,
  migrateTeam: 6,
  detachTeam: 2,
  undoMigration: 4,
  proposeTransfer: 10,
  acceptTransfer: 12,
  refuseTransfer: 2,
  addOrganizationMembers: 3,
  inviteMembers: 8,
  resendInvitation: 2,
  revokeInvitation: 3,
  acceptInvitation: 6,
  declineInvitation: 5,
  addTeamMembers: 3,
  renameOrganization: 1,
  deleteOrganization: 3,
  restoreOrganization: 3,
  renameTeam: 1,
  deleteTeam: 3,
  restoreTeam: 4,
  setTeamMemberRole: 4,
  setOrganizationCeilings: 2,
  setTeamCeilings: 3,
};

export const drawn = (
  weights: Partial<Readonly<Record<ActionKind, number>>> = kinds,
  emails: readonly string[] = members,
): fc.Arbitrary<Drawn> =>
  fc.record({
    kind: fc.oneof(
      ...Object.entries(weights).map(([kind, weight]) => ({ weight, arbitrary: fc.constant(kind as ActionKind) })),
    ),
    by: fc.oneof({ weight: 2, arbitrary: fc.constant(operator) }, { weight: 3, arbitrary: fc.constantFrom(...people) }),
    email: fc.constantFrom(...emails),
    organization: fc.nat(99),
    team: fc.nat(99),
    admin: fc.boolean(),
    force: fc.boolean(),
    alone: fc.boolean(),
  });

/** What there is to choose from; newer ones have names of their own. */
export interface Cast {
  readonly organizations: string[];
  readonly teams: string[];
  /** What waits for an answer, or did: whom to ask, so that answers meet a question more often than by chance. */
  proposed?: Pick<Extract<Action, { kind: 'proposeTransfer' }>, 'team' | 'organization'>[];
  invited?: { readonly organization: string; readonly email: string }[];
}

/** After an action was played: what was not proposed after all waits for no answer. */
export function noteReply(cast: Cast, action: Action, status: number): void {
  if (action.kind !== 'proposeTransfer' || status === 201) return;
  const { team, organization } = action;
  cast.proposed = cast.proposed?.filter((each) => each.team !== team || each.organization !== organization) ?? [];
}

/** One of the latest few. */
const latest = <T>(all: readonly T[] | undefined, number: number): T | undefined => all?.slice(-3)[number % 3];

/** One or two. */
const someOf = ({ email, organization, team }: Drawn): string[] => [
  ...new Set([email, people[(organization + team) % people.length] ?? email]),
];

/** Few, so that some are raised, some lowered, and some the same as before. */
const livingOf = ({ alone, admin, force }: Drawn): number | undefined =>
  alone ? undefined : 1 + Number(admin) + Number(force);

export function actionOf(cast: Cast, at: string, each: Drawn): Action {
  const { kind, by, email, admin, force, alone } = each;
  const role = admin ? 'admin' : 'member';
  const organization = cast.organizations[each.organization % cast.organizations.length] ?? 'none';
  const team = cast.teams[each.team % cast.teams.length] ?? 'none';
  switch (kind) {
    case 'createOrganization':
      return { kind, by, organization: `organization-${at}` };
    case 'createTeam':
      return { kind, by, team: `team-${at}`, organization: alone ? undefined : organization };
    case 'addOrganizationMember':
    case 'setOrganizationMemberRole':
      return { kind, by, organization, email, role };
    case 'removeOrganizationMember':
      return { kind, by, organization, email, force };
    case 'addTeamMember':
    case 'setTeamMemberRole':
      return { kind, by, team, email, role };
    case 'removeTeamMember':
      return { kind, by, team, email };
    case 'addOrganizationMembers':
      return { kind, by, organization, emails: someOf(each), role };
    case 'inviteMembers': {
      const emails = someOf(each);
      cast.invited = [...(cast.invited ?? []), ...emails.map((invited) => ({ organization, email: invited }))];
      return { kind, by, organization, emails, role };
    }
    case 'addTeamMembers':
      return { kind, by, team, emails: someOf(each), role };
    case 'revokeInvitation':
    case 'resendInvitation':
      return { kind, by, organization, email, ...(admin && latest(cast.invited, each.organization)) };
    case 'acceptInvitation':
    case 'declineInvitation': {
      const answered = admin ? latest(cast.invited, each.organization) : undefined;
      return answered === undefined
        ? { kind, by, organization }
        : { kind, by: answered.email, organization: answered.organization };
    }
    case 'setOrganizationCeilings':
      return { kind, by, organization, living: livingOf(each) };
    case 'setTeamCeilings':
      return { kind, by, team, living: livingOf(each) };
    case 'renameOrganization':
    case 'deleteOrganization':
    case 'restoreOrganization':
      return { kind, by, organization };
    case 'renameTeam':
    case 'deleteTeam':
    case 'restoreTeam':
      return { kind, by, team };
    case 'proposeTransfer': {
      const proposed = { team, organization: alone ? undefined : organization };
      // What an operator proposes moves at once.
      if (by !== operator) cast.proposed = [...(cast.proposed ?? []), proposed];
      return { kind, by, ...proposed, force };
    }
    case 'acceptTransfer': {
      const proposed = admin || force ? latest(cast.proposed, each.team) : undefined;
      if (proposed === undefined) return { kind, by, team, organization: alone ? undefined : organization };
      // The operator may agree for either side.
      return { kind, by: alone ? by : operator, ...proposed };
    }
    case 'refuseTransfer':
      return {
        ...{ kind, by, team, organization: alone ? undefined : organization },
        ...(admin && latest(cast.proposed, each.team)),
      };
    case 'undoMigration':
    case 'detachTeam':
      return { kind, by, team };
    case 'migrateTeam':
      return { kind, by, team, organization, force };
  }
}
