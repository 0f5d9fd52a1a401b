/** A world of the database beside one of the model: by the test's names, and whether a reply could be one of it. */
import type { Member } from '../../shared/organization/organization.js';
import { type Action, type ModelTeam, type Outcome, play, type Rules, type World } from './model.js';
import type { StoredEvent } from './snapshot.js';

/** Whether the model in this world would have replied so. */
export function agrees(world: World, action: Action, { status, named }: Outcome, rules: Rules): boolean {
  const copy = structuredClone(world);
  const expected = play(copy, action, rules);
  if (expected.status !== status) return false;
  return String(expected.named) === String(named);
}

/** By the test's names; with what each team was before it was migrated, which its event tells. */
export function named(world: World, events: readonly StoredEvent[], ids: ReadonlyMap<string, string>): World {
  const names = new Map([...ids].map(([name, id]) => [id, name]));
  const teams = [...world.teams].map(([id, team]): [string, ModelTeam] => {
    const last = events.findLast(
      ({ teamId, action }) =>
        String(teamId) === id &&
        ['team-migrated', 'team-detached', 'team-left', 'team-migration-undone'].includes(action),
    );
    const { team: was, members = [] } = (last?.before ?? {}) as {
      readonly team?: { readonly organizationId?: string | null };
      readonly members?: readonly Member[];
    };
    const former = [...(last?.stayed ?? []), ...members].map(({ email, role }) => [email, role] as const);
    const organization = team.organization && (names.get(team.organization) ?? team.organization);
    return [
      names.get(id) ?? id,
      {
        ...team,
        organization,
        former: last?.action === 'team-migrated' ? new Map(former) : undefined,
        agreed: was?.organizationId != null,
      },
    ];
  });
  return {
    organizations: new Map([...world.organizations].map(([id, each]) => [names.get(id) ?? id, each])),
    teams: new Map(teams),
    transfers: new Map(
      [...world.transfers].map(([key, each]) => {
        const [team = '', to = ''] = key.split('~');
        return [`${names.get(team) ?? team}~${names.get(to) ?? to}`, each];
      }),
    ),
  };
}
