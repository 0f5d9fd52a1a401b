/**
 * The real function `bootstraps` on real HTTP, with all steps, none of which is ever run; it keeps what it was sent. For
 * test/spec.
 */
import type { Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { http } from '@google-cloud/functions-framework';
import { getTestServer } from '@google-cloud/functions-framework/testing';
import type { Cloud } from '../../functions/cloud/index.js';
import { readConfig } from '../../functions/config.js';
import { createContext } from '../../functions/context.js';
import { createBootstrapsFunction } from '../../functions/http/bootstraps/bootstraps.js';
import { takeFrameworkServers } from '../../functions/http/framework-server.js';
import { answer } from '../../functions/preflight/answer.js';
import { CheckRequest } from '../../functions/preflight/wire.js';
import { stepsOf } from '../../functions/steps/index.js';
import { createMemoryStore } from '../../local/functions/memory-store.js';
import { createIssuer } from '../http/issuer.js';

interface Request {
  readonly options?: Readonly<Record<string, unknown>>;
  readonly sshPublicKey?: string;
}

export interface SpecService {
  readonly url: string;
  /** Of somebody who may bootstrap. */
  readonly token: string;
  /** What was posted last. */
  lastRequest(): Request;
  post(path: string, body: unknown): Promise<{ readonly status: number; readonly body: unknown }>;
  close(): void;
}

const name = 'bootstraps-of-the-spec';

/** A package of any version and hash is there; secrets are kept in a map; all that is looked at beforehand is fine. */
function makeCloud(): Cloud {
  const secrets = new Map<string, string[]>();
  const cloud: unknown = {
    storage: {
      builds: async () => [{ version: '1.2.3', hash: '0123', madeAt: '2026-01-01T00:00:00Z' }],
      archive: async (bucket: string) => ({ bucket, object: 'installer.tar.gz', bytes: 1, sha256: '0'.repeat(64) }),
    },
    billing: { account: async () => ({ open: true }), linked: async () => 1, mayLink: async () => true },
    places: {
      zonesOf: async (_: string, region: string) => ['a', 'b', 'c'].map((zone) => `${region}-${zone}`),
      hasMachineType: async () => true,
    },
    projects: { mayCreateIn: async () => true, held: async (_: string, wanted: readonly string[]) => wanted },
    orgPolicy: { effective: async () => ({}) },
    dns: { zone: async () => undefined },
    secretManager: {
      write: async (id: string, payload: string) => String(secrets.set(id, [...(secrets.get(id) ?? []), payload]).size),
      read: async (id: string) => secrets.get(id)?.at(-1),
      remove: async (id: string) => void secrets.delete(id),
    },
    reportingTo: () => cloud,
  };
  return cloud as Cloud;
}

export async function createSpecService(): Promise<SpecService> {
  const issuer = await createIssuer();
  const config = readConfig({
    PLINTH_PROJECT: 'plinth-test',
    PLINTH_DEPLOYMENT: 'test',
    PLINTH_MACHINE_ACCESS: 'direct',
    PLINTH_SSH_SOURCE_RANGES: '127.0.0.0/8',
    PLINTH_ISSUER: issuer.url,
    PLINTH_ENDPOINTS: [
      `issuer-keys=${issuer.jwksUrl}`,
      // Nobody answers there.
      'k0s-releases=http://127.0.0.1:9',
      'forge1-registry=http://127.0.0.1:9',
    ].join(','),
    PLINTH_AUDIENCES: issuer.audience,
    PLINTH_BOOTSTRAPPERS: 'alice@example.com',
    PLINTH_BILLING_ACCOUNTS: '*',
    PLINTH_PARENTS: 'folders/100,*',
    PLINTH_DNS_ZONES: '*',
    PLINTH_CHANGES_PER_MINUTE: '0',
    PLINTH_HOSTS: 'on',
    PLINTH_PACKAGES_BUCKET: 'packages',
    PLINTH_RELEASES_URL: 'https://releases.example.com',
    PLINTH_RELEASE_SHA256: '0'.repeat(64),
  });
  const context = createContext(config, {
    cloud: makeCloud(),
    store: createMemoryStore(),
    askCheck: (body) => answer(context, CheckRequest.parse(body)),
    // Nothing is run.
    publisher: { publish: async () => undefined, close: async () => undefined },
    log: () => undefined,
  });
  const bootstraps = createBootstrapsFunction(context, stepsOf({ hosts: true }));
  let last: Request = {};
  takeFrameworkServers();
  http(name, bootstraps);
  const server: Server = getTestServer(name);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  // A body can be read once, and the function does that: this looks at the bytes as they come.
  server.prependListener('request', (request) => {
    const chunks: Buffer[] = [];
    const push = request.push.bind(request);
    request.push = (chunk: Buffer | null) => {
      if (chunk !== null) chunks.push(chunk);
      else if (request.method === 'POST') last = JSON.parse(String(Buffer.concat(chunks))) as Request;
      return push(chunk);
    };
  });
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const token = await issuer.token('alice@example.com');
  return {
    url,
    token,
    lastRequest: () => last,
    async post(path, body) {
      const reply = await fetch(`${url}${path}`, {
        method: 'POST',
        headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
        body: JSON.stringify(body),
      });
      return { status: reply.status, body: await reply.json() };
    },
    close() {
      server.closeAllConnections();
      server.close();
      issuer.close();
    },
  };
}
