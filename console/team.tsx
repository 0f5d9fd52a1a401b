/** One team: its members, where it is, its events, and the undo of its migration. */
import { useState } from 'preact/hooks';
import type { Member } from '../shared/organization/organization.js';
import type { Team } from '../shared/organization/team.js';
import { call, path } from './calls.js';
import { Events } from './events.js';
import { useLive } from './live.js';
import { Members } from './members.js';
import { UndoMigration } from './migration.js';
import { Loaded, Title } from './parts.js';

export function TeamPage({ teamId }: { teamId: number }) {
  const of = path`/teams/${teamId}`;
  const live = useLive(of, (signal) => call<Team>('api', 'GET', of, { signal }), 15);
  const members = useLive(`${of} members`, (signal) => call<Member[]>('api', 'GET', `${of}/members`, { signal }), 15);
  const [undoing, setUndoing] = useState(false);
  return (
    <article>
      <p class="crumb">
        <a href="#/organizations">Organizations</a>
      </p>
      <Loaded live={live}>
        {(team) => (
          <>
            <div class="head">
              <Title>{team.name}</Title>
              {team.organizationId !== null && (
                <div class="verbs">
                  <button type="button" onClick={() => setUndoing(true)}>
                    Undo migration
                  </button>
                </div>
              )}
            </div>
            <dl class="facts">
              <div>
                <dt>Team</dt>
                <dd>
                  <code>{team.teamId}</code>
                </dd>
              </div>
              <div>
                <dt>Where</dt>
                <dd>
                  {team.organizationId === null ? (
                    'standalone'
                  ) : (
                    <a href={`#/organizations/${team.organizationId}`}>in an organization</a>
                  )}
                </dd>
              </div>
            </dl>
            <Members of={of} live={members} admin={team.role === 'admin'} hasTeams={false} />
            {team.role === 'admin' && <Events of={of} />}
            {undoing && (
              <UndoMigration
                team={team}
                done={() => {
                  live.again();
                  members.again();
                }}
                close={() => setUndoing(false)}
              />
            )}
          </>
        )}
      </Loaded>
    </article>
  );
}
