/** The organizations and teams of the caller, and what they are invited into. */
import { useRef, useState } from 'preact/hooks';
import type { Invitation, Organization } from '../shared/organization/organization.js';
import type { Team } from '../shared/organization/team.js';
import { call, path, Refusal } from './calls.js';
import { useLive } from './live.js';
import { Loaded, Problem, Question, Title } from './parts.js';
import { go } from './route.js';
import { time } from './words.js';

type Making = 'organization' | 'team';

export function OrganizationsPage() {
  const organizations = useLive(
    'organizations',
    (signal) => call<Organization[]>('api', 'GET', '/organizations', { signal }),
    15,
  );
  const teams = useLive('teams', (signal) => call<Team[]>('api', 'GET', '/teams', { signal }), 15);
  const [making, setMaking] = useState<Making>();
  return (
    <section>
      <div class="head">
        <Title>Organizations</Title>
        <div class="verbs">
          <button type="button" onClick={() => setMaking('organization')}>
            New organization
          </button>
          <button type="button" onClick={() => setMaking('team')}>
            New team
          </button>
        </div>
      </div>
      <Invitations joined={organizations.again} />
      <Loaded live={organizations}>
        {(found) =>
          found.length === 0 ? (
            <p class="none">You are in no organization. Make one, or have an admin invite you.</p>
          ) : (
            <ul class="list">
              {found.map(({ id, name, role }) => (
                <li key={id}>
                  <a href={`#/organizations/${encodeURIComponent(id)}`}>{name}</a>
                  <span class="dim">{role ?? 'operator'}</span>
                </li>
              ))}
            </ul>
          )
        }
      </Loaded>
      <h2>Teams</h2>
      <Loaded live={teams}>
        {(found) =>
          found.length === 0 ? (
            <p class="none">You are in no team.</p>
          ) : (
            <TeamList teams={found} organizations={organizations.data ?? []} />
          )
        }
      </Loaded>
      {making === 'organization' && (
        <Make
          what="organization"
          close={() => setMaking(undefined)}
          made={({ id }: Organization) => go(`/organizations/${id}`)}
        />
      )}
      {making === 'team' && (
        <Make what="team" close={() => setMaking(undefined)} made={({ teamId }: Team) => go(`/teams/${teamId}`)} />
      )}
    </section>
  );
}

export const TeamList = ({
  teams,
  organizations,
}: {
  teams: readonly Team[];
  organizations: readonly Organization[];
}) => (
  <ul class="list">
    {teams.map(({ teamId, name, organizationId, role }) => (
      <li key={teamId}>
        <a href={`#/teams/${teamId}`}>{name}</a>
        <span class="dim">
          {[role, organizationId === null ? 'standalone' : organizations.find(({ id }) => id === organizationId)?.name]
            .filter(Boolean)
            .join(' · ')}
        </span>
      </li>
    ))}
  </ul>
);

interface MakeParts<T> {
  readonly what: Making;
  close(): void;
  made(made: T): void;
}

function Make<T>({ what, close, made }: MakeParts<T>) {
  // A second try of the same makes nothing twice, whatever became of the first.
  const tried = useRef({ name: '', key: crypto.randomUUID() });
  return (
    <Question
      title={`Make ${what === 'organization' ? 'an organization' : 'a team'}`}
      verb="Make"
      close={close}
      act={async (form) => {
        const name = String(form.get('name'));
        if (tried.current.name !== name) tried.current = { name, key: crypto.randomUUID() };
        const headers = { 'idempotency-key': tried.current.key };
        made(await call<T>('api', 'POST', `/${what}s`, { body: { name }, headers }));
      }}
    >
      <p>You are its first admin.</p>
      <label>
        Name
        <input name="name" required maxLength={100} autocomplete="off" />
      </label>
    </Question>
  );
}

function Invitations({ joined }: { joined(): void }) {
  const live = useLive('invitations', (signal) => call<Invitation[]>('api', 'GET', '/invitations', { signal }), 15);
  const [refusal, setRefusal] = useState<Refusal>();
  const answer = async ({ organizationId }: Invitation, verb: 'accept' | 'decline'): Promise<void> => {
    setRefusal(undefined);
    try {
      await call('api', 'POST', path`/invitations/${organizationId}/${verb}`);
      live.again();
      joined();
    } catch (error) {
      if (error instanceof Refusal) setRefusal(error);
    }
  };
  const open = (live.data ?? []).filter(({ state }) => state === 'pending');
  if (open.length === 0) return null;
  return (
    <section class="hint" aria-label="Invitations">
      {open.map((each) => (
        <div key={each.organizationId} class="row">
          <span>
            {each.invitedBy} invites you into <b>{each.name}</b> as {each.role}, until {time(each.expiresAt)}.
          </span>
          <button type="button" class="main" onClick={() => void answer(each, 'accept')}>
            Join {each.name}
          </button>
          <button type="button" onClick={() => void answer(each, 'decline')}>
            Decline
          </button>
        </div>
      ))}
      {refusal && <Problem refusal={refusal} />}
    </section>
  );
}
