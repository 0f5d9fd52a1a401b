/** `plinth pool status|fill|drain`: the projects that are prepared before anybody asks. For operators. */
import type { PoolsView } from '../../shared/bootstrap/pools.js';
import { defineCommand } from '../frame/command.js';
import { type Output, printable } from '../frame/output.js';

type Pool = PoolsView['pools'][number];

async function shown({ pools, projects, bootstraps }: PoolsView, { style }: Pick<Output, 'style'>) {
  const { listing, time } = await import('../frame/table.js');
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
    pool.oldestAt === undefined ? '-' : time(pool.oldestAt),
    `${pool.taken} of ${pool.taken + pool.missed}`,
    pool.limits['CPUS'] === undefined ? '-' : String(pool.limits['CPUS']),
    stateOf(pool),
  ]);
  const head = ['PARENT', 'BILLING ACCOUNT', 'REGION', 'FREE', 'PREPARING', 'OLDEST', 'HITS', 'CPUS', 'STATE'];
  const text =
    pools.length === 0
      ? 'This deployment has no pools.'
      : `${listing(head, rows, style)}\nThey hold ${projects} projects and as many billing links, beside those of ${bootstraps} bootstraps.`;
  return { data: { pools, projects, bootstraps }, show: () => text };
}

const status = defineCommand({
  words: 'pool status',
  summary: 'Show the pools of prepared projects, for operators',
  description: [
    'Shows how many projects wait in each pool, how old they are, how often a bootstrap took one, and the quota that they have.',
  ],
  examples: ['plinth pool status'],

  async run(call) {
    const client = await call.connect();
    return shown(await client.pools(), call.output);
  },
});

const fill = defineCommand({
  words: 'pool fill',
  summary: 'Fill the pools of prepared projects again, for operators',
  description: ['Ends what `plinth pool drain` began, and the rest after a failure. The next sweep makes what lacks.'],
  examples: ['plinth pool fill'],

  async run(call) {
    const client = await call.connect();
    return shown(await client.fillPools(), call.output);
  },
});

const drain = defineCommand({
  words: 'pool drain',
  summary: 'Remove all prepared projects, and make no more, for operators',
  description: [
    'What waits is set aside by the next sweep and removed by cleanup. What bootstraps have claimed stays.',
  ],
  examples: ['plinth pool drain'],

  async run(call) {
    const client = await call.connect();
    return shown(await client.drainPools(), call.output);
  },
});

export const pools = [status, fill, drain] as const;
