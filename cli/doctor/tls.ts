/** Doctor's check of a service's certificate. */
import { connect, type TLSSocket } from 'node:tls';
import { reasonOf } from '../../shared/network-reason.js';
import { time } from '../frame/table.js';
import { type Check, failed, ok, warning } from './check.js';

const timeoutMs = 10_000;
const soonMs = 7 * 24 * 3600_000;

/** A connection of its own, because a failed call only says that it failed. */
export async function tlsCheck(origin: string, interrupted: AbortSignal): Promise<Check> {
  const { protocol, hostname, port, host } = new URL(origin);
  const name = `TLS of ${host}`;
  if (protocol === 'http:') return ok(name, 'none, as it is on this computer');
  const bare = hostname.replace(/^\[|\]$/g, '');
  const socket = connect({ host: bare, port: Number(port || 443), servername: /[a-z]/i.test(bare) ? bare : '' });
  try {
    await new Promise<void>((resolve, reject) => {
      const stop = () => reject(interrupted.reason);
      interrupted.addEventListener('abort', stop, { once: true });
      socket.setTimeout(timeoutMs, () => reject(new Error('no answer in time')));
      socket.once('secureConnect', resolve).once('error', reject);
    });
    return certificateCheck(name, socket);
  } catch (error) {
    interrupted.throwIfAborted();
    return failed(
      name,
      'unavailable',
      reasonOf(error),
      'If a company proxy or a private authority signs certificates here, let NODE_EXTRA_CA_CERTS name its certificate; else tell an operator.',
    );
  } finally {
    socket.destroy();
  }
}

function certificateCheck(name: string, socket: TLSSocket): Check {
  const endsAt = Date.parse(socket.getPeerCertificate().valid_to);
  const detail = `${socket.getProtocol()}, certificate good until ${time(new Date(endsAt).toISOString())}`;
  return endsAt - Date.now() < soonMs
    ? warning(name, detail, 'Tell an operator: it is to be renewed.')
    : ok(name, detail);
}
