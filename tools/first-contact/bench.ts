/** What checks work with: plinth's own clients and plain calls, both through the relay. */

import { setTimeout as sleep } from 'node:timers/promises';
import type { AuthClient } from 'google-auth-library';
import { faultOfReply } from '../../functions/cloud/errors.js';
import { type Cloud, createCloud } from '../../functions/cloud/index.js';
import type { Config } from '../../functions/config.js';
import type { Bench, Found, Reply, Tree, Undoing } from './check.js';
import type { Endpoints } from './relay.js';
import { Untried } from './untried.js';

export interface Place
  extends Pick<
    Bench,
    'project' | 'labels' | 'billingAccount' | 'parent' | 'region' | 'zone' | 'delegation' | 'service' | 'signal'
  > {
  readonly config: Config;
  readonly endpoints: Endpoints;
  readonly credentials: AuthClient;
  /** Tells that a wait begins or, without a number, has ended. */
  readonly waiting: (wait: number | undefined) => void;
  readonly say: (line: string) => void;
}

export interface Opened {
  readonly bench: Bench;
  /** What must be undone, in the order in which it was noted. */
  readonly undone: { readonly what: string; readonly work: Undoing }[];
}

const treeIn = (text: string): Tree => {
  try {
    return JSON.parse(text) as Tree;
  } catch {
    return {};
  }
};

const asker =
  ({ endpoints, credentials, signal }: Place): Bench['ask'] =>
  async (api, line, body, token) => {
    const [method = 'GET', path = ''] = line.split(' ');
    const headers =
      token === undefined
        ? await credentials.getRequestHeaders(`${endpoints[api]}${path}`)
        : new Headers({ authorization: `Bearer ${token}` });
    if (body !== undefined) headers.set('content-type', 'application/json');
    const response = await fetch(`${endpoints[api]}${path}`, {
      method,
      headers,
      signal,
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
    const text = await response.text();
    if (response.ok) return { status: response.status, body: treeIn(text), reasons: [], message: '' };
    return refusal(response.status, text);
  };

function refusal(http: number, text: string): Reply {
  const { status, reasons, message } = faultOfReply(http, text);
  if (reasons.includes('SIMULATOR_LIMIT')) throw new Untried(`this cloud does not have it: ${message}`);
  const body = treeIn(text);
  return { status: http, body, reasons: [...(status === undefined ? [] : [status]), ...reasons], message };
}

/** The waits between looks grow, as Google counts looks, too. */
const first = 0.05;
const longest = 5;

function waiter({ signal, waiting }: Place): Bench['until'] {
  let count = 0;
  return async <T>(seconds: number, look: () => Promise<T | undefined>): Promise<Found<T> | undefined> => {
    count += 1;
    waiting(count);
    const begun = performance.now();
    const passed = () => (performance.now() - begun) / 1000;
    try {
      for (let pause = first; ; pause = Math.min(longest, pause * 1.5)) {
        const value = await look();
        if (value !== undefined) return { value, seconds: Math.round(passed() * 10) / 10 };
        if (passed() + pause > seconds) return undefined;
        await sleep(pause * 1000, undefined, { signal });
      }
    } finally {
      waiting(undefined);
    }
  };
}

export function openBench(place: Place): Opened {
  const { config, endpoints, credentials, signal } = place;
  const cloud: Cloud = createCloud({
    config: { ...config, endpoints },
    credentials,
    clock: { now: () => new Date() },
  });
  const facts = new Map<string, string>();
  const undone: Opened['undone'] = [];
  const { project, labels, billingAccount, parent, region, zone, delegation, service } = place;
  const bench: Bench = {
    ...{ project, labels, billingAccount, parent, region, zone, delegation, service, cloud, signal, facts },
    tunnelUrl: config.iapTunnelUrl,
    ask: asker(place),
    until: waiter(place),
    fact(name) {
      const value = facts.get(name);
      if (value === undefined) throw new Untried(`an earlier check left no ${name}`);
      return value;
    },
    undo(what, work, byHand) {
      undone.push({ what, work });
      if (byHand !== undefined) place.say(`If this run dies, remove ${what}, too: ${byHand}`);
    },
  };
  return { bench, undone };
}
