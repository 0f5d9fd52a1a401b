/**
 * The login profiles of the simulated OS Login: the public keys of an account, and its POSIX users by project. Only the account
 * itself changes them.
 */
import { sha256 } from '../../../shared/sha256.js';
import { subjectOf } from '../../identity/identity.js';
import { isBarred, serviceAccounts } from '../iam/service-accounts.js';
import { type Caller, GoogleError, type JsonObject, type World } from '../kernel/api.js';
import { badRequest } from '../kernel/errors.js';
import { lookUpProject } from '../kernel/projects.js';

export interface KeyRecord {
  /** `<type> <base64> [comment]` */
  key: string;
  /** Microseconds since the epoch, as text. Absent: it never expires. */
  expirationTimeUsec?: string;
}

interface ProfileRecord {
  /** User names by project. */
  posix: Record<string, string>;
  /** By fingerprint. */
  keys: Record<string, KeyRecord>;
}

/** By e-mail. */
const profiles = (world: World): Record<string, ProfileRecord> => world.table<ProfileRecord>('oslogin.profiles');

export const profileOf = (world: World, email: string): ProfileRecord =>
  profiles(world)[email] ?? { posix: {}, keys: {} };

/** Google's limit of a profile. Source: "Troubleshooting OS Login", Google's documentation. */
const mostBytes = 32 * 1024;

/** Writes what `change` makes of the profile, unless Google would find it too large. Expired keys go. */
export function changeProfile(world: World, email: string, change: (profile: ProfileRecord) => void): ProfileRecord {
  const draft = structuredClone(profileOf(world, email));
  draft.keys = Object.fromEntries(Object.entries(draft.keys).filter(([, key]) => isInForce(world, key)));
  change(draft);
  if (JSON.stringify(shownProfile(world, email, draft)).length > mostBytes) {
    throw new GoogleError(
      400,
      'INVALID_ARGUMENT',
      'Login profile size exceeds 32 KiB. Delete profile values to make additional space.',
    );
  }
  profiles(world)[email] = draft;
  return draft;
}

export const isInForce = (world: World, { expirationTimeUsec }: KeyRecord): boolean =>
  expirationTimeUsec === undefined || Number(expirationTimeUsec) / 1000 > world.now();

export const fingerprintOf = (key: string): string => sha256(key.trim());

/** The e-mail and the kind of whoever has the user name on machines of a project. */
export function accountsNamed(world: World, username: string): Caller[] {
  return Object.entries(profiles(world)).flatMap(([email, { posix }]): Caller[] => {
    if (!Object.values(posix).includes(username)) return [];
    if (isBarred(world, email)) return [];
    return [{ email, kind: email.endsWith('.gserviceaccount.com') ? 'serviceAccount' : 'user' }];
  });
}

/** The number by which Google knows an account. */
export const numberOfAccount = (world: World, email: string): string =>
  serviceAccounts(world)[email]?.uniqueId ?? subjectOf(email);

/** `name` is a project. Without one, a service account gets a user in its own, and a person one for no project. */
export function provision(world: World, caller: Caller, profile: ProfileRecord, name: string | undefined): string {
  const project = name ?? serviceAccounts(world)[caller.email]?.projectId ?? '-';
  profile.posix[project] ??= usernameFor(world, caller, project);
  return project;
}

/** Google's rule: letters, digits and underscores of the e-mail, and `ext_` before it outside the own organization. */
function usernameFor(world: World, { email, kind }: Caller, project: string): string {
  if (kind === 'serviceAccount') return `sa_${numberOfAccount(world, email)}`;
  const name = email.toLowerCase().replaceAll(/[^a-z0-9]/g, '_');
  return (isOutsider(world, { email, kind }, project) ? `ext_${name}` : name).slice(0, 32);
}

/** Whether a person is not of the organization of the project. */
export function isOutsider(world: World, { email, kind }: Caller, project: string): boolean {
  const organization = organizationOf(world, project);
  if (kind !== 'user' || organization === undefined) return false;
  return email.split('@')[1] !== organization.displayName;
}

interface Container {
  readonly name: string;
  readonly displayName?: string;
  readonly parent?: string;
}

export function organizationOf(world: World, project: string): Container | undefined {
  const containers = world.table<Container>('containers');
  let at = containers[lookUpProject(world, project)?.parent ?? ''];
  while (at?.parent !== undefined) at = containers[at.parent];
  return at?.name.startsWith('organizations/') === true ? at : undefined;
}

function shownPosix(world: World, email: string, project: string, username: string): JsonObject {
  // Within the range from which Google takes numbers.
  const uid = String(1_000_000 + (Number(BigInt(numberOfAccount(world, email)) % 2_000_000_000n) || 1));
  return {
    primary: true,
    username,
    uid,
    gid: uid,
    homeDirectory: `/home/${username}`,
    operatingSystemType: 'LINUX',
    accountId: project,
    name: `users/${email}/projects/${project}`,
  };
}

const shownKey = (email: string, fingerprint: string, { key, expirationTimeUsec }: KeyRecord): JsonObject => ({
  key,
  ...(expirationTimeUsec === undefined ? {} : { expirationTimeUsec }),
  fingerprint,
  name: `users/${email}/sshPublicKeys/${fingerprint}`,
});

export function shownProfile(world: World, email: string, { posix, keys }: ProfileRecord): JsonObject {
  const accounts = Object.entries(posix);
  const known = Object.entries(keys).filter(([, key]) => isInForce(world, key));
  return {
    name: numberOfAccount(world, email),
    ...(accounts.length === 0
      ? {}
      : { posixAccounts: accounts.map(([project, username]) => shownPosix(world, email, project, username)) }),
    ...(known.length === 0
      ? {}
      : {
          sshPublicKeys: Object.fromEntries(
            known.map(([fingerprint, key]) => [fingerprint, shownKey(email, fingerprint, key)]),
          ),
        }),
  };
}

/** Throws Google's refusal of what is no public key, or of a time that is over. */
export function readKey(world: World, body: JsonObject): KeyRecord {
  const { key, expirationTimeUsec } = body;
  if (typeof key !== 'string' || !/^(?:ssh|ecdsa|sk)-[\w@.-]+ [A-Za-z0-9+/]{20,}={0,2}(?: [^\n]*)?\n?$/.test(key)) {
    throw badRequest('Invalid SSH public key.', 'ssh_public_key.key');
  }
  const expiry =
    expirationTimeUsec === undefined || expirationTimeUsec === '0' ? undefined : String(expirationTimeUsec);
  const record: KeyRecord = { key: key.trim(), ...(expiry === undefined ? {} : { expirationTimeUsec: expiry }) };
  if (!isInForce(world, record)) {
    throw badRequest('The expiration time must be in the future.', 'ssh_public_key.expiration_time_usec');
  }
  return record;
}
