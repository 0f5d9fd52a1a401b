/** `plinth beta bootstrap-cloud list`: your own bootstraps, those shared with you and those of your teams, or everybody's. */
import type { BootstrapSummary } from '../../shared/bootstrap/bootstrap.js';
import { forecastCell } from '../../shared/bootstrap/forecast-text.js';
import { calledBy } from '../../shared/command-words.js';
import { teamOf } from '../bootstrap/team-flag.js';
import { costSoFar } from '../follow/cost-text.js';
import { ageOf, isProtected, leftOf, removeAtOf } from '../follow/life-text.js';
import { defineCommand } from '../frame/command.js';
import type { Style } from '../frame/output.js';
import { listing, table, time } from '../frame/table.js';

const headings = ['NAME', 'PROJECT', 'STATE', 'AGE', 'LEFT', 'COST'];

/** The command that tries a removal again which is left alone. */
const retryOf = (each: BootstrapSummary): (readonly [string, string])[] =>
  each.removal?.quarantinedAt === undefined
    ? []
    : [[each.name, `plinth beta bootstrap-cloud cleanup ${calledBy(each)}`]];

export const list = defineCommand({
  description: [
    'Lists your bootstraps, those shared with you and those of your teams. First come the living ones, in the order in which they end. Then come the removed ones, for 90 days.',
    'Behind the state of one that is on its way stand how many of its parts are done, and its minutes until it is ready. Half of those like it took the first figure, nine in ten at most the second. LEFT is the time until cleanup may remove the project. COST is what it has cost so far, an estimate from list prices or those of this deployment. --json has their day, and the cost until the end.',
  ],
  flags: {
    all: "Everybody's, for operators.",
    team: 'Only what belongs to this team or is shared with it, by number.',
  },
  examples: [
    'plinth beta bootstrap-cloud list',
    'plinth beta bootstrap-cloud list --team 42',
    'plinth beta bootstrap-cloud list --all --json',
  ],

  async run(call) {
    const team = teamOf(call);
    const client = await call.connect();
    const all = call.has('all');
    const bootstraps = inOrder(await client.list(all, team), removeAtOf);
    return {
      data: { bootstraps },
      show(style) {
        if (bootstraps.length === 0) return 'No bootstraps.';
        const nowMs = Date.now();
        const withTeam = bootstraps.some((each) => each.team !== undefined);
        const isShared = bootstraps.some(
          ({ owner, sharedWith }) => owner !== bootstraps[0]?.owner || sharedWith.length > 0,
        );
        const withOwner = all || withTeam || isShared;
        const rows = bootstraps.map((each) => {
          const paint = paintOf(each, style);
          return [
            each.name,
            each.projectId,
            { text: stateText(each, each.forecast && forecastCell(each.forecast)), paint },
            ageOf(each, nowMs),
            leftOf(each, nowMs),
            costSoFar(each.cost),
            ...(withOwner ? [each.owner] : []),
            ...(withTeam ? [String(each.team ?? '-')] : []),
          ];
        });
        const notes = (title: string, lines: readonly (readonly [string, string])[]): string[] =>
          lines.length === 0 ? [] : ['', style.bold(title), ...table(lines)];
        return [
          listing([...headings, ...(withOwner ? ['OWNER'] : []), ...(withTeam ? ['TEAM'] : [])], rows, style),
          ...notes(
            'Protected',
            bootstraps.flatMap((each) => {
              const { name, state, removal, protection } = each;
              if (protection === undefined || removal !== undefined || state === 'removed') return [];
              if (!isProtected(each, nowMs)) return [];
              return [[name, `until ${time(protection.until)} by ${protection.by}: ${protection.reason}`] as const];
            }),
          ),
          ...notes(
            'VMs stopped, because they cost more than they may',
            bootstraps.flatMap(({ name, vmsStopped }) =>
              vmsStopped === undefined ? [] : [[name, `${vmsStopped.why} ${vmsStopped.advice}`] as const],
            ),
          ),
          ...notes(
            'Could not be removed',
            bootstraps.flatMap(({ name, state, problem }) =>
              state === 'removal-failed' ? [[name, problem?.detail ?? 'the record says not why'] as const] : [],
            ),
          ),
          ...notes('Tried again by', bootstraps.flatMap(retryOf)),
        ].join('\n');
      },
    };
  },
});

/** `running 45/65 ~8m, ≤12m`, `succeeded, VMs stopped` */
function stateText({ state, progress, vmsStopped }: BootstrapSummary, forecast: string | undefined): string {
  const done = progress && `${progress.done}/${progress.total}`;
  const words = [state, done, forecast].filter((word) => word !== undefined).join(' ');
  return `${words}${vmsStopped === undefined ? '' : ', VMs stopped'}`;
}

/** Living bootstraps come first, the earliest removal first. Removed ones follow, the latest first. */
function inOrder(
  bootstraps: readonly BootstrapSummary[],
  endOf: (each: BootstrapSummary) => string,
): BootstrapSummary[] {
  const gone = ({ state }: BootstrapSummary) => state === 'removed';
  return [
    ...bootstraps.filter((each) => !gone(each)).sort((a, b) => endOf(a).localeCompare(endOf(b))),
    ...bootstraps.filter(gone).sort((a, b) => (b.endedAt ?? '').localeCompare(a.endedAt ?? '')),
  ];
}

function paintOf({ state }: BootstrapSummary, style: Style): (text: string) => string {
  if (state === 'failed' || state === 'removal-failed') return style.red;
  if (state === 'removed') return style.dim;
  return state === 'succeeded' ? style.green : style.yellow;
}
