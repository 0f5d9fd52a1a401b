/** `plinth pool status|fill|drain`: the projects that are prepared before anybody asks. For operators. */
import { formatSeconds } from '../../shared/bootstrap/duration.js';
import type { PoolsView } from '../../shared/bootstrap/pools.js';
import { defineCommand } from '../frame/command.js';
import { type Output, printable } from '../frame/output.js';
import { listing, time } from '../frame/table.js';

type Pool = PoolsView['pools'][number];

/** `5m`, or `5m to 3d 2h` from the youngest to the oldest. */
function agesOf({ since }: Pool, nowMs: number): string {
  const ages = since.map((at) => formatSeconds(Math.max(60, Math.floor((nowMs - Date.parse(at)) / 60_000) * 60)));
  return [...new Set([ages.at(-1), ages[0]])].filter((age) => age !== undefined).join(' to ') || '-';
}

function shown(view: PoolsView, { style }: Pick<Output, 'style'>) {
  const { pools, projects, bootstraps, share } = view;
  const nowMs = Date.now();
  const stateOf = ({ drained, rest }: Pool): string => {
    if (drained) return 'drained';
    return rest === undefined ? '' : `rests until ${time(rest.until)}: ${printable(rest.why)}`;
  };
  const rows = pools.map((pool) => [
    printable(pool.parent),
    printable(pool.billingAccount),
    printable(pool.region),
    `${pool.free} of ${pool.size}`,
    String(pool.preparing),
    agesOf(pool, nowMs),
    `${pool.taken} of ${pool.taken + pool.missed}`,
    pool.limits['CPUS'] === undefined ? '-' : String(pool.limits['CPUS']),
    stateOf(pool),
  ]);
  const head = ['PARENT', 'BILLING ACCOUNT', 'REGION', 'FREE', 'PREPARING', 'AGES', 'HITS', 'CPUS', 'STATE'];
  const text =
    pools.length === 0
      ? 'This deployment has no pools.'
      : `${listing(head, rows, style)}\nThey hold ${projects} projects and as many billing links, beside those of ${bootstraps} bootstraps: ${Math.round(share * 100)} % of what plinth uses.`;
  return { data: view, show: () => text };
}

export const poolStatus = defineCommand({
  description: [
    'Shows how many projects wait in each pool, how old they are, how often a bootstrap took one, and the quota that they have. Below it stands their share of the projects and billing links that plinth uses.',
  ],
  examples: ['plinth pool status'],

  async run(call) {
    const client = await call.connect();
    return shown(await client.pools(), call.output);
  },
});

export const poolFill = defineCommand({
  description: ['Ends what `plinth pool drain` began, and the rest after a failure. The next sweep makes what lacks.'],
  examples: ['plinth pool fill'],

  async run(call) {
    const client = await call.connect();
    return shown(await client.fillPools(), call.output);
  },
});

export const poolDrain = defineCommand({
  description: [
    'What waits is set aside by the next sweep and removed by cleanup. What bootstraps have claimed stays.',
  ],
  examples: ['plinth pool drain'],

  async run(call) {
    const client = await call.connect();
    return shown(await client.drainPools(), call.output);
  },
});
