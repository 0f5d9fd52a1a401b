/** `plinth open`: the platform of a bootstrap in the browser. */
import { shellWord } from '../../shared/command-words.js';
import { Problem } from '../../shared/problems.js';
import { idOf } from '../bootstrap/named.js';
import { openInBrowser } from '../frame/browser.js';
import { defineCommand } from '../frame/command.js';

export const open = defineCommand({
  description: [
    'Prints the address of the platform. On a terminal it also opens it in your browser, where there is one. In a pipe and with --json it only prints.',
  ],
  examples: ['plinth open demo', 'curl --head "$(plinth open demo)"'],

  async run(call) {
    const { io, output, settings } = call;
    const client = await call.connect();
    const { name, state, result } = await client.get(await idOf(call, client));
    const { platform } = result;
    const gone = state === 'removed' ? 'it is removed' : state.startsWith('remov') ? 'it is being removed' : undefined;
    if (platform === undefined || gone !== undefined) {
      throw new Problem('not-found', `${name} has no platform: ${gone ?? 'none is installed'}.`, {
        advice: `See what stands: plinth beta bootstrap-cloud status ${shellWord(name)}`,
      });
    }
    const { url } = platform;
    if (io.stdout.isTTY === true && !output.json) {
      openInBrowser(url, settings);
    }
    return { data: { url }, show: () => url };
  },
});
