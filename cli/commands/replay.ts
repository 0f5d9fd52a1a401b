/** `plinth org replay`, `plinth team replay`: sends events to the webhook again, and says how many. */

import { momentOf } from '../../shared/bootstrap/duration.js';
import type { Replayed } from '../../shared/organization/replay.js';
import type { Fault } from '../../shared/problems.js';
import { type Call, defineCommand } from '../frame/command.js';
import type { ReplayFrom } from '../service/event-calls.js';
import { timeForm } from './events.js';

const flags = {
  since: 'From then on: a time such as 2030-01-31T18:00:00Z, or how long ago, such as 2d.',
  event: 'From this event on, by its id. --json-lines of the events shows ids.',
} as const;
const how =
  'Each message has the id that it had, so a receiver knows a repeat. At most 50 a minute are sent again, of all that is asked for in the deployment. What happens meanwhile goes out as always.';

export const orgReplay = defineCommand({
  words: 'org replay',
  takes: ['organization'],
  summary: 'Send events of an organization to the webhook again',
  description: [
    `Sends events of an organization to the webhook of the deployment again, oldest first. For admins of the organization. ${how}`,
  ],
  flags,
  examples: ['plinth org replay acme --since 2d', 'plinth org replay acme --event 00062a5c3f0b1e-1a2b3c4d'],

  async run(call) {
    const { organizationIdOf, readInput } = await import('../organization-input.js');
    const { from, faults } = readFrom(call);
    const { organization } = readInput(call, ['organization'], [], faults);
    const client = await call.connectOrganizations();
    const id = await organizationIdOf(client, organization);
    return replayed(from, (more) => client.replayEvents(id, more));
  },
});

export const teamReplay = defineCommand({
  words: 'team replay',
  takes: ['teamId'],
  summary: 'Send events of a team to the webhook again',
  description: [
    `Sends events of a team to the webhook of the deployment again, oldest first. For admins of the team and of its organization. ${how}`,
  ],
  flags,
  examples: ['plinth team replay 42 --since 2d'],

  async run(call) {
    const { readInput } = await import('../organization-input.js');
    const { from, faults } = readFrom(call);
    const { teamId } = readInput(call, ['teamId'], [], faults);
    const client = await call.connectOrganizations();
    return replayed(from, (more) => client.replayTeamEvents(teamId, more));
  },
});

function readFrom(call: Call): { readonly from: ReplayFrom; readonly faults: readonly Fault[] } {
  const [since, event] = [call.word('since')?.text, call.word('event')?.text];
  if ((since === undefined) === (event === undefined)) {
    const message = since === undefined ? 'is required, or --event' : 'cannot be combined with --event';
    return { from: {}, faults: [{ path: '--since', message }] };
  }
  if (event !== undefined) return { from: { eventId: event }, faults: [] };
  const moment = momentOf(since ?? '', 'ago', Date.now());
  return moment === undefined
    ? { from: {}, faults: [{ path: '--since', message: timeForm }] }
    : { from: { since: new Date(moment).toISOString() }, faults: [] };
}

/** A call takes so many events. The next one goes on where it stopped. */
async function replayed(first: ReplayFrom, send: (from: ReplayFrom) => Promise<Replayed>) {
  let events = 0;
  let until: string | undefined;
  for (let from: ReplayFrom | undefined = first; from !== undefined; ) {
    const { events: more, next, until: later }: Replayed = await send(from);
    events += more;
    until = later ?? until;
    from = next === undefined ? undefined : { eventId: next };
  }
  const { time } = await import('../frame/table.js');
  const what = events === 1 ? '1 event is' : `${events} events are`;
  const when = until === undefined ? '' : `, until ${time(until)}`;
  return {
    data: { events, ...(until !== undefined && { until }) },
    show: () => `${what} sent to the webhook again${when}.`,
  };
}
