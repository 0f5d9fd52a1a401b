/** HTTP servers on loopback that can be started and closed. */
import { createServer, type RequestListener, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';

export interface LoopbackServer {
  /** `http://127.0.0.1:<port>` */
  readonly url: string;
  readonly port: number;
  readonly server: Server;
  close(): Promise<void>;
}

/** Port 0 means any free one. Rejects if the port is taken. */
export async function listen(listener: RequestListener, port = 0): Promise<LoopbackServer> {
  const server = createServer(listener);
  // Never close idle connections: a request that is just on its way would be lost. Clients close them after some seconds.
  server.keepAliveTimeout = 0;
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(port, '127.0.0.1', resolve);
  });
  const taken = (server.address() as AddressInfo).port;
  return {
    url: `http://127.0.0.1:${taken}`,
    port: taken,
    server,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

/** Takes the preferred port if it is free, else any. A restarted half keeps its address this way. */
export const listenNear = (listener: RequestListener, port = 0): Promise<LoopbackServer> =>
  listen(listener, port).catch((error: NodeJS.ErrnoException) => {
    if (port !== 0 && error.code === 'EADDRINUSE') return listen(listener);
    throw error;
  });
