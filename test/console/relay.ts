/** Another port of the functions, as `bootstraps` has a host of its own: it can be down for a while. */
import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Server, type Socket } from 'node:net';

export interface Relay {
  readonly url: string;
  /** What it carries to. Known only once the functions are served. */
  leadTo(url: string): void;
  /** Ends every connection, and takes no more. */
  stop(): Promise<void>;
  start(): Promise<void>;
}

export async function startRelay(): Promise<Relay> {
  const open = new Set<Socket>();
  let to = 0;
  const carry = (near: Socket): void => {
    const far = connect(to, '127.0.0.1');
    for (const [one, other] of [
      [near, far],
      [far, near],
    ] as const) {
      open.add(one);
      one.on('error', () => other.destroy());
      one.on('close', () => {
        open.delete(one);
        other.destroy();
      });
      one.pipe(other);
    }
  };
  const listen = async (port: number): Promise<Server> => {
    const made = createServer(carry);
    made.listen(port, '127.0.0.1');
    await once(made, 'listening');
    return made;
  };
  let server = await listen(0);
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}`,
    leadTo: (url) => {
      to = Number(new URL(url).port);
    },
    async stop() {
      const closed = once(server, 'close');
      server.close();
      for (const socket of open) socket.destroy();
      await closed;
    },
    async start() {
      server = await listen(port);
    },
  };
}
