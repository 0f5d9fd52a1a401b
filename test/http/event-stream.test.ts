import { expect } from 'chai';
import { logKey, readCursor, writeCursor } from '../../functions/engine/record/cursor.js';
import type { EventPage } from '../../functions/engine/record/events.js';
import type { LogNews } from '../../functions/engine/record/read-log.js';
import { realClock } from '../../functions/host/clock.js';
import { type EventSource, type StreamTimes, streamEvents } from '../../functions/http/bootstraps/event-stream.js';
import type { BootstrapEvent } from '../../shared/bootstrap/event.js';
import type { Forecast } from '../../shared/bootstrap/forecast.js';

const at = '2026-01-01T00:00:00.000Z';
const ended = (instance: string): BootstrapEvent => ({ schema: 1, type: 'instance', at, instance, state: 'done' });
const underWay = (instance: string, note: string): BootstrapEvent => ({
  schema: 1,
  type: 'progress',
  at,
  instance,
  note,
  attempt: 0,
});

const said = (instance: string, text: string, next: number): LogNews => ({
  event: { schema: 1, type: 'log', at, instance, generation: 1, offset: next - text.length, text },
  next,
});

/** A bootstrap whose events the test writes by hand. */
function createSource() {
  const events: BootstrapEvent[] = [];
  const progress: BootstrapEvent[] = [];
  const logs: LogNews[] = [];
  const watchers = new Set<{ onChange: () => void; onError: (error: unknown) => void }>();
  const counts = { events: 0, progress: 0 };
  const foreseen: { now: Forecast | undefined } = { now: undefined };
  let over = false;
  const source: EventSource = {
    async readEvents(cursor): Promise<EventPage> {
      counts.events += 1;
      const from = readCursor(cursor).event;
      return {
        events: events.slice(from).map((event, i) => ({ cursor: writeCursor({ event: from + i + 1 }), event })),
        ended: over,
        more: false,
        generation: 1,
      };
    },
    async readProgress() {
      counts.progress += 1;
      return progress;
    },
    async readLogs({ generation, offsets }, instances) {
      return logs.filter(
        ({ event, next }) =>
          instances.includes(event.instance) &&
          event.generation === generation &&
          next > (offsets.get(logKey(event.instance)) ?? 0),
      );
    },
    readForecast: async () => foreseen.now,
    readState: async () => (over ? 'succeeded' : 'running'),
    watch(onChange, onError) {
      const watcher = { onChange, onError };
      watchers.add(watcher);
      onChange();
      return () => watchers.delete(watcher);
    },
  };
  const tell = (): void => {
    for (const { onChange } of watchers) onChange();
  };
  return {
    source,
    progress,
    logs,
    counts,
    foreseen,
    watchers: () => watchers.size,
    add(event: BootstrapEvent) {
      events.push(event);
      tell();
    },
    end() {
      over = true;
      tell();
    },
    breakDown(error: unknown) {
      for (const { onError } of watchers) onError(error);
    },
  };
}

const quick: StreamTimes = { streamSeconds: 60, commentSeconds: 60, progressSeconds: 0.02 };
const until = async (holds: () => boolean): Promise<void> => {
  while (!holds()) await new Promise((resolve) => setTimeout(resolve, 5));
};
/** Until progress has been read three times more: what was there before has long been told then. */
const looks = ({ counts }: { readonly counts: { readonly progress: number } }): Promise<void> => {
  const from = counts.progress;
  return until(() => counts.progress >= from + 3);
};

/** Reads a stream in the background; `lines` grows as it comes. */
function follow(source: EventSource, { cursor = undefined as string | undefined, times = quick } = {}) {
  const client = new AbortController();
  const pieces: string[] = [];
  const finished = (async () => {
    for await (const piece of streamEvents({ clock: realClock }, source, { cursor, gone: client.signal, times }))
      pieces.push(piece);
  })();
  finished.catch(() => undefined);
  return {
    pieces,
    finished,
    leave: () => client.abort(),
    cursors: () => pieces.flatMap((piece) => /^id: (.*)$/m.exec(piece)?.[1] ?? []),
    ids: () => pieces.flatMap((piece) => /^id: (.*)$/m.exec(piece)?.[1] ?? []).map((id) => readCursor(id).event),
    types: () => pieces.flatMap((piece) => /^event: (.*)$/m.exec(piece)?.[1] ?? []),
  };
}

describe('a stream of events', () => {
  it('tells what happened, then what happens, and says goodbye at the end', async () => {
    const bootstrap = createSource();
    bootstrap.add(ended('project'));
    const stream = follow(bootstrap.source);
    await until(() => stream.ids().length > 0);
    expect(stream.ids()).to.deep.equal([1]);
    bootstrap.add(ended('network'));
    await until(() => stream.ids().length > 1);
    expect(stream.ids()).to.deep.equal([1, 2]);
    bootstrap.end();
    await stream.finished;
    expect(stream.types()).to.deep.equal(['instance', 'instance', 'end']);
    expect(stream.pieces.at(-1)).to.contain('"reason":"ended","state":"succeeded"');
    expect(bootstrap.watchers()).to.equal(0);
  });

  it('goes on after a cursor, and ends at once when nothing is left', async () => {
    const bootstrap = createSource();
    for (const name of ['a', 'b', 'c']) bootstrap.add(ended(name));
    bootstrap.end();
    const stream = follow(bootstrap.source, { cursor: writeCursor({ event: 2 }) });
    await stream.finished;
    expect(stream.ids()).to.deep.equal([3, 3]);
    const nothing = follow(bootstrap.source, { cursor: writeCursor({ event: 3 }) });
    await nothing.finished;
    expect(nothing.types()).to.deep.equal(['end']);
  });

  it('shows what is under way once for each change, without a cursor', async () => {
    const bootstrap = createSource();
    bootstrap.progress.push(underWay('project', 'waits for the operation'));
    const stream = follow(bootstrap.source);
    await looks(bootstrap);
    expect(stream.types()).to.deep.equal(['progress']);
    expect(stream.ids()).to.deep.equal([]);
    bootstrap.progress[0] = underWay('project', 'waits for billing');
    await looks(bootstrap);
    expect(stream.types()).to.deep.equal(['progress', 'progress']);
    stream.leave();
    await stream.finished;
  });

  it('reads events when something changed, and not otherwise', async () => {
    const bootstrap = createSource();
    const stream = follow(bootstrap.source);
    await looks(bootstrap);
    expect(bootstrap.counts.events).to.equal(1);
    expect(bootstrap.counts.progress).to.be.at.least(2);
    bootstrap.add(ended('project'));
    await looks(bootstrap);
    expect(bootstrap.counts.events).to.equal(2);
    stream.leave();
    await stream.finished;
  });

  it('tells what jobs say before the end of their instance, and goes on after what was told', async () => {
    const bootstrap = createSource();
    bootstrap.add(ended('project'));
    bootstrap.progress.push(underWay('install', 'installs'));
    const first = follow(bootstrap.source);
    await looks(bootstrap);
    bootstrap.logs.push(said('install', 'begun\n', 6));
    await looks(bootstrap);
    expect(first.types()).to.deep.equal(['instance', 'progress', 'log']);
    const cursor = first.cursors().at(-1);
    first.leave();
    await first.finished;
    bootstrap.logs[0] = said('install', 'over\n', 11);
    bootstrap.add(ended('install'));
    bootstrap.end();
    const second = follow(bootstrap.source, { cursor });
    await second.finished;
    expect(second.types()).to.deep.equal(['log', 'instance', 'end']);
    expect(second.pieces.join('')).to.include('over').and.not.include('begun');
    const third = follow(bootstrap.source, { cursor: second.cursors()[0] });
    await third.finished;
    expect(third.types()).to.deep.equal(['instance', 'end']);
  });

  it('tells how long it still takes when that has moved, and not while time alone goes by', async () => {
    const bootstrap = createSource();
    bootstrap.foreseen.now = { p50Seconds: 600, p90Seconds: 900, learntFrom: 3 };
    const stream = follow(bootstrap.source);
    await looks(bootstrap);
    expect(stream.types()).to.deep.equal(['forecast']);
    expect(stream.pieces.at(-1)).to.contain('"p50Seconds":600,"p90Seconds":900,"learntFrom":3');
    bootstrap.foreseen.now = { p50Seconds: 300, p90Seconds: 450, learntFrom: 3 };
    await looks(bootstrap);
    expect(stream.types()).to.deep.equal(['forecast', 'forecast']);
    expect(stream.ids()).to.deep.equal([]);
    bootstrap.foreseen.now = undefined;
    bootstrap.end();
    await stream.finished;
    expect(stream.types()).to.deep.equal(['forecast', 'forecast', 'end']);
  });

  it('breaks silence with a comment', async () => {
    const bootstrap = createSource();
    const stream = follow(bootstrap.source, { times: { ...quick, commentSeconds: 0.03 } });
    await until(() => stream.pieces.filter((piece) => piece.startsWith(': ')).length > 1);
    expect(stream.pieces.filter((piece) => piece.startsWith(': ')).length).to.be.at.least(2);
    stream.leave();
    await stream.finished;
  });

  it('ends before the time-out, naming the cursor to come back with', async () => {
    const bootstrap = createSource();
    bootstrap.add(ended('project'));
    const stream = follow(bootstrap.source, { times: { ...quick, streamSeconds: 0.05 } });
    await stream.finished;
    expect(stream.ids()).to.deep.equal([1, 1]);
    expect(stream.pieces.at(-1)).to.contain('"reason":"time","state":"running"');
    expect(bootstrap.watchers()).to.equal(0);
  });

  it('lets go of its watcher when the client goes', async () => {
    const bootstrap = createSource();
    const stream = follow(bootstrap.source, { times: { ...quick, progressSeconds: 60 } });
    await until(() => bootstrap.watchers() > 0);
    expect(bootstrap.watchers()).to.equal(1);
    stream.leave();
    await stream.finished;
    expect(bootstrap.watchers()).to.equal(0);
  });

  it('breaks off when the store does, so that the client comes back', async () => {
    const bootstrap = createSource();
    const stream = follow(bootstrap.source);
    await until(() => bootstrap.watchers() > 0);
    bootstrap.breakDown(new Error('the watch is lost'));
    const outcome = await stream.finished.then(
      () => 'ended',
      (error: Error) => error.message,
    );
    expect(outcome).to.equal('the watch is lost');
    expect(bootstrap.watchers()).to.equal(0);
  });
});
