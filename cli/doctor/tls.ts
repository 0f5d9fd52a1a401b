/** Doctor's check of a service's certificate. */
import type { ClientRequest } from 'node:http';
import { request } from 'node:https';
import type { TLSSocket } from 'node:tls';
import { reasonOf } from '../../shared/network-reason.js';
import { Problem } from '../../shared/problems.js';
import type { CommandContext } from '../frame/command.js';
import { time } from '../frame/table.js';
import { agentFor } from '../network/send.js';
import { trustAdvice } from '../service/answer-problem.js';
import { type Check, failed, ok, warning } from './check.js';

const timeoutMs = 10_000;
const soonMs = 7 * 24 * 3600_000;

/** A connection of its own, because a failed call only says that it failed. */
export async function tlsCheck(
  origin: string,
  { settings, interrupted }: Pick<CommandContext, 'settings' | 'interrupted'>,
): Promise<Check> {
  const { protocol, host } = new URL(origin);
  const name = `TLS of ${host}`;
  if (protocol === 'http:') return ok(name, 'none, as it is on this computer');
  let asking: ClientRequest | undefined;
  try {
    const agent = await agentFor(settings.env, origin);
    asking = request(origin, { method: 'HEAD', agent: agent ?? false });
    return certificateCheck(name, await secured(asking, interrupted));
  } catch (error) {
    interrupted.throwIfAborted();
    if (error instanceof Problem) return failed(name, 'unavailable', error.detail, error.advice);
    return failed(name, 'unavailable', reasonOf(error), trustAdvice);
  } finally {
    asking?.destroy();
  }
}

function secured(asking: ClientRequest, interrupted: AbortSignal): Promise<TLSSocket> {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(() => asking.destroy(new Error('no answer in time')), timeoutMs);
    const stop = () => asking.destroy(interrupted.reason);
    interrupted.addEventListener('abort', stop, { once: true });
    asking.on('error', reject).once('socket', (socket) => {
      // The proxy's agent keeps connections, and this one may be of a call before.
      if (asking.reusedSocket) return resolve(socket as TLSSocket);
      socket.once('secureConnect', () => resolve(socket as TLSSocket));
    });
    asking.once('close', () => {
      clearTimeout(timer);
      interrupted.removeEventListener('abort', stop);
    });
  });
}

function certificateCheck(name: string, socket: TLSSocket): Check {
  const endsAt = Date.parse(socket.getPeerCertificate().valid_to);
  const detail = `${socket.getProtocol()}, certificate good until ${time(new Date(endsAt).toISOString())}`;
  return endsAt - Date.now() < soonMs
    ? warning(name, detail, 'Tell an operator: it is to be renewed.')
    : ok(name, detail);
}
