/**
 * Makes a user with an API token on the installed platform, for smoke tests, by the package's hook. The token stays in the
 * jumpbox's memory until the caller's machine fetches it. It passes through no function and is on no disk.
 */
import * as z from 'zod';
import type { BootstrapOptions } from '../../../shared/bootstrap/options.js';
import { testUserFile } from '../../../shared/bootstrap/test-user.js';
import { done, type StepCall } from '../../engine/step.js';
import { handover } from '../hosts/handover.js';
import { plinthBinary } from '../hosts/plinth-binary.js';
import { defineHostStep, hostNeeds, reach } from '../hosts/reach.js';
import { mustRun, runScript } from '../hosts/script.js';
import { datacenters } from '../topology.js';
import { install, installSecond } from './install.js';
import { installs } from './k0s.js';
import { installerPackage } from './package.js';

const needs = { ...hostNeeds(), install, installSecond, handover, plinthBinary, installerPackage } as const;

export const testUser = defineHostStep({
  name: 'test-user',
  title: 'Test user',
  needs,
  when: (options: BootstrapOptions) => installs(options) && options.createTestUser,
  mayFail: true,
  describe: () => ['a user with an API token on the platform, for smoke tests'],
  output: z.object({ file: z.string() }),
  async observe(call) {
    const { exitCode } = await runScript(await reach(call), '[ -e "$1" ] || [ -e "$1.fetched" ]', [testUserFile]);
    return exitCode === 0 ? { file: testUserFile } : undefined;
  },
  async run(call) {
    await mustRun(await reach(call), 'Making the test user', made, argsOf(call), { timeoutSeconds: 400 });
    return done;
  },
});

function argsOf({ bootstrap, needs: { handover, installerPackage, plinthBinary } }: StepCall<typeof needs, undefined>) {
  const [first = ''] = datacenters.keys(bootstrap.options);
  const { configPath, secretsPath } = handover[first] ?? missing();
  const { path } = installerPackage ?? missing();
  return [testUserFile, plinthBinary.path, path, configPath, secretsPath];
}

const missing = (): never => {
  throw new Error('an install has a package, and files on the jumpbox');
};

/** Its last line holds the token and is not shown. */
const made = `set -eu
umask 077
mkdir -p "$(dirname "$1")"
"$2" install user --json --package "$3" --install-config "$4" --secrets-file "$5" > "$1.new" || {
  code=$?
  # What it says of a failure is among its events, and holds no token.
  tail -n 1 "$1.new" >&2; rm -f "$1.new"; exit "$code"
}
tail -n 1 "$1.new" > "$1.last" && rm -f "$1.new"
mv -f "$1.last" "$1"`;
