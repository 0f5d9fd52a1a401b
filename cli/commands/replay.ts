/** `plinth org replay`, `plinth team replay`: sends events to the webhook again, and says how many. */
import { timeForm, timeOf } from '../../shared/bootstrap/duration.js';
import type { Replayed } from '../../shared/organization/replay.js';
import { type Fault, Problem } from '../../shared/problems.js';
import { type CommandContext, defineCommand } from '../frame/command.js';
import type { ReplayFrom } from '../service/event-calls.js';

const flags = {
  since: 'From then on: how long ago, such as 2d, or a time with its zone such as 2030-01-31T18:00:00Z.',
  event: 'From this event on, by its id. --json-lines of the events shows ids.',
} as const;
const how =
  'Each message has the id that it had, so a receiver knows a repeat. At most 50 a minute are sent again, of all that is asked for in the deployment. What happens meanwhile, and what waits to be sent anyway, goes out as always. If too many wait to be sent again, the command ends, and names the command that goes on.';

export const orgReplay = defineCommand({
  description: [
    `Sends events of an organization to the webhook of the deployment again, oldest first. For admins of the organization. ${how}`,
  ],
  flags,
  examples: ['plinth org replay acme --since 2d', 'plinth org replay acme --event 00062a5c3f0b1e-1a2b3c4d'],

  async run(call) {
    const { organizationIdOf, readInput } = await import('../organizations/input.js');
    const { from, faults } = readFrom(call);
    const { organization } = readInput(call, ['organization'], [], faults);
    const client = await call.connectOrganizations();
    const id = await organizationIdOf(client, organization);
    return replayed(`org replay ${id}`, from, (more) => client.replayEvents(id, more));
  },
});

export const teamReplay = defineCommand({
  description: [
    `Sends events of a team to the webhook of the deployment again, oldest first. For admins of the team and of its organization. ${how}`,
  ],
  flags,
  examples: ['plinth team replay 42 --since 2d'],

  async run(call) {
    const { readInput } = await import('../organizations/input.js');
    const { from, faults } = readFrom(call);
    const { teamId } = readInput(call, ['teamId'], [], faults);
    const client = await call.connectOrganizations();
    return replayed(`team replay ${teamId}`, from, (more) => client.replayTeamEvents(teamId, more));
  },
});

function readFrom(call: CommandContext): { readonly from: ReplayFrom; readonly faults: readonly Fault[] } {
  const [since, event] = [call.word('since')?.text, call.word('event')?.text];
  if ((since === undefined) === (event === undefined)) {
    const message = since === undefined ? 'is required, or --event' : 'cannot be combined with --event';
    return { from: {}, faults: [{ path: '--since', message }] };
  }
  if (event !== undefined) return { from: { eventId: event }, faults: [] };
  const time = timeOf(since ?? '', 'ago', new Date());
  return time === undefined
    ? { from: {}, faults: [{ path: '--since', message: timeForm }] }
    : { from: { since: time }, faults: [] };
}

interface Done {
  readonly events: number;
  readonly until?: string;
}

/** A call takes so many events. The next one goes on where it stopped. `words`: the command without its flags. */
async function replayed(words: string, first: ReplayFrom, send: (from: ReplayFrom) => Promise<Replayed>) {
  let done: Done = { events: 0 };
  let from = first;
  try {
    for (;;) {
      const { events, next, until }: Replayed = await send(from);
      done = { ...done, events: done.events + events, ...(until !== undefined && { until }) };
      if (next === undefined) break;
      from = { eventId: next };
    }
  } catch (error) {
    throw error instanceof Problem ? await stopped(error, words, from, done) : error;
  }
  const said = await textOf(done);
  return { data: { ...done }, show: () => `${said}.` };
}

/** It names the command that goes on, if there is a known event to begin with. */
async function stopped(problem: Problem, words: string, from: ReplayFrom, done: Done): Promise<Problem> {
  const { code, detail, errors, retryAfterSeconds = 0 } = problem;
  const { next, ...members } = problem.members ?? {};
  const eventId = typeof next === 'string' ? next : from.eventId;
  if (eventId === undefined || (done.events === 0 && next === undefined)) return problem;
  const before = done.events === 0 ? '' : ` Before that, ${await textOf(done)}.`;
  const minutes = Math.ceil(retryAfterSeconds / 60);
  const when = minutes === 0 ? 'Go on' : `In ${minutes === 1 ? 'a minute' : `${minutes} minutes`}, go on`;
  return new Problem(code, `${detail}${before}`, {
    advice: `${when} with: plinth ${words} --event ${eventId}`,
    members: { ...members, ...done, eventId },
    ...(errors !== undefined && { errors }),
    cause: problem,
  });
}

async function textOf({ events, until }: Done): Promise<string> {
  const { time } = await import('../frame/table.js');
  const what = events === 1 ? '1 event is' : `${events} events are`;
  return `${what} sent to the webhook again${until === undefined ? '' : `, until ${time(until)}`}`;
}
