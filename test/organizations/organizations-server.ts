/**
 * The function `api` on real HTTP, on a store of the test's choice. Operations are called by their names in the route
 * table, and every reply is held against it.
 */
import type { Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { http } from '@google-cloud/functions-framework';
import { getTestServer } from '@google-cloud/functions-framework/testing';
import { expect } from 'chai';
import type { Cloud } from '../../functions/cloud/index.js';
import { readConfig } from '../../functions/config.js';
import { type Context, createContext } from '../../functions/context.js';
import { type Clock, realTimers } from '../../functions/host/clock.js';
import { createLog } from '../../functions/host/log.js';
import { takeFrameworkServers } from '../../functions/http/framework-server.js';
import { createOrganizationsFunction } from '../../functions/http/organizations/organizations.js';
import type { Store } from '../../functions/store/store.js';
import { pathTo } from '../../shared/api.js';
import { organizationRoutes } from '../../shared/organization/routes.js';
import type { ProblemBody } from '../../shared/problems.js';
import type { Issuer } from '../http/issuer.js';
import { checkReply } from '../support/contract.js';

export type Operation = keyof typeof organizationRoutes;
export const operations = Object.keys(organizationRoutes) as Operation[];

export interface Asked {
  /** E-mail; its ending is its domain too. `null`: no token. */
  readonly as?: string | null;
  /** Of another account with that e-mail. */
  readonly subject?: string;
  readonly params?: Readonly<Record<string, string | number>>;
  readonly query?: Readonly<Record<string, string>>;
  readonly body?: unknown;
  readonly headers?: Readonly<Record<string, string>>;
}

export interface Replied {
  readonly status: number;
  readonly headers: Headers;
  /** Parsed; undefined where there is none. */
  readonly body: unknown;
}

export interface OrganizationsServer {
  readonly origin: string;
  readonly context: Context;
  /** Warnings and errors of the functions, as lines. */
  readonly logged: string[];
  token(email: string, subject?: string): Promise<string>;
  /** Whatever is replied, if the route table knows of it. */
  ask(operation: Operation, asked?: Asked): Promise<Replied>;
  /** The body of a reply of this status. */
  expect<T = Record<string, unknown>>(status: number, operation: Operation, asked?: Asked): Promise<T>;
  close(): void;
}

export const operator = 'ops@example.com';

/** Of the shape of the product's defaults. Who may make organizations, and how often in a minute, is the test's to say. */
const environment = (issuer: Issuer, more: Readonly<Record<string, string>>): Record<string, string> => ({
  PLINTH_PROJECT: 'plinth-test',
  PLINTH_DEPLOYMENT: 'test',
  PLINTH_MACHINE_ACCESS: 'direct',
  PLINTH_SSH_SOURCE_RANGES: '127.0.0.0/8',
  PLINTH_ISSUER: issuer.url,
  PLINTH_ENDPOINTS: `issuer-keys=${issuer.jwksUrl}`,
  PLINTH_AUDIENCES: issuer.audience,
  PLINTH_OPERATORS: operator,
  PLINTH_CHANGES_PER_MINUTE: '0',
  ...more,
});

const clockAhead = (seconds: number): Clock => ({
  ...realTimers,
  now: () => new Date(Date.now() + seconds * 1000),
  wait: (waited, signal) => sleep(waited * 1000, undefined, signal === undefined ? {} : { signal }),
});

/** Secret Manager of the test's own: versions by secret. `fault` is what all of its answers are then; `asked` counts them. */
export interface Secrets {
  readonly versions: Map<string, readonly string[]>;
  fault: Error | undefined;
  asked: number;
}
export const makeSecrets = (): Secrets => ({ versions: new Map(), fault: undefined, asked: 0 });

function cloudWith(secrets: Secrets): Cloud {
  const versionsOf = (id: string): readonly string[] => {
    secrets.asked += 1;
    if (secrets.fault !== undefined) throw secrets.fault;
    return secrets.versions.get(id) ?? [];
  };
  const secretManager = {
    find: async (id: string) => (versionsOf(id).length > 0 ? '1' : undefined),
    read: async (id: string, version: string) => versionsOf(id)[Number(version) - 1],
    async write(id: string, payload: string) {
      const versions = [...versionsOf(id), payload];
      secrets.versions.set(id, versions);
      return String(versions.length);
    },
  };
  // Nothing else of the cloud is called.
  return { secretManager } as unknown as Cloud;
}

let servers = 0;

export async function createOrganizationsServer(
  issuer: Issuer,
  {
    store,
    env = {},
    clockSeconds = 0,
    secrets = makeSecrets(),
  }: {
    readonly store: Store;
    readonly env?: Readonly<Record<string, string>>;
    /** How far the clock of its process is ahead. */
    readonly clockSeconds?: number;
    /** Of its deployment. */
    readonly secrets?: Secrets;
  },
): Promise<OrganizationsServer> {
  const logged: string[] = [];
  const context = createContext(readConfig(environment(issuer, env)), {
    store,
    cloud: cloudWith(secrets),
    clock: clockAhead(clockSeconds),
    log: createLog({
      write(line) {
        if (!/^\{"severity":"(?:INFO|DEBUG)"/.test(line)) logged.push(line);
      },
    }),
  });
  takeFrameworkServers();
  servers += 1;
  const name = `organizations-under-test-${servers}`;
  http(name, createOrganizationsFunction(context));
  const server: Server = getTestServer(name);
  // Nothing that is just on its way is lost with an idle connection.
  server.keepAliveTimeout = 0;
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;

  const tokens = new Map<string, Promise<string>>();
  const token = (email: string, subject?: string): Promise<string> => {
    const account = `${email} ${subject}`;
    const claims = { hd: email.split('@').at(-1), ...(subject !== undefined && { sub: subject }) };
    const found = tokens.get(account) ?? issuer.token(email, { claims });
    tokens.set(account, found);
    return found;
  };

  async function ask(operation: Operation, asked: Asked = {}): Promise<Replied> {
    const { as = 'alice@example.com', subject, params = {}, query = {}, body, headers } = asked;
    const route = organizationRoutes[operation];
    const filled = Object.fromEntries(Object.entries(params).map(([key, value]) => [key, String(value)]));
    const search = new URLSearchParams(query).toString();
    const reply = await fetch(`${origin}${pathTo(route, filled)}${search === '' ? '' : `?${search}`}`, {
      method: route.method,
      headers: {
        ...(as === null ? {} : { authorization: `Bearer ${await token(as, subject)}` }),
        ...(body === undefined ? {} : { 'content-type': 'application/json' }),
        ...headers,
      },
      body: body === undefined ? null : JSON.stringify(body),
    });
    const text = await reply.text();
    checkReply(route, { status: reply.status, headers: reply.headers, text });
    return { status: reply.status, headers: reply.headers, body: text === '' ? undefined : JSON.parse(text) };
  }

  return {
    origin,
    context,
    logged,
    token,
    ask,
    async expect<T>(status: number, operation: Operation, asked?: Asked): Promise<T> {
      const reply = await ask(operation, asked);
      expect(reply.status, `${operation} ${JSON.stringify(asked)}: ${JSON.stringify(reply.body)}`).to.equal(status);
      return reply.body as T;
    },
    close() {
      server.closeAllConnections();
      server.close();
    },
  };
}

export const detailOf = ({ body }: Replied): string => (body as ProblemBody).detail;
