/** Runs the package's hook that makes a user on the installed platform. */
import { join } from 'node:path';
import { CreatedUser } from '../../shared/package/contract.js';
import type { InstallEvent } from '../../shared/package/install-event.js';
import { Problem } from '../../shared/problems.js';
import { makeSecretFolder } from '../files/files.js';
import { environmentOf, inputOf, lastLines } from './component-call.js';
import { runExecutable } from './component-process.js';
import type { InstallInputs } from './inputs.js';
import { skippedSteps } from './install.js';
import { takeLock } from './installed.js';

const timeoutSeconds = 300;
const hook = { component: 'create-user', step: 'create-user' } as const;

/** The last line of its standard output holds the user. Only the caller may see it. */
export async function createUser(
  inputs: InstallInputs,
  name: string,
  onEvent: (event: InstallEvent) => void,
  signal: AbortSignal,
): Promise<CreatedUser> {
  const { folder: packageFolder, manifest } = inputs.package;
  const program = manifest.hooks.createUser;
  if (program === undefined) {
    throw new Problem('bad-input', `The package ${manifest.name} ${manifest.version} has no hook that makes a user.`, {
      errors: [{ path: 'package.json', message: 'has no hook createUser' }],
      advice: 'Make the user by the means of the platform itself.',
    });
  }
  const folder = join(inputs.stateFolder, `dc${inputs.config.dataCenter.id}`);
  makeSecretFolder(folder);
  const lock = await takeLock(folder);
  try {
    const { redactor } = inputs;
    const out: string[] = [];
    const log: string[] = [];
    const { exitCode, why } = await runExecutable({
      program: join(packageFolder, program),
      folder: packageFolder,
      environment: environmentOf(inputs, folder, hook.component, 'createUser'),
      input: JSON.stringify({ ...inputOf(inputs, skippedSteps(inputs), 'createUser'), user: { name } }),
      timeoutSeconds,
      signal,
      onStart: lock.runs,
      onLine(line, from) {
        // Standard output may hold the token.
        if (from === 'stdout') {
          out.push(line);
          return;
        }
        const text = redactor.redact(line);
        log.push(text);
        if (log.length > lastLines) log.shift();
        onEvent({ type: 'component-log', ...hook, text });
      },
    });
    if (why === 'interrupted') throw new Problem('detached', 'Interrupted while the user was made.');
    const read = CreatedUser.safeParse(parsed(out.findLast((line) => line.trim() !== '')));
    if (exitCode === 0 && read.success) return read.data;
    const reason =
      exitCode === 0 ? 'its answer is not { user, token, url }' : `it ended with exit code ${exitCode ?? 'none'}`;
    throw new Problem('install-failed', `The user could not be made: ${reason}.`, {
      advice: 'Mend what it says, then run the same command again.',
      members: { ...hook, lastLines: log },
    });
  } finally {
    lock.release();
  }
}

function parsed(line: string | undefined): unknown {
  try {
    return JSON.parse(line ?? '');
  } catch {
    return undefined;
  }
}
