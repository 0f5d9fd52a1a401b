/** Connects to the jumpbox of a bootstrap with the caller's own key, through IAP where only IAP leads to it. */
import { createRemote, type Host, type Identity, type Remote } from '../../functions/remote/remote.js';
import type { BootstrapView, MachineLogin, VmView } from '../../shared/bootstrap/bootstrap.js';
import { Problem } from '../../shared/problems.js';
import { createAccessToken } from '../identity/access-token.js';
import { readOsLogin } from '../identity/os-login.js';
import { agentFor } from '../network/send.js';
import { type Settings, sshProxyOf, tunnelUrlOf } from '../settings.js';

export const jumpboxName = 'jumpbox';

export type SeenJumpbox = Pick<VmView, 'internalIp' | 'externalIp' | 'hostKeys' | 'tunnel'>;

/** Undefined until it is made. */
export const jumpboxIn = ({ result }: Pick<BootstrapView, 'result'>): VmView | undefined =>
  result.vms.find(({ name }) => name === jumpboxName);

/** What connections to machines need of the settings. */
export type ReachSettings = Pick<
  Settings,
  'sshProxy' | 'iapTunnelUrl' | 'osLoginUrl' | 'accessToken' | 'redactor' | 'env' | 'folder'
>;

/** How the caller logs in to the machines of a bootstrap. */
export interface WayIn {
  readonly by: MachineLogin | undefined;
  readonly projectId: string;
  /** The caller's, for who cannot tell it by the access token. */
  readonly email: string;
}

/** Of a bootstrap whose owner calls. */
export const ownersWayIn = ({ result, projectId, owner }: BootstrapView): WayIn => ({
  by: result.machineLogin,
  projectId,
  email: owner,
});

export function callerRemote(settings: ReachSettings, interrupted?: AbortSignal): Remote {
  let source: ((fresh: boolean) => Promise<string>) | undefined;
  const token = async (fresh: boolean): Promise<string> => {
    source ??= createAccessToken(settings, interrupted);
    return source(fresh);
  };
  const url = tunnelUrlOf(settings);
  return createRemote({
    sshProxy: sshProxyOf(settings),
    iap: { url, token, agent: () => agentFor(settings.env, url) },
  });
}

/** Address and host keys may change between two calls, because the VM may have been restarted. */
export function jumpboxHost(
  remote: Remote,
  { id, jumpbox }: { readonly id: string; readonly jumpbox: SeenJumpbox | undefined },
  identity: Identity,
  user: string,
  signal: AbortSignal,
): Promise<Host> {
  const address = jumpbox?.tunnel === undefined ? jumpbox?.externalIp : jumpbox.internalIp;
  if (address === undefined) throw new Problem('host-unreachable', 'The jumpbox has no address yet.');
  const { hostKeys = [], tunnel } = jumpbox ?? {};
  const machine = { name: jumpboxName, address, user, hostKeys, tunnel };
  return remote.host({ bootstrapId: id, jumpbox: machine, ...identity }, signal);
}

/** The user that the caller has on the jumpbox. */
export async function userOnJumpbox(
  settings: ReachSettings,
  { by, projectId, email }: WayIn,
  interrupted?: AbortSignal,
): Promise<string> {
  if (by !== 'os-login') return 'ubuntu';
  return (await readOsLogin(settings, { projectId, email: () => email, interrupted })).user;
}
