/** Doctor's checks of the way to machines: the Google access token that IAP wants, whose it is, and a named jumpbox. */
import type { Duplex } from 'node:stream';
import { dial } from '../../functions/remote/dial.js';
import type { BootstrapView } from '../../shared/bootstrap/bootstrap.js';
import type { CallerView } from '../../shared/bootstrap/caller.js';
import { asciiLowerCased } from '../../shared/organization/email.js';
import { idOf } from '../bootstrap/named.js';
import type { CommandContext } from '../frame/command.js';
import { createAccessToken, type FoundToken, findAccessToken } from '../identity/access-token.js';
import { addKeyCommand, readOsLogin } from '../identity/os-login.js';
import { jumpboxIn, jumpboxName } from '../machines/jumpbox.js';
import { agentFor } from '../network/send.js';
import { sshProxyOf, tunnelUrlOf } from '../settings.js';
import { type Check, failedBy, ok, skipped, warning } from './check.js';

const tokenName = 'access token for IAP';
const timeoutSeconds = 15;

/** With a project, its machines decide. Without one, the deployment does. */
export async function machineChecks(call: CommandContext, { email, machineAccess }: CallerView): Promise<Check[]> {
  if (call.word('project') === undefined) return machineAccess === 'iap' ? tokenChecks(call, email) : [];
  try {
    const client = await call.connect();
    const view = await client.get(await idOf(call, client));
    const isOsLogin = view.result.machineLogin === 'os-login';
    const tokens = view.machineAccess === 'iap' || isOsLogin ? await tokenChecks(call, email) : [];
    const checks = isOsLogin ? [...tokens, await osLoginCheck(call, view, email)] : tokens;
    const name = `way to ${view.name}`;
    if (checks.some(({ state }) => state === 'failed')) return [...checks, skipped(name, 'there is no access token')];
    return [...checks, await wayCheck(call, view, name)];
  } catch (error) {
    return [failedBy('project', error)];
  }
}

async function tokenChecks({ settings, interrupted }: CommandContext, email: string): Promise<Check[]> {
  let found: FoundToken;
  try {
    found = await findAccessToken(settings, { interrupted });
  } catch (error) {
    return [failedBy(tokenName, error)];
  }
  const { from, account } = found;
  if (account === undefined) return [ok(tokenName, `from ${from}, which does not say whose it is`)];
  if (asciiLowerCased(account) === email) return [ok(tokenName, `of ${account}, from ${from}`)];
  const advice = `plinth gives ${email} the way to machines. With gcloud: gcloud config set account ${email}`;
  return [warning(tokenName, `of ${account}, from ${from}; to plinth you are ${email}`, advice)];
}

/** Whether Google knows a user and a key of the caller. */
async function osLoginCheck(
  { settings, interrupted }: CommandContext,
  { projectId }: BootstrapView,
  email: string,
): Promise<Check> {
  const name = 'OS Login';
  try {
    const { user, keys } = await readOsLogin(settings, { projectId, email: () => email, interrupted });
    if (keys.length > 0) return ok(name, `machines know you as ${user}`);
    return warning(name, `machines know you as ${user}, by no SSH key`, `Bring one: ${addKeyCommand(projectId)}`);
  } catch (error) {
    return failedBy(name, error);
  }
}

/** Opens a connection to the jumpbox's SSH, and sends nothing. */
async function wayCheck(call: CommandContext, view: BootstrapView, name: string): Promise<Check> {
  const jumpbox = jumpboxIn(view);
  if (jumpbox === undefined) return skipped(name, 'it has no jumpbox yet');
  const { tunnel, externalIp, internalIp } = jumpbox;
  try {
    const address = externalIp ?? internalIp;
    const stream = tunnel === undefined ? await dialed(call, address) : await tunneled(call, tunnel);
    stream.destroy();
    return ok(name, tunnel === undefined ? `its jumpbox answers at ${address}` : 'IAP leads to its jumpbox');
  } catch (error) {
    return failedBy(name, error);
  }
}

async function dialed({ settings }: CommandContext, address: string): Promise<Duplex> {
  return dial(address, 22, { name: jumpboxName, proxy: sshProxyOf(settings), timeoutSeconds });
}

async function tunneled({ settings, interrupted: signal }: CommandContext, place: Omit<Parameters<Open>[0], 'port'>) {
  const { openTunnel } = await import('../../functions/remote/iap/tunnel.js');
  const token = createAccessToken(settings, signal);
  const url = tunnelUrlOf(settings);
  const agent = () => agentFor(settings.env, url);
  const way = { name: jumpboxName, url, token, agent, timeoutSeconds, signal };
  return openTunnel({ ...place, port: 22 }, way);
}

type Open = typeof import('../../functions/remote/iap/tunnel.js').openTunnel;
