/** `plinth beta bootstrap-cloud cancel`: stops a bootstrap between two of its steps. */
import { shellWord } from '../../shared/command-words.js';
import { idOf } from '../bootstrap/named.js';
import { defineCommand } from '../frame/command.js';

export const cancel = defineCommand({
  description: [
    'Stops the bootstrap of a project between two of its steps, and keeps what it made. The same bootstrap-cloud command goes on with it. The project is removed when its time is over.',
  ],
  examples: ['plinth beta bootstrap-cloud cancel demo'],

  async run(call) {
    const client = await call.connect();
    const view = await client.cancel(await idOf(call, client));
    const said = {
      cancelling: `The bootstrap of ${view.name} stops as soon as what is under way has ended.`,
      cancelled: `The bootstrap of ${view.name} is cancelled; what stands, stands.`,
      running: `The bootstrap of ${view.name} is told to stop.`,
      succeeded: `The bootstrap of ${view.name} had succeeded already; nothing changes.`,
      'succeeded-with-warnings': `The bootstrap of ${view.name} had succeeded already; nothing changes.`,
      failed: `The bootstrap of ${view.name} had failed already; nothing changes.`,
      removing: `The bootstrap of ${view.name} is being removed already; nothing changes.`,
      'removal-failed': `The bootstrap of ${view.name} is being removed already; nothing changes.`,
      removed: `The bootstrap of ${view.name} is removed already; nothing changes.`,
    }[view.state];
    const follow = `Watch it: plinth beta bootstrap-cloud status ${shellWord(view.name)} --follow`;
    return {
      data: { bootstrap: view },
      show: () => (view.state === 'cancelling' || view.state === 'running' ? `${said}\n${follow}` : said),
    };
  },
});
