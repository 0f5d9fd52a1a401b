/**
 * Walks of people at random through the API, by every setting of creators and consent. After each call the rights of everybody
 * are read anew. Whoever has gained one must have been given it: by somebody who had the right to give, or by the deployment.
 */
import fc from 'fast-check';
import type { Context } from '../../functions/context.js';
import { realClock } from '../../functions/host/clock.js';
import { realRandom } from '../../functions/host/random.js';
import { createAccess } from '../../functions/http/bootstraps/access.js';
import { type Caller, createVerifier } from '../../functions/identity/auth.js';
import { getOrganization } from '../../functions/organizations/organizations.js';
import { rightsIn } from '../../functions/organizations/ownership.js';
import { readTeam } from '../../functions/organizations/rights.js';
import type { Data, Store } from '../../functions/store/store.js';
import { createMemoryStore } from '../../local/functions/memory-store.js';
import { Problem } from '../../shared/problems.js';
import { createBootstrapsServer, makeRequest } from '../http/bootstraps-server.js';
import type { Issuer } from '../http/issuer.js';
import { actionOf, type Cast, type Drawn, drawn, noteReply, people } from './actions.js';
import type { Action } from './model.js';
import { createOrganizationsServer, operator } from './organizations-server.js';
import { createPlayer } from './play.js';
import { callerOf, contextBy, playOn } from './play-functions.js';

export interface Setting {
  readonly creators: '' | 'example.com' | 'anyone';
  readonly consent: '' | 'on' | 'off';
}
export const settings: readonly Setting[] = (['', 'example.com', 'anyone'] as const).flatMap((creators) =>
  (['', 'on', 'off'] as const).map((consent) => ({ creators, consent })),
);
/** Whether a deployment itself gives a team without projects to any organization. */
const isOpen = ({ creators, consent }: Setting): boolean => consent === 'off' || (consent === '' && creators === '');

/** A call, or a project that begins or ends in a team, as members of it begin and end theirs. */
type Step = Drawn & { readonly project?: 'begins' | 'ends' };

/** Mostly calls by which somebody may gain a right. */
const weights: Partial<Readonly<Record<Action['kind'], number>>> = {
  ...{ createOrganization: 1, deleteOrganization: 1, restoreOrganization: 2 },
  ...{ addOrganizationMember: 5, addOrganizationMembers: 1, setOrganizationMemberRole: 3, removeOrganizationMember: 3 },
  ...{ inviteMembers: 4, revokeInvitation: 1, acceptInvitation: 5, declineInvitation: 1 },
  ...{ createTeam: 1, deleteTeam: 2, restoreTeam: 4 },
  ...{ addTeamMember: 4, addTeamMembers: 1, setTeamMemberRole: 3, removeTeamMember: 2 },
  ...{ migrateTeam: 20, undoMigration: 12, detachTeam: 1 },
  ...{ proposeTransfer: 8, acceptTransfer: 10, refuseTransfer: 1 },
};

/** Mostly by people: an operator may give what they like. */
export const walk: fc.Arbitrary<Step[]> = fc.array(
  fc.tuple(drawn(weights), fc.nat(9), fc.nat(11)).map(([each, who, what]): Step => {
    const by = each.by === operator && who > 1 ? (people[who % people.length] as string) : each.by;
    return { ...each, by, ...(what < 3 && { project: what < 2 ? 'begins' : 'ends' }) };
  }),
  { minLength: 6, maxLength: 18, size: 'max' },
);

/** 0: none, 1: a member, or a project is seen, 2: an admin. */
type Level = 0 | 1 | 2;

interface Picture {
  /** By person and thing. What is deleted keeps the rights that it had: a restore gives no more. */
  readonly levels: ReadonlyMap<string, Level>;
  /** The organization of each team. */
  readonly places: ReadonlyMap<string, string | undefined>;
}
const keyOf = (email: string, thing: string): string => `${email} ${thing}`;

interface Project {
  readonly id: string;
  readonly team: string;
  /** Shared with the team; otherwise the team owns it. */
  readonly shared: boolean;
  living: boolean;
}

interface Player {
  /** Ids by the test's names. */
  readonly ids: ReadonlyMap<string, string>;
  play(action: Action): Promise<{ readonly status: number }>;
}

/** What all walks by one setting share. Each walk has the store for itself. */
interface World {
  readonly context: Context;
  readonly callers: ReadonlyMap<string, Caller>;
  /** A record of a project as the API makes it. */
  readonly template: Data;
  /** For a new walk, on an empty store. */
  renew(): Player;
  close(): void;
}

/** By HTTP, or by the functions beneath it, which takes a fifth of the time. */
export type Door = 'http' | 'functions';

async function makeWorld(issuer: Issuer, door: Door, setting: Setting, template: Data): Promise<World> {
  let current: Store = createMemoryStore();
  const store = new Proxy(current, { get: (_, name) => Reflect.get(current, name) as unknown });
  const emptied = (player: Player): Player => {
    current = createMemoryStore();
    return player;
  };
  if (door === 'functions') {
    const context = contextBy({ store, clock: realClock, random: realRandom }, setting);
    const callers = new Map(people.map((email) => [email, callerOf(email)]));
    const renew = (): Player => {
      const ids = new Map<string, string>();
      return emptied({ ids, play: (action) => playOn(context, action, ids) });
    };
    return { context, callers, template, renew, close: () => undefined };
  }
  const env = { PLINTH_ORGANIZATION_CREATORS: setting.creators, PLINTH_MIGRATION_CONSENT: setting.consent };
  const server = await createOrganizationsServer(issuer, { store, env });
  const { context } = server;
  const { authenticate } = createVerifier(context);
  const known = people.map(
    async (email) => [email, await authenticate({ authorization: `Bearer ${await server.token(email)}` })] as const,
  );
  const callers = new Map(await Promise.all(known));
  return { context, callers, template, renew: () => emptied(createPlayer(server)), close: () => server.close() };
}

async function makeTemplate(issuer: Issuer): Promise<Data> {
  const server = await createBootstrapsServer(issuer);
  try {
    const { bootstrap } = await server.json<{ bootstrap: { id: string } }>(201, 'POST', '/bootstraps', {
      body: makeRequest('template'),
    });
    await server.settle();
    const found = await server.context.store.get('bootstraps', bootstrap.id);
    if (found === undefined) throw new Error('The project has no record');
    const { boundTo: _, ...data } = found.data;
    return data;
  } finally {
    server.close();
  }
}

/** What each person may do with everything that there is. */
async function look(
  { context, callers }: World,
  player: Player,
  cast: Cast,
  projects: readonly Project[],
  deleted: ReadonlySet<string>,
  before?: Picture,
): Promise<Picture> {
  const levels = new Map<string, Level>();
  const places = new Map<string, string | undefined>();
  const names = new Map([...player.ids].map(([name, id]) => [id, name]));
  const access = createAccess(context);
  for (const team of cast.teams) {
    const found = await readTeam(context.store, Number(player.ids.get(team)));
    places.set(team, found === undefined ? before?.places.get(team) : names.get(found.organizationId ?? ''));
  }
  for (const [email, caller] of callers) {
    const note = async (thing: string, read: () => Promise<Level>): Promise<void> => {
      const key = keyOf(email, thing);
      const kept = deleted.has(thing) ? before?.levels.get(key) : undefined;
      levels.set(key, kept ?? (await orNone(read)));
    };
    for (const organization of cast.organizations) {
      await note(organization, async () => {
        const { role } = await getOrganization(context, caller, player.ids.get(organization) ?? '');
        return role === 'admin' ? 2 : 1;
      });
    }
    for (const team of cast.teams) {
      await note(team, async () => {
        const rights = await rightsIn(context, caller, Number(player.ids.get(team)));
        return rights === undefined ? 0 : rights.admin ? 2 : 1;
      });
    }
    for (const { id, living } of projects) {
      if (living) await note(id, async () => ((await access.visible(id, caller)) === undefined ? 0 : 1));
    }
  }
  return { levels, places };
}

async function orNone(read: () => Promise<Level>): Promise<Level> {
  try {
    return await read();
  } catch (error) {
    if (error instanceof Problem && error.kind.status < 500) return 0;
    throw error;
  }
}

/** What was offered and not yet taken, and who had a team before it was moved. */
interface Offers {
  readonly invited: Set<string>;
  readonly proposed: Map<string, string>;
  readonly former: Map<string, ReadonlyMap<string, Level>>;
}

interface Change {
  readonly setting: Setting;
  readonly action: Action;
  readonly before: Picture;
  readonly after: Picture;
  readonly offers: Offers;
  readonly projects: readonly Project[];
}

const transferOf = (team: string, organization: string | undefined): string => `${team}~${organization ?? ''}`;

/** The rights that somebody has after the call, and that nobody gave them. */
function notGiven(change: Change): string[] {
  const { after, before, action } = change;
  if (action.by === operator) return [];
  return [...after.levels].flatMap(([key, level]) => {
    const had = before.levels.get(key) ?? 0;
    if (level <= had) return [];
    const [email = '', thing = ''] = key.split(' ');
    return isGiven(change, email, thing) ? [] : [`${email} gains ${level} of ${thing}, where they had ${had}`];
  });
}

function isGiven(change: Change, email: string, thing: string): boolean {
  const { action, before, after, offers, projects } = change;
  const project = projects.find(({ id }) => id === thing);
  // A project is given by whoever may give its team.
  if (project !== undefined)
    return isGivenBy(change, project.team, true) || isAdminByOffer(change, email, project.team);
  const isNew = !before.levels.has(keyOf(action.by, thing));
  const organization = after.places.get(thing);
  if (isNew && email === action.by) return true;
  if (isNew && organization !== undefined) return levelIn(before, action.by, organization) === 2;
  if (action.kind === 'acceptInvitation' && action.organization === thing && email === action.by) {
    return offers.invited.has(keyOf(email, thing));
  }
  if (isGivenBy(change, thing, false) || isAdminByOffer(change, email, thing)) return true;
  // The undo of a migration gives back what it took, and no projects.
  if (action.kind !== 'undoMigration' || action.team !== thing || hasProjects(change, thing)) return false;
  const had = offers.former.get(thing);
  return had?.get(action.by) === 2 && (had.get(email) ?? 0) >= (after.levels.get(keyOf(email, thing)) ?? 0);
}

const levelIn = ({ levels }: Picture, email: string, thing: string): Level => levels.get(keyOf(email, thing)) ?? 0;
const hasProjects = ({ projects }: Change, team: string): boolean =>
  projects.some((each) => each.team === team && each.living);

/** Whether who acts, or who proposed what they accept, is an admin of it; or the deployment gives it. */
function isGivenBy(change: Change, thing: string, hasProject: boolean): boolean {
  const { setting, action, before, offers } = change;
  const place = before.places.get(thing);
  const governs = (email: string): boolean =>
    levelIn(before, email, thing) === 2 || (place !== undefined && levelIn(before, email, place) === 2);
  if (governs(action.by)) return true;
  if (action.kind === 'acceptTransfer' && action.team === thing) {
    return governs(offers.proposed.get(transferOf(thing, action.organization)) ?? '');
  }
  const takes = action.kind === 'migrateTeam' && action.team === thing && !hasProject && !hasProjects(change, thing);
  return takes && isOpen(setting) && levelIn(before, action.by, action.organization) === 2;
}

/** Whoever accepts an invitation as an admin governs the teams that are in the organization already. */
function isAdminByOffer({ action, before, offers }: Change, email: string, team: string): boolean {
  if (action.kind !== 'acceptInvitation' || email !== action.by) return false;
  return before.places.get(team) === action.organization && offers.invited.has(keyOf(email, action.organization));
}

/** Keeps what the call has offered, and who had what before a move. */
function noteOffers({ action, before, after, offers }: Omit<Change, 'setting' | 'projects'>): void {
  if (action.kind === 'inviteMembers') {
    for (const email of action.emails) offers.invited.add(keyOf(email, action.organization));
  }
  if (action.kind === 'revokeInvitation') offers.invited.delete(keyOf(action.email, action.organization));
  if (action.kind === 'declineInvitation' || action.kind === 'acceptInvitation') {
    offers.invited.delete(keyOf(action.by, action.organization));
  }
  if (action.kind === 'proposeTransfer') offers.proposed.set(transferOf(action.team, action.organization), action.by);
  for (const [team, place] of after.places) {
    if (place === undefined || before.places.get(team) === place) continue;
    offers.former.set(team, new Map(people.map((email) => [email, levelIn(before, email, team)])));
  }
}

/** As a beginning and an end of a project write it. */
async function writeProject({ context: { store }, template }: World, teamId: number, project: Project, owner: string) {
  const team = await readTeam(store, teamId);
  if (team === undefined) return false;
  const { id, shared, living } = project;
  const whose = shared ? { sharedTeams: [teamId] } : { team: teamId };
  const owns = Math.max(0, (team.owns ?? 0) + (shared ? 0 : living ? 1 : -1));
  const record = { ...template, ...whose, id, name: id, projectId: id, owner };
  await store.commit([
    living
      ? { kind: 'create', collection: 'bootstraps', id, data: record }
      : { kind: 'update', collection: 'bootstraps', id, data: { state: 'removed' } },
    { kind: 'update', collection: 'teams', id: String(teamId), data: { holds: true, owns } },
  ]);
  return true;
}

export interface Walks {
  /** Throws with the story of a walk by which somebody gained what nobody gave them. Returns the calls that were answered 2xx. */
  play(setting: Setting, steps: readonly Step[]): Promise<number>;
  close(): void;
}

export async function createWalks(issuer: Issuer, door: Door): Promise<Walks> {
  const template = await makeTemplate(issuer);
  const worlds = new Map<Setting, Promise<World>>();
  return {
    async play(setting, steps) {
      const made = worlds.get(setting) ?? makeWorld(issuer, door, setting, template);
      worlds.set(setting, made);
      return playWalk(setting, await made, steps);
    },
    close: () => void [...worlds.values()].map(async (world) => (await world).close()),
  };
}

/** Alice's organization with Bob in it, Carol's with nobody else if people may make one, and Dave's team. */
const opening = ({ creators }: Setting): Action[] => {
  const [alice, bob, carol, dave] = people as [string, string, string, string];
  const made = (by: string, organization: string): Action[] =>
    creators === ''
      ? [
          { kind: 'createOrganization', by: operator, organization },
          { kind: 'addOrganizationMember', by: operator, organization, email: by, role: 'admin' },
        ]
      : [{ kind: 'createOrganization', by, organization }];
  return [
    ...made(alice, 'first'),
    ...made(carol, 'second'),
    { kind: 'addOrganizationMember', by: alice, organization: 'first', email: bob, role: 'member' },
    { kind: 'createTeam', by: alice, team: 'inside', organization: 'first' },
    { kind: 'createTeam', by: dave, team: 'alone', organization: undefined },
  ];
};

async function playWalk(setting: Setting, world: World, steps: readonly Step[]): Promise<number> {
  const player = world.renew();
  const cast: Cast = { organizations: [], teams: [] };
  const projects: Project[] = [];
  const deleted = new Set<string>();
  const offers: Offers = { invited: new Set(), proposed: new Map(), former: new Map() };
  const story = [JSON.stringify(setting)];
  let picture: Picture = { levels: new Map(), places: new Map() };
  let done = 0;

  const act = async (action: Action): Promise<void> => {
    const { status } = await player.play(action);
    story.push(`${JSON.stringify(action)} → ${status}`);
    noteReply(cast, action, status);
    if (status >= 300) return;
    done += 1;
    if (action.kind === 'createOrganization') cast.organizations.push(action.organization);
    if (action.kind === 'createTeam') cast.teams.push(action.team);
    if (action.kind === 'deleteTeam') deleted.add(action.team);
    if (action.kind === 'deleteOrganization') deleted.add(action.organization);
    if (action.kind === 'restoreTeam') deleted.delete(action.team);
    if (action.kind === 'restoreOrganization') deleted.delete(action.organization);
    const before = picture;
    const after = await look(world, player, cast, projects, deleted, before);
    const faults = notGiven({ setting, action, before, after, offers, projects });
    if (faults.length > 0) throw new Error([...faults, 'after:', ...story].join('\n'));
    noteOffers({ action, before, after, offers });
    picture = after;
  };
  const turn = async ({ project: turns, team: number, admin: shared }: Step): Promise<void> => {
    const team = cast.teams[number % cast.teams.length] ?? '';
    const standing = projects.find((each) => each.team === team && each.living);
    if (turns === 'ends' && standing === undefined) return;
    const project = turns === 'ends' && standing !== undefined ? standing : begun(projects.length, team, shared);
    project.living = turns === 'begins';
    const owner = people.find((email) => levelIn(picture, email, team) > 0) ?? operator;
    if (!(await writeProject(world, Number(player.ids.get(team)), project, shared ? operator : owner))) return;
    story.push(`project ${project.id} of ${team}${project.shared ? ', shared,' : ''} ${turns}`);
    if (turns === 'begins') projects.push(project);
    picture = await look(world, player, cast, projects, deleted, picture);
  };
  for (const action of opening(setting)) await act(action);
  for (const [i, step] of steps.entries()) {
    if (step.project === undefined) await act(byFormer(actionOf(cast, String(i), step), step, offers, picture));
    else await turn(step);
  }
  return done;
}

/** Half of the undos are asked for by somebody who governed a team and does not any more, which chance alone seldom finds. */
function byFormer(action: Action, { force }: Step, { former }: Offers, now: Picture): Action {
  if (action.kind !== 'undoMigration' || !force) return action;
  const found = [...former].flatMap(([team, had]) =>
    [...had].flatMap(([by, level]) => (level === 2 && levelIn(now, by, team) < 2 ? [{ ...action, team, by }] : [])),
  );
  return found[0] ?? action;
}

const begun = (n: number, team: string, shared: boolean): Project => ({ id: `p${n}`, team, shared, living: true });
