/**
 * A migration, then anything, then its undo, beside the same story without the migration. At the end both worlds are the same,
 * less what the preview of the undo named.
 */
import { expect } from 'chai';
import fc from 'fast-check';
import { realClock } from '../../functions/host/clock.js';
import { realRandom } from '../../functions/host/random.js';
import { previewUndo, undoMigration } from '../../functions/organizations/moves/undo.js';
import { createMemoryStore } from '../../local/functions/memory-store.js';
import type { Member } from '../../shared/organization/organization.js';
import type { UndoPreview } from '../../shared/organization/team.js';
import { bySeed, searchFor, searchMs } from '../support/search.js';
import { actionOf, type Cast, type Drawn, drawn } from './actions.js';
import { faultsOf } from './at-rest.js';
import { named } from './by-name.js';
import type { Action, ModelTeam, World } from './model.js';
import { operator } from './organizations-server.js';
import { callerOf, contextOf, type Played, playOn } from './play-functions.js';
import { createMemoryReader } from './snapshot.js';
import { opening } from './storm.js';

/** Standalone before it is migrated. */
const moved = 'alone';

/** It would move the team, or take it away. */
const moves = new Set<Action['kind']>([
  'migrateTeam',
  'detachTeam',
  'undoMigration',
  'proposeTransfer',
  'acceptTransfer',
  'refuseTransfer',
  'deleteTeam',
  'restoreTeam',
]);
const isAbout = (action: Action): boolean => 'team' in action && action.team === moved;

function createWorld(anyone: boolean) {
  const store = createMemoryStore();
  const reader = createMemoryReader(store);
  const context = contextOf({ store, clock: realClock, random: realRandom }, anyone);
  const ids = new Map<string, string>();
  return {
    context,
    ids,
    play: (action: Action): Promise<Played> => playOn(context, action, ids),
    async look(): Promise<World> {
      const found = await reader.snapshot();
      expect(faultsOf(found)).to.deep.equal([]);
      return named(found.world, await reader.events(), ids);
    },
  };
}

const teamIn = ({ teams }: World): ModelTeam => {
  const team = teams.get(moved);
  if (team === undefined) throw new Error('The team is gone');
  return team;
};

/** All but the members of the team: what it was before is history. */
const rest = ({ organizations, teams, transfers }: World) => ({
  organizations,
  transfers,
  teams: new Map(
    [...teams].map(([name, { organization, deleted, living, members }]) => [
      name,
      { organization, deleted, living, members: name === moved ? undefined : members },
    ]),
  ),
});

const rolesOf = (...lists: readonly (readonly Member[])[]) =>
  new Map(lists.flat().map(({ email, role }) => [email, role] as const));

const peopleOf = (action: Action): readonly string[] =>
  'emails' in action ? action.emails : 'email' in action ? [action.email] : [];

/** `apart`: to whom not the same was done in both worlds, because one refused it. */
function checkDifferences(undone: World, without: World, preview: UndoPreview, apart: ReadonlySet<string>): void {
  const namedIn = new Set([...preview.leaves, ...preview.returns, ...preview.changes].map(({ email }) => email));
  const [is, would] = [teamIn(undone).members, teamIn(without).members];
  const differs = [...new Set([...is.keys(), ...would.keys()])].filter(
    (email) => is.get(email) !== would.get(email) && !apart.has(email),
  );
  expect([...namedIn], 'the preview names who differs').to.include.members(differs);
}

describe('the undo of a migration, beside a world without the migration', () => {
  for (const anyone of [false, true]) {
    const where = anyone ? 'anyone makes organizations' : 'operators make organizations';
    it(`leaves only what its preview named, where ${where} ${bySeed}`, async function () {
      this.timeout(searchMs + 240_000);
      let undone = 0;
      const draws = fc.array(drawn(), { minLength: 5, maxLength: 40, size: 'max' });
      await searchFor(
        fc.asyncProperty(draws, draws, fc.boolean(), async (before: Drawn[], after: Drawn[], first: boolean) => {
          const [a, b] = [createWorld(anyone), createWorld(anyone)];
          const cast: Cast = { organizations: ['first', 'second'], teams: ['inside', moved] };
          const both = async (action: Action): Promise<void> => {
            const replies = [await a.play(action), await b.play(action)];
            expect(replies[0], JSON.stringify(action)).to.deep.equal(replies[1]);
          };
          const drawnFrom = (all: readonly Drawn[], at: string): Action[] =>
            all
              .map((each, i) => actionOf(cast, `${at}-${i}`, each))
              .filter((action) => !isAbout(action) || !moves.has(action.kind));
          for (const action of [...opening, ...drawnFrom(before, 'before')]) await both(action);

          const organization = first ? 'first' : 'second';
          for (const action of [
            { kind: 'restoreOrganization', by: operator, organization },
            { kind: 'restoreTeam', by: operator, team: moved },
          ] as const) {
            await both(action);
          }
          const stood = teamIn(await a.look()).members;
          const migrated = await a.play({ kind: 'migrateTeam', by: operator, team: moved, organization, force: true });
          expect(migrated.status).to.equal(200);

          const apart = new Set<string>();
          for (const action of drawnFrom(after, 'after')) {
            const { status, named: names } = await a.play(action);
            if (isAbout(action)) {
              // Who may change the team depends on where it is. So what was let through here, an operator does there.
              const there = status < 300 ? await b.play({ ...action, by: operator }) : undefined;
              if (there !== undefined && there.status >= 300) for (const email of peopleOf(action)) apart.add(email);
              continue;
            }
            // While it lasts, the migration holds its members and its organization.
            const holds = ['removeOrganizationMember', 'deleteOrganization'].includes(action.kind) && status === 409;
            if (holds && 'organization' in action && action.organization === organization) continue;
            // Who is removed from the organization leaves the team that is in it, and not the one that stands alone.
            if (action.kind === 'removeOrganizationMember') apart.add(action.email);
            const without = await b.play(action);
            expect([without.status, without.named], JSON.stringify(action)).to.deep.equal([status, names]);
          }

          const teamId = Number(a.ids.get(moved));
          const asked = { teamId, migrationId: 'latest' };
          const caller = callerOf(operator);
          const stands = await a.look();
          const { preview, tag } = await previewUndo(a.context, caller, asked);
          await undoMigration(a.context, caller, { ...asked, ifMatch: tag });
          const [is, without] = [await a.look(), await b.look()];
          undone += 1;

          const { organization: at, members } = teamIn(is);
          expect(at).to.equal(undefined);
          expect(members, 'as it stood').to.deep.equal(new Map(stood));
          expect(members, 'as the preview said').to.deep.equal(rolesOf(preview.stays, preview.returns));
          const left = [...teamIn(stands).members.keys()].filter((email) => !members.has(email)).sort();
          expect(preview.leaves.map(({ email }) => email).sort()).to.deep.equal(left);
          expect(rest(is), 'all else').to.deep.equal(rest(without));
          checkDifferences(is, without, preview, apart);
        }),
      );
      expect(undone).to.be.above(0);
    });
  }
});
