/** Asks for each setting on the terminal. Enter keeps the present value, - removes it. */
import { Problem } from '../shared/problems.js';
import type { ConfigName, ConfigValues } from './files/config-file.js';
import type { Call } from './frame/command.js';
import { ask } from './frame/confirm.js';
import { printable } from './frame/output.js';
import { askPassphrase } from './identity/passphrase.js';

const questions: readonly (readonly [ConfigName, string])[] = [
  ['endpoints.bootstraps', 'URL of the bootstrap API'],
  ['endpoints.api', 'URL of the API of organizations and teams'],
  ['oauth.clientId', 'OAuth client by which people log in'],
  ['oauth.clientSecret', "The client's secret (not shown)"],
];

export async function askForConfig(
  standing: ConfigValues,
  call: Call,
  whyBad: (name: ConfigName, value: string) => string | undefined,
): Promise<ConfigValues> {
  const { output } = call;
  output.say('Enter keeps what stands in brackets, - takes it away.');
  const values = new Map(Object.entries(standing));
  for (const [name, question] of questions) {
    if (name === 'oauth.clientSecret' && !values.has('oauth.clientId')) continue;
    for (;;) {
      const text = await answerTo(name, question, standing[name], call);
      const why = text === '' || text === '-' ? undefined : whyBad(name, text);
      if (why !== undefined) {
        output.say(`It ${why}.`);
        continue;
      }
      if (text === '-') values.delete(name);
      else if (text !== '') values.set(name, text);
      break;
    }
  }
  return Object.fromEntries(values);
}

async function answerTo(name: ConfigName, question: string, standing: string | undefined, call: Call) {
  const kept = standing === undefined ? 'none' : printable(standing);
  if (name !== 'oauth.clientSecret') {
    const text = (await ask(`${question} [${kept}]:`, call)).trim();
    call.interrupted.throwIfAborted();
    return text;
  }
  const typed = await askPassphrase(`${question} [${standing === undefined ? 'none' : 'kept'}]: `, call.io);
  if (typed === undefined) throw new Problem('interrupted', 'Interrupted.', { advice: 'Nothing was written.' });
  return typed.trim();
}
