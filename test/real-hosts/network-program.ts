/**
 * The first process of a network of real hosts, in namespaces of its own. It opens sockets there and hands them to the cloud
 * half. When the cloud half is gone, it ends all VMs.
 */
import { execFileSync } from 'node:child_process';
import { mkdirSync } from 'node:fs';
import { connect, createServer } from 'node:net';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { removeGroup } from './control-groups.js';

export type NetworkWish =
  | { readonly connect: number; readonly address: string; readonly from: string }
  | { readonly listen: number; readonly address: string };
type NetworkRequest = NetworkWish & { readonly id: number };

export interface NetworkReply {
  readonly id: number;
  /** The error, such as ECONNREFUSED. Without one, a handle comes along. */
  readonly failure?: string;
}

/** Where this network mounts control groups, and the name of the group that holds all its VMs. */
const [mountPoint = '', group = ''] = process.argv.slice(2);
execFileSync('mount', ['-t', 'cgroup2', 'none', mountPoint]);
mkdirSync(join(mountPoint, group));

const say = (reply: NetworkReply): void => void process.send?.(reply);
const fail = (id: number) => (error: NodeJS.ErrnoException) => say({ id, failure: error.code ?? error.message });

process.on('message', (request: NetworkRequest) => {
  const { id, address } = request;
  if ('connect' in request) {
    const socket = connect({ host: address, port: request.connect, localAddress: request.from });
    // The receiver reads it.
    socket.pause();
    socket.once('error', fail(id));
    socket.once('connect', () => {
      socket.removeAllListeners('error');
      process.send?.({ id } satisfies NetworkReply, socket);
    });
    return;
  }
  const server = createServer();
  server.once('error', fail(id));
  server.listen(request.listen, address, () => {
    process.send?.({ id } satisfies NetworkReply, server, {}, () => server.close());
  });
});

process.once('disconnect', () => void end());
// Only now: nothing listens while these namespaces are being made.
say({ id: 0 });

async function end(): Promise<void> {
  try {
    // Everything in these namespaces except this process.
    process.kill(-1, 'SIGKILL');
  } catch {
    // Nothing runs.
  }
  for (let attempt = 0; attempt < 100 && !removeGroup(join(mountPoint, group)); attempt++) await sleep(50);
  process.exit();
}
