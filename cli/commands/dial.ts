/**
 * `plinth beta dial`: connects standard input and output to a machine, so that ssh's ProxyCommand needs no other program. The
 * ssh config that plinth writes uses it.
 */
import type { Duplex } from 'node:stream';
import { dial as dialAddress } from '../../functions/remote/dial.js';
import { type Fault, Problem } from '../../shared/problems.js';
import { type CommandContext, defineCommand } from '../frame/command.js';
import { refusal } from '../frame/required.js';
import { createAccessToken } from '../identity/access-token.js';
import { agentFor } from '../network/send.js';
import { sshProxyOf, tunnelUrlOf } from '../settings.js';

/** As `functions/remote` waits for a connection. */
const timeoutSeconds = 15;

export const dial = defineCommand({
  description: [
    'Connects to an address, through the HTTP CONNECT proxy that PLINTH_SSH_PROXY names if it is set, and passes standard input and output on. For ssh -o ProxyCommand="plinth beta dial %h %p".',
    'With --iap, the address is the name of a VM without a public address, and IAP leads there. The connection outlives lost ones. It needs a Google access token: from gcloud (gcloud auth login), from Application Default Credentials, or in PLINTH_ACCESS_TOKEN.',
  ],
  flags: { iap: 'Go through IAP to the VM of this name. Written <project>/<zone>.' },
  examples: [
    'ssh -o ProxyCommand="plinth beta dial %h %p" ubuntu@203.0.113.7',
    'plinth beta dial --iap my-first-1a2b3c/europe-west4-a jumpbox 22',
  ],

  async run(call) {
    const { to, faults } = readTarget(call);
    if (faults.length > 0) throw refusal(faults);
    const stream = await (to.place === undefined ? dialed(call, to) : tunneled(call, to, to.place));
    call.interrupted.addEventListener('abort', () => stream.destroy(), { once: true });
    const broken = await lead(call, stream);
    if (broken === undefined || call.interrupted.aborted) return { data: {} };
    if (broken instanceof Problem) throw broken;
    const detail = `The connection to ${to.address}, port ${to.port}, was lost: ${broken.message}.`;
    throw new Problem('host-unreachable', detail);
  },
});

interface Target {
  readonly address: string;
  readonly port: number;
  /** Set if IAP leads there. */
  readonly place: { readonly project: string; readonly zone: string } | undefined;
}

function readTarget(call: CommandContext): { readonly to: Target; readonly faults: readonly Fault[] } {
  const faults = [...call.faults];
  const address = call.word('address')?.text ?? '';
  const port = Number(call.word('port')?.text);
  if (call.word('port') !== undefined && !(Number.isInteger(port) && port > 0 && port < 65_536)) {
    faults.push({ path: '<port>', message: 'must be a number from 1 to 65535' });
  }
  const iap = call.word('iap');
  // A project's id may begin with a domain: example.com:my-project.
  const [, project = '', zone = ''] = /^([a-z0-9.:-]+)\/([a-z0-9-]+)$/.exec(iap?.text ?? '') ?? [];
  if (iap === undefined) return { to: { address, port, place: undefined }, faults };
  if (zone === '') faults.push({ path: iap.path, message: 'must be <project>/<zone>' });
  if (call.word('address') !== undefined && !/^[a-z](?:[a-z0-9-]{0,61}[a-z0-9])?$/.test(address)) {
    faults.push({ path: '<address>', message: 'must be the name of a VM, as --iap is given' });
  }
  return { to: { address, port, place: { project, zone } }, faults };
}

async function dialed({ settings }: CommandContext, { address, port }: Target): Promise<Duplex> {
  const proxy = sshProxyOf(settings);
  return dialAddress(address, port, { name: address, proxy, timeoutSeconds });
}

async function tunneled(
  { settings, interrupted: signal }: CommandContext,
  { address: instance, port }: Target,
  place: { readonly project: string; readonly zone: string },
): Promise<Duplex> {
  const { openTunnel } = await import('../../functions/remote/iap/tunnel.js');
  const url = tunnelUrlOf(settings);
  const token = createAccessToken(settings, signal);
  const agent = () => agentFor(settings.env, url);
  return openTunnel({ ...place, instance, port }, { name: instance, url, token, agent, timeoutSeconds, signal });
}

/** Until the connection has ended. Returns what broke it. */
async function lead({ io: { stdin, stdout } }: CommandContext, stream: Duplex): Promise<Error | undefined> {
  let broken: Error | undefined;
  const over = new Promise<void>((resolve) => stream.once('close', resolve));
  stream.on('error', (error) => {
    broken = error;
  });
  // ssh may exit first.
  stdout.on('error', () => stream.destroy());
  stdin.pipe(stream);
  stream.pipe(stdout);
  await over;
  stdin.destroy();
  return broken;
}
