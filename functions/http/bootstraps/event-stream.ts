/**
 * Streams server-sent events of one bootstrap. It sends past events, then new ones, until the bootstrap ends or the stream's
 * time is up.
 */

import type { BootstrapState } from '../../../shared/bootstrap/bootstrap.js';
import type { BootstrapEvent } from '../../../shared/bootstrap/event.js';
import type { Forecast } from '../../../shared/bootstrap/forecast.js';
import type { StreamEnd, StreamItem } from '../../../shared/bootstrap/routes.js';
import type { Context } from '../../context.js';
import { type LogPlaces, logKey, readCursor, withLogs } from '../../engine/record/cursor.js';
import type { EventPage } from '../../engine/record/events.js';
import type { LogNews } from '../../engine/record/read-log.js';
import type { Clock } from '../../host/clock.js';

export interface EventSource {
  /** The numbered events after `cursor`. */
  readEvents(cursor: string | undefined): Promise<EventPage>;
  /** The work under way now. One query. */
  readProgress(): Promise<readonly BootstrapEvent[]>;
  /** New lines of machine logs from these instances' jobs. */
  readLogs(told: LogPlaces, instances: readonly string[]): Promise<readonly LogNews[]>;
  /** How long it still takes, by what `readEvents` saw last. Undefined: that is not known. */
  readForecast(): Promise<Forecast | undefined>;
  readState(): Promise<BootstrapState>;
  /** Calls back at once, and then whenever there may be something new to read. Returns a function that stops it. */
  watch(onChange: () => void, onError: (error: unknown) => void): () => void;
}

export interface StreamTimes {
  /** Less than the function's ten minutes. The client reconnects with its cursor. */
  readonly streamSeconds: number;
  /** A comment at this interval, so that no proxy takes silence for a dead connection. */
  readonly commentSeconds: number;
  /** How often to look at the work under way. */
  readonly progressSeconds: number;
}
export const streamTimes: StreamTimes = { streamSeconds: 540, commentSeconds: 15, progressSeconds: 2 };

/** `id` is the cursor for a reconnect. A client may miss events without one. */
const format = (item: StreamItem, id?: string): string =>
  `${id === undefined ? '' : `id: ${id}\n`}event: ${item.type}\ndata: ${JSON.stringify(item)}\n\n`;

/** A bell that can ring before anybody waits for it. */
function createBell(clock: Clock, signals: readonly AbortSignal[]) {
  let rung = false;
  let wake: () => void = () => undefined;
  const ring = (): void => {
    rung = true;
    wake();
  };
  for (const signal of signals) signal.addEventListener('abort', ring);
  return {
    ring,
    /** Waits until the bell rings, or for so many seconds. */
    async wait(seconds: number): Promise<void> {
      if (!rung) {
        await new Promise<void>((resolve) => {
          const stopTimer = clock.after(seconds, resolve);
          wake = () => {
            stopTimer();
            resolve();
          };
        });
      }
      rung = false;
    },
    silence(): void {
      for (const signal of signals) signal.removeEventListener('abort', ring);
    },
  };
}

export async function* streamEvents(
  { clock, shutdown }: Pick<Context, 'clock' | 'shutdown'>,
  source: EventSource,
  { cursor: from, gone, times = streamTimes }: { cursor: string | undefined; gone: AbortSignal; times?: StreamTimes },
): AsyncGenerator<string> {
  // When this function's instance shuts down, the client reconnects to another one with its cursor.
  // AbortSignal.any would leave something of each stream with the signal of the process.
  const bell = createBell(clock, shutdown === undefined ? [gone] : [gone, shutdown]);
  let fresh = false;
  let broken: { readonly error: unknown } | undefined;
  const unwatch = source.watch(
    () => {
      fresh = true;
      bell.ring();
    },
    (error) => {
      broken = { error };
      bell.ring();
    },
  );

  const now = (): number => clock.now().getTime();
  const endAt = now() + times.streamSeconds * 1000;
  const position = createPosition(from);
  const shown = new Map<string, string>();
  const forecasts = createForecasts(source, now);
  let commentAt = 0;
  let progressAt = 0;
  async function* said(texts: AsyncIterable<string> | Iterable<string>): AsyncGenerator<string> {
    for await (const text of texts) {
      commentAt = now() + times.commentSeconds * 1000;
      yield text;
    }
  }
  const end = async (reason: StreamEnd['reason']): Promise<string> =>
    format({ schema: 1, type: 'end', reason, state: await source.readState() }, position.mark());

  try {
    yield* said(['retry: 1000\n\n']);
    while (!gone.aborted) {
      if (broken !== undefined) throw broken.error;
      if (fresh) {
        fresh = false;
        const page = await source.readEvents(position.cursor());
        yield* said(newEvents(source, page, position, shown));
        fresh ||= page.more;
        if (page.ended) {
          yield await end('ended');
          return;
        }
      }
      if (shutdown?.aborted || now() >= endAt) {
        yield await end('time');
        return;
      }
      if (now() >= progressAt) {
        progressAt = now() + times.progressSeconds * 1000;
        yield* said(newProgress(source, position, shown));
        yield* said(await forecasts.news());
      }
      if (now() >= commentAt) yield* said([': still here\n\n']);
      if (!fresh) await bell.wait(Math.max(0, Math.min(endAt, commentAt, progressAt) - now()) / 1000);
    }
  } finally {
    unwatch();
    bell.silence();
  }
}

/** Less than this is not worth telling. */
const newsSeconds = 5;

/** Tells a forecast when the moments that it names have moved. */
function createForecasts(source: EventSource, now: () => number) {
  let told: readonly number[] = [];
  return {
    async news(): Promise<string[]> {
      const forecast = await source.readForecast();
      if (forecast === undefined) return [];
      const at = now() / 1000;
      const ends = [at + forecast.p50Seconds, at + forecast.p90Seconds];
      if (ends.every((end, i) => Math.abs(end - (told[i] ?? 0)) < newsSeconds)) return [];
      told = ends;
      return [format({ schema: 1, type: 'forecast', ...forecast })];
    },
  };
}

/** How far the client has read. */
function createPosition(from: string | undefined) {
  let cursor = from;
  let logs: LogPlaces = readCursor(from).logs ?? { generation: 0, offsets: new Map<string, number>() };
  return {
    cursor: () => cursor,
    logs: () => logs,
    /** The cursor for a reconnect. Undefined as long as the client has got nothing. */
    mark: (): string | undefined =>
      cursor === undefined && logs.offsets.size === 0 ? undefined : withLogs(cursor, logs),
    moveTo(next: string): void {
      cursor = next;
    },
    /** The logs of a new generation start from the beginning. */
    enter(generation: number): void {
      if (generation !== logs.generation) logs = { generation, offsets: new Map() };
    },
    readLog(instance: string, next: number): void {
      logs = { ...logs, offsets: new Map(logs.offsets).set(logKey(instance), next) };
    },
  };
}
type Position = ReturnType<typeof createPosition>;

async function* newLogs(source: EventSource, position: Position, instances: readonly string[]): AsyncGenerator<string> {
  for (const { event, next } of await source.readLogs(position.logs(), instances)) {
    position.readLog(event.instance, next);
    yield format(event, position.mark());
  }
}

async function* newEvents(
  source: EventSource,
  { generation, events }: EventPage,
  position: Position,
  shown: Map<string, string>,
): AsyncGenerator<string> {
  position.enter(generation);
  // Send all logs of an instance before its end.
  const ended = events.flatMap(({ event }) => (event.type === 'instance' ? event.instance : []));
  yield* newLogs(source, position, ended);
  for (const { cursor, event } of events) {
    position.moveTo(cursor);
    if (event.type === 'instance') shown.delete(event.instance);
    yield format(event, position.mark());
  }
}

/** The work under way, except what is `shown` already. */
async function* newProgress(
  source: EventSource,
  position: Position,
  shown: Map<string, string>,
): AsyncGenerator<string> {
  const underWay = await source.readProgress();
  const instances = underWay.flatMap((event) => (event.type === 'progress' ? event.instance : []));
  yield* newLogs(source, position, instances);
  for (const event of underWay) {
    if (event.type !== 'progress') continue;
    const { at: _, ...what } = event;
    const text = JSON.stringify(what);
    if (shown.get(event.instance) === text) continue;
    shown.set(event.instance, text);
    yield format(event);
  }
}
