/**
 * OS Login in the simulated cloud: accounts bring the public keys by which they log in to VMs. Who may log in is a matter of
 * roles (guest.ts).
 *
 * How Google refuses another account's profile is not known here, so it is refused plainly.
 */
import { type ApiDefinition, type CloudCall, GoogleError, type Handler, type World } from '../kernel/api.js';
import { badRequest, deniedPlainly } from '../kernel/errors.js';
import {
  changeProfile,
  fingerprintOf,
  isInForce,
  numberOfAccount,
  profileOf,
  provision,
  readKey,
  shownProfile,
} from './profiles.js';

const service = 'oslogin.googleapis.com';

/** `users/<e-mail or number>/…` of the caller's own account. Returns what follows. */
function ownPath({ caller, params }: CloudCall, world: World): readonly string[] {
  const [, user = '', ...rest] = (params['name'] ?? params['parent'] ?? '').split('/');
  const own = [caller.email, numberOfAccount(world, caller.email)];
  if (!own.includes(decodeURIComponent(user).toLowerCase())) throw deniedPlainly();
  return rest;
}

/** The project in the query. */
function projectIn({ params }: CloudCall, world: World): string | undefined {
  const { projectId } = params;
  return projectId === undefined || projectId === '' ? undefined : world.project(projectId, { service }).projectId;
}

const getLoginProfile: Handler = (call, world) => {
  ownPath(call, world);
  if ((call.params['systemId'] ?? '') !== '') throw badRequest('Request contains an invalid argument.', 'system_id');
  projectIn(call, world);
  const { email } = call.caller;
  return shownProfile(world, email, profileOf(world, email));
};

/** A key that is there already gets the new time. */
const importSshPublicKey: Handler = (call, world) => {
  ownPath(call, world);
  const project = projectIn(call, world);
  const key = readKey(world, call.body);
  const { email } = call.caller;
  const changed = changeProfile(world, email, (profile) => {
    profile.keys[fingerprintOf(key.key)] = key;
    if (project !== undefined || Object.keys(profile.posix).length === 0)
      provision(world, call.caller, profile, project);
  });
  return { loginProfile: shownProfile(world, email, changed) };
};

const deleteKey: Handler = (call, world) => {
  const [, fingerprint = ''] = ownPath(call, world);
  const { email } = call.caller;
  const key = profileOf(world, email).keys[fingerprint];
  if (key === undefined || !isInForce(world, key)) {
    throw new GoogleError(404, 'NOT_FOUND', 'Requested entity was not found.');
  }
  changeProfile(world, email, (profile) => {
    delete profile.keys[fingerprint];
  });
  return {};
};

const handlers: Readonly<Record<string, Handler>> = {
  'oslogin.users.getLoginProfile': getLoginProfile,
  'oslogin.users.importSshPublicKey': importSshPublicKey,
  'oslogin.users.sshPublicKeys.delete': deleteKey,
};

export const osLogin: ApiDefinition<'oslogin'> = {
  api: 'oslogin.v1',
  handlers,
  // An account needs no role for its own profile.
  access: Object.fromEntries(Object.keys(handlers).map((method) => [method, () => []])),
};
