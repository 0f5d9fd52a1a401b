/**
 * The test user of `--create-test-user`: fetched from the jumpbox's memory with the caller's own key, kept in a file of the
 * caller's alone, shown this once. Called at the end of bootstrap-cloud.
 */
import { join } from 'node:path';
import type { Host, Identity } from '../../functions/remote/remote.js';
import type { BootstrapView } from '../../shared/bootstrap/bootstrap.js';
import { testUserFile } from '../../shared/bootstrap/test-user.js';
import { CreatedUser } from '../../shared/package/contract.js';
import { Problem } from '../../shared/problems.js';
import { makeSecretFolder, reasonOfWriting, secretMode, writeWhole } from '../files/files.js';
import type { Settings } from '../settings.js';
import { callerRemote, jumpboxHost } from './jumpbox.js';

export interface FetchedUser extends CreatedUser {
  /** Where it is kept from now on. */
  readonly path: string;
}

type Asked = readonly [settings: Settings, view: BootstrapView, identity: Identity, signal: AbortSignal];

/** No `user`: it was fetched before, or cannot be now, which undoes nothing of the bootstrap. */
export async function fetchTestUser(
  ...asked: Asked
): Promise<{ readonly user?: FetchedUser | undefined; readonly warning?: string }> {
  try {
    return { user: await fetchOnce(...asked) };
  } catch (error) {
    const [, , , signal] = asked;
    const why = signal.aborted ? 'interrupted' : whyNot(error);
    return {
      warning: `the test user was made, but is not fetched from the jumpbox: ${why}. Run the same command again: it fetches the user`,
    };
  }
}

/** Nothing of what lies there is quoted: it holds a token. */
function whyNot(error: unknown): string {
  if (error instanceof Problem) return error.detail.replace(/\.$/, '');
  const { syscall } = error as NodeJS.ErrnoException;
  return syscall === undefined ? 'what lies there is no test user' : reasonOfWriting(error);
}

async function fetchOnce(
  ...[settings, { id, projectId, result }, identity, signal]: Asked
): Promise<FetchedUser | undefined> {
  const remote = callerRemote(settings);
  try {
    const jumpbox = result.vms.find(({ name }) => name === 'jumpbox');
    const host = (await jumpboxHost(remote, { id, jumpbox }, identity, signal)).asRoot();
    const text = (await host.read(testUserFile, { signal }))?.toString();
    if (text === undefined) return undefined;
    const made = CreatedUser.parse(Object.fromEntries(Object.entries(JSON.parse(text)).filter(isOfUser)));
    const folder = join(settings.configFolder, 'test-users');
    makeSecretFolder(folder);
    const path = join(folder, `${projectId}.json`);
    writeWhole(path, `${JSON.stringify(made, undefined, 2)}\n`, secretMode);
    // Only now: whoever is killed before finds it there again.
    await forget(host, signal);
    return { ...made, path };
  } finally {
    await remote.close();
  }
}

const isOfUser = ([name]: readonly [string, unknown]): boolean => name in CreatedUser.shape;

const forget = (host: Host, signal: AbortSignal) =>
  host.exec(`sh -c ': > ${testUserFile}.fetched && rm -f ${testUserFile}'`, { signal });
