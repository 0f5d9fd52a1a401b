/** `npm run -s local:token -- someone@example.com`: prints an ID token for that person from the running local stack. */
import { parseArgs } from 'node:util';
import { askForTokens } from './stack/stack.js';
import { defaultStateFolder, openStateFolder, serves } from './stack/state-folder.js';

async function main(): Promise<string> {
  const { values, positionals } = parseArgs({
    allowPositionals: true,
    options: { state: { type: 'string', default: defaultStateFolder } },
  });
  const [email, ...more] = positionals;
  if (email === undefined || more.length > 0 || !/^[^\s@]+@[^\s@]+$/.test(email)) {
    throw new Error('Give one e-mail address: npm run -s local:token -- someone@example.com');
  }
  const record = openStateFolder(values.state).readCloud();
  if (record === undefined || !(await serves(record.pid, record.frontUrl))) {
    throw new Error(
      `Nothing runs in ${values.state}. Start \`npm run local${values.state === defaultStateFolder ? '' : ` -- --state ${values.state}`}\` first.`,
    );
  }
  return (await askForTokens(record, email)).idToken;
}

try {
  process.stdout.write(`${await main()}\n`);
} catch (error) {
  process.stderr.write(`${(error as Error).message}\n`);
  process.exitCode = 2;
}
