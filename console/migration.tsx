/** Brings a standalone team into an organization, and takes it back: first who stays, who leaves and what moves, then the question. */
import { useState } from 'preact/hooks';
import type { Member, Organization } from '../shared/organization/organization.js';
import type { MigrationPreview, MovedBootstrap, Team, UndoPreview } from '../shared/organization/team.js';
import { answerOf, call, path, reply } from './calls.js';
import { useLive } from './live.js';
import { Loaded, Question } from './parts.js';
import { time } from './words.js';

interface Previewed<T> {
  readonly preview: T;
  /** Sent back: if anything has changed since, nothing is done. */
  readonly etag: string;
}

async function look<T>(where: string, signal: AbortSignal): Promise<Previewed<T>> {
  const found = await reply('api', 'GET', where, { signal });
  return { preview: (await answerOf(found)) as T, etag: found.headers.get('etag') ?? '' };
}

interface PeopleParts {
  readonly title: string;
  readonly members: readonly Member[];
  /** How many they are, where the service names nobody. */
  readonly count?: number | undefined;
  /** Said of all of them. */
  readonly children?: preact.ComponentChildren;
}

const People = ({ title, members, count, children }: PeopleParts) =>
  (count ?? members.length) === 0 ? null : (
    <>
      <h3>
        {title}
        {count !== undefined && `: ${count}`}
      </h3>
      {children !== undefined && <p>{children}</p>}
      <ul class="goes">
        {members.map(({ email, role }) => (
          <li key={email}>
            {email} <span class="dim">{role}</span>
          </li>
        ))}
      </ul>
    </>
  );

const Moved = ({ bootstraps }: { bootstraps: readonly MovedBootstrap[] }) =>
  bootstraps.length === 0 ? null : (
    <>
      <h3>Projects that move</h3>
      <ul class="goes">
        {bootstraps.map(({ projectId, name, owner, gains, loses }) => (
          <li key={projectId}>
            {name} of {owner}
            {gains.length > 0 && <small>seen by {gains.join(', ')} from then on</small>}
            {loses.length > 0 && <small>seen no more by {loses.join(', ')}</small>}
          </li>
        ))}
      </ul>
    </>
  );

interface MigrateParts {
  readonly organization: Organization;
  done(): void;
  close(): void;
}

export function Migrate({ organization, done, close }: MigrateParts) {
  const [team, setTeam] = useState<number>();
  const [force, setForce] = useState(false);
  const teams = useLive('standalone teams', (signal) => call<Team[]>('api', 'GET', '/teams', { signal }));
  const alone = (teams.data ?? []).filter(({ organizationId }) => organizationId === null);
  const preview = useLive(`migration ${team}`, async (signal) =>
    team === undefined
      ? undefined
      : look<MigrationPreview>(`${path`/teams/${team}/migration`}?organizationId=${organization.id}`, signal),
  );
  const seen = preview.data;
  const { leaves = [], counts } = seen?.preview ?? {};
  const leaving = counts?.leaves ?? leaves.length;
  return (
    <Question
      title={`Bring a team into ${organization.name}`}
      verb="Migrate"
      danger={leaving > 0}
      ready={seen !== undefined && (leaving === 0 || force)}
      close={close}
      act={async () => {
        const body = { organizationId: organization.id, force };
        await call('api', 'POST', path`/teams/${team ?? 0}/migrate`, {
          body,
          headers: { 'if-match': seen?.etag ?? '' },
        });
        done();
      }}
    >
      <label>
        Number of a standalone team
        <input
          name="team"
          inputMode="numeric"
          pattern="\d+"
          required
          list="alone"
          autocomplete="off"
          onChange={(event) => {
            const text = event.currentTarget.value.trim();
            setForce(false);
            setTeam(/^\d+$/.test(text) ? Number(text) : undefined);
          }}
        />
        <datalist id="alone">
          {alone.map(({ teamId, name }) => (
            <option key={teamId} value={teamId}>
              {name}
            </option>
          ))}
        </datalist>
      </label>
      {team !== undefined && (
        <Loaded live={preview}>
          {(found) =>
            found && (
              <>
                <People title="Members who stay" members={found.preview.stays} count={counts?.stays} />
                <People title="Members who leave" members={leaves} count={counts?.leaves}>
                  They are not members of {organization.name}.
                </People>
                <Moved bootstraps={found.preview.bootstraps ?? []} />
                {leaving > 0 && (
                  <label class="check">
                    <input
                      type="checkbox"
                      checked={force}
                      onChange={(event) => setForce(event.currentTarget.checked)}
                    />
                    Remove them from the team
                  </label>
                )}
              </>
            )
          }
        </Loaded>
      )}
    </Question>
  );
}

export function UndoMigration({ team, done, close }: { team: Team; done(): void; close(): void }) {
  const where = path`/teams/${team.teamId}/migrations/latest/undo`;
  const live = useLive(where, (signal) => look<UndoPreview>(where, signal));
  return (
    <Question
      title={`Undo the migration of ${team.name}`}
      verb="Undo"
      danger
      ready={live.data !== undefined}
      close={close}
      act={async () => {
        await call('api', 'POST', where, { headers: { 'if-match': live.data?.etag ?? '' } });
        done();
      }}
    >
      <p>The team stands alone again, with the members and roles that it had.</p>
      <Loaded live={live}>
        {({ preview }) => (
          <>
            <People title="Members who stay" members={preview.stays} />
            <People title="Members who return, or get their role back" members={preview.returns} />
            <People title="Members who leave" members={preview.leaves} count={preview.counts?.leaves} />
            <People title="Members who have another role now" members={preview.changes} />
            <p class="dim">It can be undone until {time(preview.until)}.</p>
          </>
        )}
      </Loaded>
    </Question>
  );
}
