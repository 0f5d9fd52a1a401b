/** `plinth org events`, `plinth team events`: who did what, as a table, as lines of JSON, or as it happens. */
import { setTimeout as sleep } from 'node:timers/promises';
import { timeForm, timeOf } from '../../shared/bootstrap/duration.js';
import { type Fault, problemKinds } from '../../shared/problems.js';
import { type CommandContext, defineCommand } from '../frame/command.js';
import { printable } from '../frame/output.js';
import { listing, time } from '../frame/table.js';
import { organizationIdOf, readInput } from '../organizations/input.js';
import type { EventFilter, Events, ShownEvent } from '../service/event-calls.js';

const usualLimit = 50;
/** Between two looks of --follow. */
const restMs = 2000;

const flags = {
  actor: 'Only what this person did.',
  action: 'Only this, such as member-removed.',
  member: 'Only what concerns this person.',
  since: 'Only from then on: how long ago, such as 2d, or a time with its zone such as 2030-01-31T18:00:00Z.',
  until: 'Only before then, in the same two forms.',
  limit: `At most so many events. (default: ${usualLimit}, and all of them with --json-lines)`,
  'json-lines': 'Print each event as one line of JSON, oldest first.',
  follow: 'Go on with what happens from now on, until Ctrl-C.',
} as const;

export const orgEvents = defineCommand({
  description: ['Shows who did what in an organization, and when, newest first. For admins of the organization.'],
  flags: { ...flags, team: 'Only what concerns this team, by its number.' },
  examples: [
    'plinth org events acme',
    'plinth org events acme --action member-removed --since 30d',
    'plinth org events acme --json-lines >acme.jsonl',
  ],

  async run(call) {
    const asked = readAsked(call);
    const { organization, team, ...only } = readInput(
      call,
      ['organization'],
      ['actor', 'action', 'member', 'team'],
      asked.faults,
    );
    const teamId = team === undefined ? undefined : String(team);
    const client = await call.connectOrganizations();
    const id = await organizationIdOf(client, organization);
    return show(call, asked.limit, { ...asked.times, ...given({ ...only, teamId }) }, (most, filter) =>
      client.events(id, most, filter),
    );
  },
});

export const teamEvents = defineCommand({
  description: [
    'Shows who did what to a team, and when, newest first, also before it came into its organization. For admins of the team and of its organization.',
  ],
  flags,
  examples: ['plinth team events 42', 'plinth team events 42 --follow'],

  async run(call) {
    const asked = readAsked(call);
    const { teamId, ...only } = readInput(call, ['teamId'], ['actor', 'action', 'member'], asked.faults);
    const client = await call.connectOrganizations();
    return show(call, asked.limit, { ...asked.times, ...given(only) }, (most, filter) =>
      client.teamEvents(teamId, most, filter),
    );
  },
});

const given = (only: Readonly<Record<string, string | undefined>>): EventFilter =>
  Object.fromEntries(Object.entries(only).filter(([, value]) => value !== undefined));

function readAsked(call: CommandContext) {
  const limit = call.number('limit') ?? (call.has('json-lines') ? Number.MAX_SAFE_INTEGER : usualLimit);
  const faults: Fault[] = limit >= 1 ? [] : [{ path: '--limit', message: `must be at least 1, not ${limit}` }];
  const times: Record<string, string> = {};
  for (const name of ['since', 'until'] as const) {
    const text = call.word(name)?.text;
    if (text === undefined) continue;
    const time = timeOf(text, 'ago', new Date());
    if (time === undefined) faults.push({ path: `--${name}`, message: timeForm });
    else times[name] = time;
  }
  if (call.has('follow') && call.word('until') !== undefined) {
    faults.push({ path: '--until', message: 'cannot be combined with --follow' });
  }
  return { limit, faults, times };
}

type Read = (most: number, filter: EventFilter) => Promise<Events>;

async function show(call: CommandContext, limit: number, filter: EventFilter, read: Read) {
  const { output } = call;
  if (call.has('follow')) return follow(call, limit, filter, read);
  const { events, more } = await read(limit, filter);
  if (more) output.say(`There are older ones: --limit ${limit * 10} shows more.`);
  if (call.has('json-lines')) {
    for (const event of [...events].reverse()) output.piece(`${JSON.stringify(event)}\n`);
    return { data: { events, more } };
  }
  return {
    data: { events, more },
    show: (style: Parameters<typeof listing>[2]) =>
      events.length === 0
        ? 'Nothing has happened yet.'
        : listing(
            ['WHEN', 'WHO', 'WHAT', 'ABOUT', 'CHANGE'],
            events.map((event) => [time(event.at), event.actor, event.action, about(event), change(event)]),
            style,
          ),
  };
}

/** Prints the last ones, and then each as it comes. */
async function follow(call: CommandContext, limit: number, filter: EventFilter, read: Read) {
  const { interrupted, output } = call;
  const tell = (event: ShownEvent): void => {
    if (output.json) output.event({ type: 'event', event });
    else if (call.has('json-lines')) output.piece(`${JSON.stringify(event)}\n`);
    else output.piece(`${[time(event.at), event.actor, event.action, about(event), change(event)].join('  ')}\n`);
  };
  try {
    // What comes later is not older than the newest one of all.
    let since = (await read(1, {})).events[0]?.at ?? filter.since;
    const seen = new Set<string>();
    for (let found = await read(limit, filter); ; found = await read(Number.MAX_SAFE_INTEGER, later(filter, since))) {
      for (const event of found.events.filter(({ id }) => !seen.has(id)).reverse()) {
        tell(event);
        seen.add(event.id);
        if (since === undefined || event.at > since) since = event.at;
      }
      await sleep(restMs, undefined, { signal: interrupted });
    }
  } catch (error) {
    if (!interrupted.aborted) throw error;
  }
  return { data: {}, exitCode: problemKinds.interrupted.exit };
}

const later = (filter: EventFilter, since: string | undefined): EventFilter => ({
  ...filter,
  ...(since !== undefined && (filter.since === undefined || since > filter.since) && { since }),
});

const about = ({ teamId, email }: ShownEvent): string =>
  [...(email === undefined ? [] : [email]), ...(teamId === undefined ? [] : [`team ${teamId}`])].join(', ') || '-';

const change = ({ before, after, why }: ShownEvent): string => {
  const [from, to] = [brief(before), brief(after)];
  const said = why === undefined ? '' : ` (${printable(why)})`;
  return `${from === to ? to : `${from} → ${to}`}${said}`;
};

/** A short form. `--json` prints the whole state. */
function brief(state: unknown): string {
  if (typeof state !== 'object' || state === null) return '-';
  const { team, ...rest } = state as Readonly<Record<string, unknown>>;
  const { role, name, members, organizationId } = { ...(team as object | undefined), ...rest };
  const parts = [
    ...(typeof name === 'string' ? [name] : []),
    ...(organizationId === null ? ['standalone'] : []),
    ...(typeof role === 'string' ? [role] : []),
    ...(Array.isArray(members) ? [`${members.length} ${members.length === 1 ? 'member' : 'members'}`] : []),
  ];
  return printable(parts.join(', ')) || '-';
}
