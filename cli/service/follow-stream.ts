/** Follows a bootstrap's events as the service streams them. When a stream breaks or ends, it reconnects with the cursor. */
import { createParser } from 'eventsource-parser';
import { bootstrapRoutes, StreamItem } from '../../shared/bootstrap/routes.js';
import { reasonOf } from '../../shared/network-reason.js';
import { Problem } from '../../shared/problems.js';
import { joinedSignal } from '../frame/joined-signal.js';
import { backoff, isPassing, pause } from './patience.js';
import type { ServiceTransport } from './transport.js';

export interface StreamListener {
  /** For `--verbose`. */
  readonly onTrace: (text: string) => void;
  /** The stream is away. The text is for people. */
  readonly onTrouble: (text: string) => void;
}

/** The service sends a comment every 15 seconds. Longer silence than this means a dead connection. */
const silenceMs = 50_000;
/** How long the service may be away before following gives up. */
const awayMs = 10 * 60_000;

/** The events of a bootstrap until it ends, over as many connections as needed. */
export async function* followStream(
  { send, endpoint }: ServiceTransport,
  { onTrace, onTrouble }: StreamListener,
  id: string,
  signal: AbortSignal,
): AsyncGenerator<StreamItem> {
  let cursor: string | undefined;
  let failures = 0;
  let awaySince: number | undefined;
  for (;;) {
    const connection = new AbortController();
    const gone = joinedSignal(signal, connection.signal);
    try {
      const response = await send(bootstrapRoutes.followBootstrap, {
        params: { id },
        headers: { accept: 'text/event-stream', ...(cursor !== undefined && { 'last-event-id': cursor }) },
        signal: gone.signal,
      });
      for await (const { item, at } of readStream(response, connection, gone.signal)) {
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
    } finally {
      gone.release();
    }
    // The server ended the stream before its time-out, or the connection closed. Reconnect with the cursor.
    signal.throwIfAborted();
    await pause(backoff(failures), signal);
    failures += 1;
  }
}

interface Read {
  readonly item: StreamItem | undefined;
  readonly at: string | undefined;
}

async function* readStream(response: Response, connection: AbortController, gone: AbortSignal): AsyncGenerator<Read> {
  const reader = response.body?.getReader();
  // After a reply has begun, garbage collection may make Node 20's fetch forget its signal. Ctrl-C would then do nothing.
  const cut = (): void => void reader?.cancel().catch(() => undefined);
  gone.addEventListener('abort', cut, { once: true });

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
    for (;;) {
      const { value } = (await reader?.read()) ?? {};
      if (value === undefined) break;
      heard();
      parser.feed(decoder.decode(value, { stream: true }));
      yield* queue.splice(0);
    }
    gone.throwIfAborted();
  } finally {
    gone.removeEventListener('abort', cut);
    cut();
    clearTimeout(silence);
    connection.abort();
  }
}

/** Undefined for an event type that only a newer service knows. */
function itemOf(data: string): StreamItem | undefined {
  try {
    return StreamItem.safeParse(JSON.parse(data)).data;
  } catch {
    return undefined;
  }
}

const lost = (endpoint: string, error: unknown) =>
  new Problem('unavailable', `plinth at ${endpoint} was lost while following: ${reasonOf(error)}.`, { cause: error });
