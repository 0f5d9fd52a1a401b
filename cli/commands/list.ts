/** `plinth beta bootstrap-cloud list`: one's own bootstraps. */
import { defineCommand } from '../command.js';

export const list = defineCommand({
  words: 'beta bootstrap-cloud list',
  summary: 'List your bootstraps',
  description: ['Lists your bootstraps, newest first.'],
  options: [],
  flags: ['all'],
  examples: ['plinth beta bootstrap-cloud list'],

  async run(call) {
    const client = await call.connect();
    const bootstraps = await client.list(call.has('all'));
    const { table, time } = await import('../summary.js');
    return {
      data: { bootstraps },
      show: () =>
        bootstraps.length === 0
          ? 'No bootstraps.'
          : table([
              ['NAME', 'PROJECT', 'STATE', 'REGION', 'BEGUN', 'REMOVED', ...(call.has('all') ? ['OWNER'] : [])],
              ...bootstraps.map(({ name, projectId, state, region, createdAt, deadlineAt, owner }) => [
                name,
                projectId,
                state,
                region,
                time(createdAt),
                time(deadlineAt),
                ...(call.has('all') ? [owner] : []),
              ]),
            ]).join('\n'),
    };
  },
});
