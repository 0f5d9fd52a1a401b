/** Who did what in an organization or a team, the newest first. */
import type { OrganizationEvent } from '../shared/organization/organization.js';
import { call } from './calls.js';
import { useLive } from './live.js';
import { Loaded } from './parts.js';
import { time } from './words.js';

const shown = 50;

/** `of`: the path of the organization or team. */
export function Events({ of }: { of: string }) {
  const live = useLive(
    `${of} events`,
    (signal) => call<OrganizationEvent[]>('api', 'GET', `${of}/events?limit=${shown}`, { signal }),
    5,
  );
  return (
    <section>
      <h2>Events</h2>
      <Loaded live={live}>
        {(events) => (
          <ol class="events">
            {events.map(({ id, at, actor, action, email, teamId }) => (
              <li key={id}>
                <time dateTime={at}>{time(at)}</time>
                <span>
                  {actor}: {action.replaceAll('-', ' ')}
                  {email !== undefined && ` ${email}`}
                  {teamId !== undefined && (
                    <>
                      {' '}
                      <a href={`#/teams/${teamId}`}>team {teamId}</a>
                    </>
                  )}
                </span>
              </li>
            ))}
          </ol>
        )}
      </Loaded>
    </section>
  );
}
