/** The user that machines know the caller by, where they use OS Login, and whether Google lets their key in. */
import type { BootstrapView } from '../../shared/bootstrap/bootstrap.js';
import type { Call } from '../frame/command.js';
import type { Client } from '../service/client.js';
import { checkKeyIsKnown, readOsLogin } from './os-login.js';
import type { SshKey } from './ssh-key.js';

/** Undefined where machines use no OS Login. Throws if Google would not let the key in. */
export async function osLoginUser(
  { settings, interrupted }: Pick<Call, 'settings' | 'interrupted'>,
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
