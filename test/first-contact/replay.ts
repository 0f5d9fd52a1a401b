/**
 * Asks the simulated cloud what a recording asked, in the same order, and tells where its answers differ: in status, in
 * reasons, and in shape. A shape is the set of fields with their JSON types, without values. What the simulated cloud does not
 * serve is no difference.
 */
import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { faultOfReply } from '../../functions/cloud/errors.js';
import type { SimulatedCloud } from '../../local/cloud/index.js';
import type { SimulatedApi } from '../../local/cloud/kernel/api.js';
import type { Exchange, Recording } from '../../tools/first-contact/recording.js';
import { swapped } from '../../tools/first-contact/redact.js';
import { billingAccount, dns, operator, parent } from './contacted.js';

const placeholder = /\{[a-z]+(?:-[a-z]+)*(?:-\d+)?~?\}/g;

/** Most waits of the simulated cloud end sooner. */
const patienceMs = 20_000;

/** What a request may hold that no reply brought. */
function fresh(name: string): string | undefined {
  if (name.startsWith('{uuid')) return randomUUID();
  if (name.startsWith('{id')) return String(Math.floor(Date.now() / 1000) + 7200);
  if (name.startsWith('{ssh-key')) return 'AAAAC3NzaC1lZDI1NTE5AAAAIFirstContactFirstContactFirstContactFirst';
  if (name.startsWith('{data')) return Buffer.from('first-contact').toString('base64');
  return undefined;
}

type Bound = Map<string, string>;

class Unbound extends Error {}

function standsFor(name: string, bound: Bound): string {
  const plain = name.replace('~}', '}');
  const known = bound.get(plain) ?? fresh(plain);
  if (known === undefined) throw new Unbound(`nothing is known of ${plain}`);
  bound.set(plain, known);
  return name === plain ? known : swapped(known);
}

const filled = (text: string, bound: Bound): string => text.replace(placeholder, (name) => standsFor(name, bound));

const escaped = (text: string): string => text.replace(/[.*+?^${}()|[\]\\]/g, '\\$&');

/** Learns what placeholders stand for, where the recorded reply and the one here say the same. */
function learn(recorded: unknown, here: unknown, bound: Bound): void {
  if (typeof recorded === 'string') {
    if (typeof here === 'string') learnText(recorded, here, bound);
    return;
  }
  if (typeof recorded !== 'object' || recorded === null || typeof here !== 'object' || here === null) return;
  for (const [name, value] of Object.entries(recorded)) learn(value, (here as Record<string, unknown>)[name], bound);
}

function learnText(recorded: string, here: string, bound: Bound): void {
  const names = recorded.match(placeholder) ?? [];
  if (names.length === 0) return;
  const pattern = recorded
    .split(placeholder)
    .map(escaped)
    .reduce((made, part, index) => {
      const known = bound.get(names[index - 1] ?? '');
      return `${made}${known === undefined ? '(.+?)' : `(${escaped(known)})`}${part}`;
    });
  const found = new RegExp(`^${pattern}$`).exec(here);
  for (const [index, name] of names.entries()) {
    const value = found?.[index + 1];
    if (value !== undefined && !name.endsWith('~}') && !bound.has(name)) bound.set(name, value);
  }
}

const typeOf = (value: unknown): string => (value === null ? 'null' : Array.isArray(value) ? 'list' : typeof value);

/** `error.errors[].reason: string`. */
function shapeOf(value: unknown, path = ''): string[] {
  if (Array.isArray(value)) return [`${path}: list`, ...value.flatMap((each) => shapeOf(each, `${path}[]`))];
  if (typeof value === 'object' && value !== null) {
    return Object.entries(value).flatMap(([name, each]) =>
      shapeOf(each, path === '' ? named(name) : `${path}.${named(name)}`),
    );
  }
  return [`${path}: ${typeOf(value)}`];
}

/** Keys of OS Login are fields that are called by their fingerprints. */
const named = (name: string): string => (/^[0-9a-f]{64}$/.test(name) ? '{fingerprint}' : name);

const reasonsOf = (status: number, body: unknown): string => {
  const fault = faultOfReply(status, typeof body === 'string' ? body : JSON.stringify(body ?? {}));
  return [fault.status, ...fault.reasons].filter((each) => each !== undefined).join(' ');
};

interface Answer {
  readonly status: number;
  readonly body: unknown;
}

/** The only difference where the simulated cloud does not serve the method. */
const notServed = 'not served here';

function differencesOf(recorded: Exchange, { status, body }: Answer): string[] {
  if (status === 501 && recorded.status !== 501) return [notServed];
  if (status !== recorded.status) return [`status ${recorded.status}, here ${status}`];
  if (status >= 300) {
    const [there, here] = [reasonsOf(status, recorded.response), reasonsOf(status, body)];
    if (there !== here) return [`reasons ${there || 'none'}, here ${here || 'none'}`];
  }
  // A wait may answer early, with an operation that lacks its end.
  if (recorded.path.endsWith('/wait')) return [];
  const [there, here] = [new Set(shapeOf(recorded.response)), new Set(shapeOf(body))];
  return [
    ...[...there].filter((each) => !here.has(each)).map((each) => `missing here: ${each}`),
    ...[...here].filter((each) => !there.has(each)).map((each) => `only here: ${each}`),
  ];
}

async function asked(cloud: SimulatedCloud, exchange: Exchange, bound: Bound): Promise<Answer> {
  const path = filled(exchange.path, bound).replace(/[^\x21-\x7e]|["<>\\^`{|}]/g, encodeURIComponent);
  const token = exchange.as === '{caller}' ? cloud.identity.accessToken(operator) : filled(exchange.as, bound);
  const body = exchange.request === undefined ? undefined : filled(JSON.stringify(exchange.request), bound);
  const reply = await fetch(`${cloud.endpoints[exchange.api as SimulatedApi]}${path}`, {
    method: exchange.method,
    headers: {
      ...(exchange.as === '' ? {} : { authorization: `Bearer ${token}` }),
      ...(body === undefined ? {} : { 'content-type': 'application/json' }),
    },
    ...(body === undefined ? {} : { body }),
  });
  const text = await reply.text();
  try {
    return { status: reply.status, body: text === '' ? undefined : JSON.parse(text) };
  } catch {
    return { status: reply.status, body: text };
  }
}

/** All exchanges of a wait ask the same: the last of them counts, and is asked for until it comes. */
function turnsOf({ exchanges }: Recording): { readonly exchange: Exchange; readonly isAwaited: boolean }[] {
  return exchanges.flatMap((exchange, index) => {
    const next = exchanges[index + 1];
    const isAwaited = exchange.wait !== undefined;
    return isAwaited && next?.wait === exchange.wait && next?.path === exchange.path ? [] : [{ exchange, isAwaited }];
  });
}

async function turn(cloud: SimulatedCloud, exchange: Exchange, isAwaited: boolean, bound: Bound): Promise<string[]> {
  const until = Date.now() + (isAwaited ? patienceMs : 0);
  for (;;) {
    const answer = await asked(cloud, exchange, bound);
    const differences = differencesOf(exchange, answer);
    if (differences.length === 0 || Date.now() >= until) {
      learn(exchange.response, answer.body, bound);
      return differences;
    }
    await sleep(50);
  }
}

export interface Difference {
  readonly check: string;
  /** `GET compute /compute/v1/…: status 404, here 403`. */
  readonly what: string;
}

export async function replay(recording: Recording, cloud: SimulatedCloud): Promise<Difference[]> {
  const bound: Bound = new Map([
    ['{project}', 'replayed-contact'],
    ['{billing-account}', billingAccount],
    ['{parent}', parent],
    ['{dns-project}', dns.project],
    ['{dns-zone}', dns.zone],
    ['{domain}', dns.domain],
  ]);
  const found: Difference[] = [];
  /** What only replies to methods that are not served here would tell, such as the names of their operations. */
  const untold = new Set<string>();
  for (const { exchange, isAwaited } of turnsOf(recording)) {
    const { check, method, api, path } = exchange;
    if (path.match(placeholder)?.some((name) => untold.has(name))) continue;
    const differences = await turn(cloud, exchange, isAwaited, bound).catch((error: unknown) => {
      if (error instanceof Unbound) return [`it could not be asked, as ${error.message}`];
      throw error;
    });
    if (differences[0] === notServed) {
      const names = JSON.stringify(exchange.response ?? null).match(placeholder) ?? [];
      for (const name of names) if (!bound.has(name)) untold.add(name);
      continue;
    }
    found.push(...differences.map((what) => ({ check, what: `${method} ${api} ${path}: ${what}` })));
  }
  return found;
}
