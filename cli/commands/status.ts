/** `plinth beta bootstrap-cloud status`: what exists of a bootstrap, and with `--follow` its events until it ends. */
import { idOf } from '../bootstrap/named.js';
import { followToEnd, problemOfEnd, timingTable } from '../follow/follow.js';
import { summary } from '../follow/summary.js';
import { defineCommand } from '../frame/command.js';
import { createLookUp, delegationOf } from '../identity/delegation.js';

export const status = defineCommand({
  description: [
    'Shows the state of the bootstrap of a project, by its name or id. Config and secrets files are written by bootstrap-cloud itself: run it again in your folder.',
  ],
  options: ['timer', 'sshQuiet'],
  flags: { follow: 'Follow it until it ends.' },
  examples: ['plinth beta bootstrap-cloud status demo --follow'],

  async run(call) {
    const client = await call.connect();
    const found = await client.get(await idOf(call, client));
    if (!call.has('follow')) {
      const delegation = await delegationOf(found, createLookUp(call.settings.dnsResolver));
      return {
        data: { bootstrap: found, ...(delegation !== undefined && { delegation }) },
        show: (style) => summary(found, style, { untold: true, delegation }),
      };
    }

    const timer = call.given.timer === true;
    const { view, timings } = await followToEnd(call, client, found, timer);
    if (timer && !call.output.json) call.output.say(timingTable(timings, call.output.style));
    const problem = problemOfEnd(view);
    return {
      data: { bootstrap: view, ...(timer && { timings }) },
      ...(problem !== undefined && { problem }),
      show: (style) => summary(view, style),
    };
  },
});
