/** `plinth beta bootstrap-cloud list`: one's own bootstraps. */
import { defineCommand } from '../command.js';

export const list = defineCommand({
  words: 'beta bootstrap-cloud list',
  summary: 'List your bootstraps',
  description: ['Lists your bootstraps, newest first.'],
  flags: { all: "Everybody's, for operators." },
  examples: ['plinth beta bootstrap-cloud list'],

  async run(call) {
    const client = await call.connect();
    const bootstraps = await client.list(call.has('all'));
    const { listing, time } = await import('../table.js');
    return {
      data: { bootstraps },
      show: (style) =>
        bootstraps.length === 0
          ? 'No bootstraps.'
          : listing(
              ['NAME', 'PROJECT', 'STATE', 'REGION', 'BEGUN', 'REMOVED', ...(call.has('all') ? ['OWNER'] : [])],
              bootstraps.map(({ name, projectId, state, region, createdAt, deadlineAt, owner }) => [
                name,
                projectId,
                state,
                region,
                time(createdAt),
                time(deadlineAt),
                ...(call.has('all') ? [owner] : []),
              ]),
              style,
            ),
    };
  },
});
