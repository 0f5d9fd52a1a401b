/** Connects to the jumpbox of a bootstrap with the caller's own key. */
import { createRemote, type Host, type Identity, type Remote } from '../../functions/remote/remote.js';
import type { VmView } from '../../shared/bootstrap/bootstrap.js';
import { Problem } from '../../shared/problems.js';
import type { Settings } from '../settings.js';
import { jumpboxName } from './ssh-config.js';

export type SeenJumpbox = Pick<VmView, 'internalIp' | 'externalIp' | 'hostKeys'>;

export const callerRemote = ({ sshProxy }: Pick<Settings, 'sshProxy'>): Remote => createRemote({ sshProxy });

/** Address and host keys may change between two calls, because the VM may have been restarted. */
export function jumpboxHost(
  remote: Remote,
  { id, jumpbox }: { readonly id: string; readonly jumpbox: SeenJumpbox | undefined },
  identity: Identity,
  signal: AbortSignal,
): Promise<Host> {
  const address = jumpbox?.externalIp;
  if (address === undefined) throw new Problem('host-unreachable', 'The jumpbox has no address yet.');
  const machine = { name: jumpboxName, address, user: 'ubuntu', hostKeys: jumpbox?.hostKeys ?? [] };
  return remote.host({ bootstrapId: id, jumpbox: machine, ...identity }, signal);
}
