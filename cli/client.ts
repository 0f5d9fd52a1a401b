/** The bootstraps function as the commands speak to it: one method an operation of the route table, replies parsed, problems thrown. */
import { createParser } from 'eventsource-parser';
import { z } from 'zod';
import { BeginReply, bootstrapRoutes, lifeRoutes, PlanReply, StreamItem, scheduleRoutes } from '../shared/api.js';
import { BootstrapSummary, BootstrapView } from '../shared/bootstrap/bootstrap.js';
import type { BootstrapRequest } from '../shared/bootstrap/request.js';
import { type ScheduleVerb, ScheduleView } from '../shared/cleanup-schedule.js';
import { Problem } from '../shared/problems.js';
import { backoff, isPassing, pause, reasonOf, type Transport } from './transport.js';

export interface Client {
  begin(request: BootstrapRequest): Promise<BeginReply>;
  plan(request: BootstrapRequest): Promise<PlanReply>;
  list(all: boolean): Promise<BootstrapSummary[]>;
  /** By the project's name or id, the newest; undefined when the caller has none. */
  find(project: string): Promise<BootstrapSummary | undefined>;
  get(id: string): Promise<BootstrapView>;
  cancel(id: string): Promise<BootstrapView>;
  /** `ttl` from now. */
  extend(id: string, ttl: string): Promise<BootstrapView>;
  protect(id: string, how: { readonly until: string; readonly reason: string }): Promise<BootstrapView>;
  unprotect(id: string): Promise<BootstrapView>;
  remove(id: string): Promise<BootstrapView>;
  config(id: string, datacenter: string): Promise<string>;
  secrets(id: string, datacenter: string): Promise<string>;
  ageIdentity(id: string): Promise<string>;
  cleanupSchedule(): Promise<ScheduleView>;
  steerCleanupSchedule(verb: ScheduleVerb): Promise<ScheduleView>;
  /** Until the bootstrap ends or `signal` aborts; comes back by itself when the stream breaks or the service is away for a while. */
  follow(id: string, signal: AbortSignal): AsyncGenerator<StreamItem>;
}

interface Told {
  /** For `--verbose`. */
  readonly onTrace: (text: string) => void;
  /** The stream is away; what is told to people. */
  readonly onTrouble: (text: string) => void;
}

const Identity = z.object({ identity: z.string() });

/** Comments come every 15 seconds; silence beyond this is a dead connection. */
const silenceMs = 50_000;
/** How long the service may be away before following is given up. */
const awayMs = 10 * 60_000;

export function createClient(transport: Transport, { onTrace, onTrouble }: Told): Client {
  const { endpoint, send, text } = transport;
  const { beginBootstrap, listBootstraps, getBootstrap, followBootstrap, cancelBootstrap, getConfig, getSecrets } =
    bootstrapRoutes;
  const { readAgeIdentity } = bootstrapRoutes;

  const once = async <T>(...call: Parameters<typeof transport.ask<T>>) => (await transport.ask(...call)).data;
  const patiently = async <T>(...call: Parameters<typeof transport.ask<T>>) =>
    (await transport.askPatiently(...call)).data;
  const list = (query: Record<string, string>) => patiently(BootstrapSummary.array(), listBootstraps, { query });

  return {
    begin: (body) => once(BeginReply, beginBootstrap, { body }),
    plan: (body) => once(PlanReply, beginBootstrap, { body, query: { dryRun: 'true' } }),
    list: (all) => list(all ? { all: 'true' } : {}),
    async find(project) {
      const found = await list({ name: project });
      return found.toSorted((a, b) => b.createdAt.localeCompare(a.createdAt))[0];
    },
    get: (id) => patiently(BootstrapView, getBootstrap, { params: { id } }),
    cancel: (id) => once(BootstrapView, cancelBootstrap, { params: { id } }),
    extend: (id, ttl) => once(BootstrapView, lifeRoutes.extendBootstrap, { params: { id }, body: { ttl } }),
    protect: (id, body) => once(BootstrapView, lifeRoutes.protectBootstrap, { params: { id }, body }),
    unprotect: (id) => once(BootstrapView, lifeRoutes.unprotectBootstrap, { params: { id } }),
    remove: (id) => once(BootstrapView, lifeRoutes.removeBootstrap, { params: { id } }),
    config: (id, datacenter) => text(getConfig, { params: { id }, query: { datacenter } }),
    secrets: (id, datacenter) => text(getSecrets, { params: { id }, query: { datacenter } }),
    ageIdentity: async (id) => (await once(Identity, readAgeIdentity, { params: { id } })).identity,
    cleanupSchedule: () => patiently(ScheduleView, scheduleRoutes.getCleanupSchedule),
    steerCleanupSchedule: (verb) => once(ScheduleView, scheduleRoutes.steerCleanupSchedule, { params: { verb } }),
    async *follow(id, signal) {
      let cursor: string | undefined;
      let failures = 0;
      let awaySince: number | undefined;
      for (;;) {
        try {
          const connection = new AbortController();
          const gone = AbortSignal.any([signal, connection.signal]);
          const response = await send(followBootstrap, {
            params: { id },
            headers: { accept: 'text/event-stream', ...(cursor !== undefined && { 'last-event-id': cursor }) },
            signal: gone,
          });
          for await (const { item, at } of readStream(response, connection)) {
            awaySince = undefined;
            failures = 0;
            cursor = at ?? cursor;
            if (item === undefined) continue;
            yield item;
            if (item.type === 'end' && item.reason === 'ended') return;
          }
        } catch (error) {
          signal.throwIfAborted();
          if (error instanceof Problem && !isPassing(error)) throw error;
          awaySince ??= Date.now();
          if (Date.now() - awaySince > awayMs) throw error instanceof Problem ? error : lost(endpoint, error);
          const retryAfter = error instanceof Problem ? error.retryAfterSeconds : undefined;
          const waitMs = retryAfter === undefined ? backoff(failures) : retryAfter * 1000;
          failures += 1;
          const why = error instanceof Problem ? error.detail : `the connection broke (${reasonOf(error)})`;
          if (failures > 1) onTrouble(`${why.replace(/\.$/, '')}; the bootstrap goes on, trying again`);
          else onTrace(why);
          await pause(waitMs, signal);
          continue;
        }
        // The server ended the stream before its time-out, or the connection closed: come back with the cursor.
        signal.throwIfAborted();
        await pause(backoff(failures), signal);
        failures += 1;
      }
    },
  };
}

interface Read {
  readonly item: StreamItem | undefined;
  readonly at: string | undefined;
}

async function* readStream(response: Response, connection: AbortController): AsyncGenerator<Read> {
  const queue: Read[] = [];
  const parser = createParser({
    onEvent: ({ data, id }) => queue.push({ item: itemOf(data), at: id }),
    onComment: () => queue.push({ item: undefined, at: undefined }),
  });
  const decoder = new TextDecoder();
  let silence: NodeJS.Timeout | undefined;
  const heard = () => {
    clearTimeout(silence);
    silence = setTimeout(() => connection.abort(new Error('silent for too long')), silenceMs);
  };
  heard();
  try {
    for await (const chunk of response.body ?? []) {
      heard();
      parser.feed(decoder.decode(chunk, { stream: true }));
      yield* queue.splice(0);
    }
  } finally {
    clearTimeout(silence);
    connection.abort();
  }
}

/** Undefined for a kind of event that a newer service sends. */
function itemOf(data: string): StreamItem | undefined {
  try {
    return StreamItem.safeParse(JSON.parse(data)).data;
  } catch {
    return undefined;
  }
}

const lost = (endpoint: string, error: unknown) =>
  new Problem('unavailable', `plinth at ${endpoint} was lost while following: ${reasonOf(error)}.`, { cause: error });
