/**
 * Fetches the test user of `--create-test-user` from the jumpbox's memory with the caller's own key. It is stored in a file
 * that only the caller can read, and shown once.
 */
import { join } from 'node:path';
import type { Host, Identity } from '../../functions/remote/remote.js';
import type { BootstrapView } from '../../shared/bootstrap/bootstrap.js';
import { testUserFile } from '../../shared/bootstrap/test-user.js';
import { CreatedUser } from '../../shared/package/contract.js';
import { Problem } from '../../shared/problems.js';
import { fileWord, makeSecretFolder, reasonOfWriting, secretMode, writeWhole } from '../files/files.js';
import { registerText } from '../files/secret-text.js';
import type { Settings } from '../settings.js';
import { callerRemote, jumpboxHost, jumpboxIn, ownersWayIn, userOnJumpbox } from './jumpbox.js';

export interface FetchedUser extends CreatedUser {
  /** Where it is now stored. */
  readonly path: string;
}

type TestUserSource = readonly [settings: Settings, view: BootstrapView, identity: Identity, signal: AbortSignal];

/** Without `user`, it was fetched earlier or cannot be fetched now. That undoes nothing of the bootstrap. */
export async function fetchTestUser(
  ...asked: TestUserSource
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

/** Quotes nothing of the file, because it holds a token. */
function whyNot(error: unknown): string {
  if (error instanceof Problem) return error.detail.replace(/\.$/, '');
  const { syscall } = error as NodeJS.ErrnoException;
  return syscall === undefined ? 'what lies there is no test user' : reasonOfWriting(error);
}

async function fetchOnce(...[settings, view, identity, signal]: TestUserSource): Promise<FetchedUser | undefined> {
  const { id, projectId } = view;
  const remote = callerRemote(settings, signal);
  try {
    const user = await userOnJumpbox(settings, ownersWayIn(view), signal);
    const host = (await jumpboxHost(remote, { id, jumpbox: jumpboxIn(view) }, identity, user, signal)).asRoot();
    const found = (await host.read(testUserFile, { signal }))?.toString();
    if (found === undefined) return undefined;
    const text = registerText(found, 'test user', settings);
    const made = CreatedUser.parse(Object.fromEntries(Object.entries(JSON.parse(text)).filter(isOfUser)));
    const folder = join(settings.configFolder, 'test-users');
    makeSecretFolder(folder);
    const path = join(folder, `${fileWord(projectId)}.json`);
    writeWhole(path, `${JSON.stringify(made, undefined, 2)}\n`, secretMode);
    // Only now, so that the user is still there if this command is killed earlier.
    await forget(host, signal);
    return { ...made, path };
  } finally {
    await remote.close();
  }
}

const isOfUser = ([name]: readonly [string, unknown]): boolean => name in CreatedUser.shape;

const forget = (host: Host, signal: AbortSignal) =>
  host.exec(`sh -c ': > ${testUserFile}.fetched && rm -f ${testUserFile}'`, { signal });
