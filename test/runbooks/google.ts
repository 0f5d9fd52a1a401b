/** Stands for what only Google has: notes what gcloud asks of whom, and refuses it. */
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';

export interface Google {
  /** `METHOD host/path`, without query. */
  readonly asked: string[];
  /** gcloud goes there with every call, whatever host it names. */
  readonly env: Readonly<Record<string, string>>;
  close(): Promise<void>;
}

export async function startGoogle(): Promise<Google> {
  const asked: string[] = [];
  const server = createServer((request, response) => {
    // A proxy is asked with the whole URL. gcloud puts a region before the host, which no URL may then hold.
    const [path = ''] = (request.url ?? '').replace(/^http:\/\/[^/]*/, '').split('?');
    asked.push(`${request.method} ${path.slice(1)}`);
    request.resume();
    const error = { code: 400, message: 'This is not Google.', status: 'FAILED_PRECONDITION' };
    response.writeHead(400, { 'content-type': 'application/json' }).end(JSON.stringify({ error }));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    asked,
    env: {
      CLOUDSDK_PROXY_TYPE: 'http',
      CLOUDSDK_PROXY_ADDRESS: '127.0.0.1',
      CLOUDSDK_PROXY_PORT: String((server.address() as AddressInfo).port),
    },
    async close() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}
