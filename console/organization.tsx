/** One organization: members, invitations, teams, and who did what. */
import { useState } from 'preact/hooks';
import type { Invitation, Member, Organization } from '../shared/organization/organization.js';
import type { Team } from '../shared/organization/team.js';
import { call, path, Refusal } from './calls.js';
import { Events } from './events.js';
import { useLive } from './live.js';
import { Invite, Members } from './members.js';
import { Migrate } from './migration.js';
import { TeamList } from './organizations.js';
import { Loaded, Problem, Title } from './parts.js';
import { time } from './words.js';

export function OrganizationPage({ id }: { id: string }) {
  const of = path`/organizations/${id}`;
  const live = useLive(of, (signal) => call<Organization>('api', 'GET', of, { signal }), 30);
  const members = useLive(`${of} members`, (signal) => call<Member[]>('api', 'GET', `${of}/members`, { signal }), 15);
  const teams = useLive(`${of} teams`, (signal) => call<Team[]>('api', 'GET', `${of}/teams`, { signal }), 15);
  const [migrating, setMigrating] = useState(false);
  return (
    <article>
      <p class="crumb">
        <a href="#/organizations">Organizations</a>
      </p>
      <Loaded live={live}>
        {(organization) => {
          const admin = organization.role !== 'member';
          return (
            <>
              <Title>{organization.name}</Title>
              <Members of={of} live={members} admin={admin} hasTeams />
              {admin && <Invitations of={of} />}
              <section>
                <div class="head">
                  <h2>Teams</h2>
                  {admin && (
                    <div class="verbs">
                      <button type="button" onClick={() => setMigrating(true)}>
                        Bring a team in
                      </button>
                    </div>
                  )}
                </div>
                <Loaded live={teams}>
                  {(found) =>
                    found.length === 0 ? (
                      <p class="none">No team is in it yet.</p>
                    ) : (
                      <TeamList teams={found} organizations={[]} />
                    )
                  }
                </Loaded>
              </section>
              {admin && <Events of={of} />}
              {migrating && (
                <Migrate organization={organization} done={teams.again} close={() => setMigrating(false)} />
              )}
            </>
          );
        }}
      </Loaded>
    </article>
  );
}

function Invitations({ of }: { of: string }) {
  const live = useLive(
    `${of} invitations`,
    (signal) => call<Invitation[]>('api', 'GET', `${of}/invitations`, { signal }),
    15,
  );
  const [inviting, setInviting] = useState(false);
  const [refusal, setRefusal] = useState<Refusal>();
  const change = async (method: string, where: string): Promise<void> => {
    setRefusal(undefined);
    try {
      await call('api', method, `${of}/invitations${where}`);
    } catch (error) {
      if (error instanceof Refusal) setRefusal(error);
    }
    live.again();
  };
  return (
    <section>
      <div class="head">
        <h2>Invitations</h2>
        <div class="verbs">
          <button type="button" onClick={() => setInviting(true)}>
            Invite people
          </button>
        </div>
      </div>
      {refusal && <Problem refusal={refusal} />}
      <Loaded live={live}>
        {(found) =>
          found.length === 0 ? (
            <p class="none">Nobody is invited.</p>
          ) : (
            <ul class="list">
              {found.map(({ email, role, state, expiresAt }) => (
                <li key={email}>
                  <span class="grow">
                    {email}{' '}
                    <span class="dim">
                      {role}, {state === 'pending' ? 'until' : 'expired'} {time(expiresAt)}
                    </span>
                  </span>
                  <button
                    type="button"
                    class="small"
                    aria-label={`Invite ${email} again`}
                    onClick={() => void change('POST', path`/${email}/resend`)}
                  >
                    Again
                  </button>
                  <button
                    type="button"
                    class="small"
                    aria-label={`Take back the invitation of ${email}`}
                    onClick={() => void change('DELETE', path`/${email}`)}
                  >
                    Take back
                  </button>
                </li>
              ))}
            </ul>
          )
        }
      </Loaded>
      {inviting && <Invite of={of} done={live.again} close={() => setInviting(false)} />}
    </section>
  );
}
