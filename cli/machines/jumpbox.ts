/** Connects to the jumpbox of a bootstrap with the caller's own key, through IAP where only IAP leads to it. */
import { createRemote, type Host, type Identity, type Machine, type Remote } from '../../functions/remote/remote.js';
import type { BootstrapView, VmView } from '../../shared/bootstrap/bootstrap.js';
import type { LostJumpbox } from '../../shared/bootstrap/lost-jumpbox.js';
import { Problem } from '../../shared/problems.js';
import { type Settings, tunnelUrlOf } from '../settings.js';

export const jumpboxName = 'jumpbox';

export interface SeenJumpbox extends Pick<VmView, 'internalIp' | 'externalIp' | 'hostKeys'> {
  /** Where IAP finds it. Then it has no address that could be dialed. */
  readonly tunnel?: Machine['tunnel'];
}

/** Undefined until it is made. */
export function jumpboxIn(
  view: Pick<BootstrapView, 'projectId' | 'machineAccess' | 'result'>,
): SeenJumpbox | undefined {
  const jumpbox = view.result.vms.find(({ name }) => name === jumpboxName);
  if (jumpbox === undefined || view.machineAccess !== 'iap') return jumpbox;
  return { ...jumpbox, tunnel: { project: view.projectId, zone: jumpbox.zone, instance: jumpboxName } };
}

/** Without a record, nobody says how it is reached. One without a public address is reached through IAP. */
export function lostJumpbox({ id, name, projectId, jumpbox }: LostJumpbox, zone: string) {
  const tunnel = { project: projectId, zone, instance: jumpboxName };
  return { id, name, jumpbox: jumpbox.externalIp === undefined ? { ...jumpbox, tunnel } : jumpbox };
}

/** What connections to machines need of the settings. */
export type ReachSettings = Pick<Settings, 'sshProxy' | 'iapTunnelUrl' | 'accessToken' | 'env' | 'folder'>;

export function callerRemote(settings: ReachSettings, interrupted?: AbortSignal): Remote {
  let source: ((fresh: boolean) => Promise<string>) | undefined;
  const token = async (fresh: boolean): Promise<string> => {
    const { createAccessToken } = await import('../identity/access-token.js');
    source ??= createAccessToken(settings, interrupted);
    return source(fresh);
  };
  return createRemote({ sshProxy: settings.sshProxy, iap: { url: tunnelUrlOf(settings), token } });
}

/** Address and host keys may change between two calls, because the VM may have been restarted. */
export function jumpboxHost(
  remote: Remote,
  { id, jumpbox }: { readonly id: string; readonly jumpbox: SeenJumpbox | undefined },
  identity: Identity,
  signal: AbortSignal,
): Promise<Host> {
  const address = jumpbox?.tunnel === undefined ? jumpbox?.externalIp : jumpbox.internalIp;
  if (address === undefined) throw new Problem('host-unreachable', 'The jumpbox has no address yet.');
  const { hostKeys = [], tunnel } = jumpbox ?? {};
  const machine = { name: jumpboxName, address, user: 'ubuntu', hostKeys, tunnel };
  return remote.host({ bootstrapId: id, jumpbox: machine, ...identity }, signal);
}
