/**
 * The caller's own profile at OS Login, where an organization requires it: the user that machines know them by, and the public
 * keys that Google lets in. Only reads: keys are brought by gcloud.
 */
import * as z from 'zod';
import type { BootstrapView } from '../../shared/bootstrap/bootstrap.js';
import { Problem } from '../../shared/problems.js';
import { timeLimit } from '../../shared/time-limit.js';
import type { CommandContext } from '../frame/command.js';
import { send } from '../network/send.js';
import type { Client } from '../service/client.js';
import { osLoginUrlOf, type Settings } from '../settings.js';
import { findAccessToken } from './access-token.js';
import type { SshKey } from './ssh-key.js';

export type OsLoginSettings = Pick<Settings, 'env' | 'folder' | 'accessToken' | 'osLoginUrl' | 'redactor'>;

export interface OsLoginProfile {
  /** E-mail. */
  readonly account: string;
  readonly user: string;
  /** The base64 of each key that has not expired. */
  readonly keys: readonly string[];
}

export interface OsLoginAsk {
  readonly projectId: string;
  /** Asked if the source of the access token does not say whose it is. */
  readonly email: () => string | Promise<string>;
  readonly interrupted?: AbortSignal | undefined;
}

const timeoutMs = 30_000;

const Profile = z.object({
  posixAccounts: z
    .array(
      z.object({ username: z.string(), primary: z.boolean().optional(), operatingSystemType: z.string().optional() }),
    )
    .default([]),
  sshPublicKeys: z
    .record(z.string(), z.object({ key: z.string().default(''), expirationTimeUsec: z.string().optional() }))
    .default({}),
});
const Refusal = z.object({ error: z.object({ message: z.string() }) });

export const addKeyCommand = (projectId: string, publicKeyPath = '~/.ssh/id_ed25519.pub'): string =>
  `gcloud compute os-login ssh-keys add --key-file ${publicKeyPath} --project ${projectId}`;

/** Throws a Problem that says what to run. */
export async function readOsLogin(settings: OsLoginSettings, ask: OsLoginAsk): Promise<OsLoginProfile> {
  const { projectId, email, interrupted } = ask;
  const { token, account: known } = await findAccessToken(settings, { interrupted });
  const account = known ?? (await email());
  const body = Profile.parse(await get(settings, account, token, ask));
  const linux = body.posixAccounts.filter(({ operatingSystemType = 'LINUX' }) => operatingSystemType !== 'WINDOWS');
  const { username } = linux.find(({ primary }) => primary === true) ?? linux[0] ?? {};
  if (username === undefined) {
    throw new Problem('host-login', `${account} has no user for machines at OS Login yet.`, {
      advice: `An SSH key of yours makes one: ${addKeyCommand(projectId)}`,
    });
  }
  const keys = Object.values(body.sshPublicKeys).flatMap(({ key, expirationTimeUsec }) => {
    const isOver = expirationTimeUsec !== undefined && Number(expirationTimeUsec) / 1000 <= Date.now();
    return isOver ? [] : [blobOf(key)];
  });
  return { account, user: username, keys };
}

const blobOf = (publicKey: string): string => publicKey.trim().split(/\s+/)[1] ?? '';

/** Throws if Google does not let the key in. `path`: of the public key, for the advice. */
function checkKeyIsKnown({ account, keys }: OsLoginProfile, publicKey: string, projectId: string, path?: string): void {
  if (keys.includes(blobOf(publicKey))) return;
  throw new Problem('host-login', `OS Login lets ${account} in by other SSH keys, or by none.`, {
    advice: `Bring this one: ${addKeyCommand(projectId, path)}. Or name another with --ssh-private-key-path.`,
  });
}

async function get(
  settings: OsLoginSettings,
  account: string,
  token: string,
  { projectId, interrupted }: OsLoginAsk,
): Promise<unknown> {
  const url = new URL(`${osLoginUrlOf(settings)}/v1/users/${encodeURIComponent(account)}/loginProfile`);
  url.searchParams.set('projectId', projectId);
  const limit = timeLimit(timeoutMs);
  let response: Response;
  let body: unknown;
  try {
    response = await send(settings.env, url, {
      redirect: 'error',
      headers: { authorization: `Bearer ${token}` },
      signal: interrupted === undefined ? limit : AbortSignal.any([limit, interrupted]),
    });
    body = await response.json();
  } catch (error) {
    interrupted?.throwIfAborted();
    if (error instanceof Problem) throw error;
    throw new Problem('cloud-unavailable', `OS Login gave no answer at ${url.origin}.`, { cause: error });
  }
  if (response.ok) return body;
  const said = Refusal.safeParse(body).data?.error.message ?? `it answered ${response.status}`;
  throw new Problem('host-login', `OS Login does not show the profile of ${account}: ${said}`, {
    advice: `Log in to gcloud as yourself (gcloud auth login), and see that ${projectId} is shared with you.`,
  });
}

/** The user that machines know the caller by. Undefined where they use no OS Login. Throws if Google would not let the key in. */
export async function osLoginUser(
  { settings, interrupted }: Pick<CommandContext, 'settings' | 'interrupted'>,
  client: Pick<Client, 'caller'>,
  view: BootstrapView,
  key: SshKey,
) {
  const { projectId, result } = view;
  if (result.machineLogin !== 'os-login') return undefined;
  const email = async () => (await client.caller()).email;
  const profile = await readOsLogin(settings, { projectId, email, interrupted });
  const { privatePath } = key;
  checkKeyIsKnown(profile, key.publicKey, projectId, privatePath === undefined ? undefined : `${privatePath}.pub`);
  return profile.user;
}
