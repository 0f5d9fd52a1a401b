/**
 * Opens sockets in the network of a VM and hands them to the cloud half, which cannot enter that network itself. nsenter
 * starts it there (relay.ts). It ends after some seconds without requests.
 */
import { connect, createServer } from 'node:net';

export type RelayWish =
  | { readonly listen: number }
  | { readonly connect: number; readonly address: string; readonly from?: string | undefined };
type RelayRequest = RelayWish & { readonly id: number };

export interface RelayReply {
  readonly id: number;
  /** The error, such as ECONNREFUSED. Without one, a handle comes along. */
  readonly failure?: string;
}

const idleSeconds = 5;
let idle: NodeJS.Timeout | undefined;
function rest(): void {
  clearTimeout(idle);
  idle = setTimeout(() => process.disconnect(), idleSeconds * 1000);
}

const fail = (id: number) => (error: NodeJS.ErrnoException) =>
  process.send?.({ id, failure: error.code ?? error.message } satisfies RelayReply);

function open(id: number, port: number, addresses: readonly string[], localAddress?: string): void {
  const [address, ...others] = addresses;
  const socket = connect({ host: address ?? '', port, ...(localAddress !== undefined && { localAddress }) });
  // The receiver reads it.
  socket.pause();
  socket.once('error', (error) => (others.length > 0 ? open(id, port, others) : fail(id)(error)));
  socket.once('connect', () => {
    socket.removeAllListeners('error');
    process.send?.({ id } satisfies RelayReply, socket);
  });
}

process.on('message', (request: RelayRequest) => {
  rest();
  if ('connect' in request) {
    const { id, connect: port, address, from } = request;
    return from === undefined ? open(id, port, ['127.0.0.1', address]) : open(id, port, [address], from);
  }
  const server = createServer();
  server.once('error', fail(request.id));
  server.listen(request.listen, '127.0.0.1', () => {
    process.send?.({ id: request.id } satisfies RelayReply, server, {}, () => server.close());
  });
});
rest();
