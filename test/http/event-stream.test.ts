import { expect } from 'chai';
import type { EventPage } from '../../functions/engine/events.js';
import { type EventSource, type StreamTimes, streamEvents } from '../../functions/http/event-stream.js';
import type { BootstrapEvent } from '../../shared/bootstrap/event.js';

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

/** A bootstrap whose events the test writes by hand. */
function createSource() {
  const events: BootstrapEvent[] = [];
  const progress: BootstrapEvent[] = [];
  const watchers = new Set<{ onChange: () => void; onError: (error: unknown) => void }>();
  const counts = { events: 0, progress: 0 };
  let over = false;
  const source: EventSource = {
    async readEvents(cursor): Promise<EventPage> {
      counts.events += 1;
      const from = cursor === undefined ? 0 : Number(cursor);
      return {
        events: events.slice(from).map((event, i) => ({ cursor: String(from + i + 1), event })),
        ended: over,
        more: false,
      };
    },
    async readProgress() {
      counts.progress += 1;
      return progress;
    },
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
    counts,
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
const pause = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));

/** Reads a stream in the background; `lines` grows as it comes. */
function follow(source: EventSource, { cursor = undefined as string | undefined, times = quick } = {}) {
  const client = new AbortController();
  const pieces: string[] = [];
  const finished = (async () => {
    for await (const piece of streamEvents(source, { cursor, gone: client.signal, times })) pieces.push(piece);
  })();
  finished.catch(() => undefined);
  return {
    pieces,
    finished,
    leave: () => client.abort(),
    ids: () => pieces.flatMap((piece) => /^id: (.*)$/m.exec(piece)?.[1] ?? []),
    types: () => pieces.flatMap((piece) => /^event: (.*)$/m.exec(piece)?.[1] ?? []),
  };
}

describe('a stream of events', () => {
  it('tells what happened, then what happens, and says goodbye at the end', async () => {
    const bootstrap = createSource();
    bootstrap.add(ended('project'));
    const stream = follow(bootstrap.source);
    await pause(20);
    expect(stream.ids()).to.deep.equal(['1']);
    bootstrap.add(ended('network'));
    await pause(20);
    expect(stream.ids()).to.deep.equal(['1', '2']);
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
    const stream = follow(bootstrap.source, { cursor: '2' });
    await stream.finished;
    expect(stream.ids()).to.deep.equal(['3', '3']);
    const nothing = follow(bootstrap.source, { cursor: '3' });
    await nothing.finished;
    expect(nothing.types()).to.deep.equal(['end']);
  });

  it('shows what is under way once for each change, without a cursor', async () => {
    const bootstrap = createSource();
    bootstrap.progress.push(underWay('project', 'waits for the operation'));
    const stream = follow(bootstrap.source);
    await pause(100);
    expect(stream.types()).to.deep.equal(['progress']);
    expect(stream.ids()).to.deep.equal([]);
    bootstrap.progress[0] = underWay('project', 'waits for billing');
    await pause(60);
    expect(stream.types()).to.deep.equal(['progress', 'progress']);
    stream.leave();
    await stream.finished;
  });

  it('reads events when something changed, and not otherwise', async () => {
    const bootstrap = createSource();
    const stream = follow(bootstrap.source);
    await pause(150);
    expect(bootstrap.counts.events).to.equal(1);
    expect(bootstrap.counts.progress).to.be.at.least(2);
    bootstrap.add(ended('project'));
    await pause(30);
    expect(bootstrap.counts.events).to.equal(2);
    stream.leave();
    await stream.finished;
  });

  it('breaks silence with a comment', async () => {
    const bootstrap = createSource();
    const stream = follow(bootstrap.source, { times: { ...quick, commentSeconds: 0.03 } });
    await pause(120);
    expect(stream.pieces.filter((piece) => piece.startsWith(': ')).length).to.be.at.least(2);
    stream.leave();
    await stream.finished;
  });

  it('ends before the time-out, naming the cursor to come back with', async () => {
    const bootstrap = createSource();
    bootstrap.add(ended('project'));
    const stream = follow(bootstrap.source, { times: { ...quick, streamSeconds: 0.05 } });
    await stream.finished;
    expect(stream.ids()).to.deep.equal(['1', '1']);
    expect(stream.pieces.at(-1)).to.contain('"reason":"time","state":"running"');
    expect(bootstrap.watchers()).to.equal(0);
  });

  it('lets go of its watcher when the client goes', async () => {
    const bootstrap = createSource();
    const stream = follow(bootstrap.source, { times: { ...quick, progressSeconds: 60 } });
    await pause(20);
    expect(bootstrap.watchers()).to.equal(1);
    stream.leave();
    await stream.finished;
    expect(bootstrap.watchers()).to.equal(0);
  });

  it('breaks off when the store does, so that the client comes back', async () => {
    const bootstrap = createSource();
    const stream = follow(bootstrap.source);
    await pause(20);
    bootstrap.breakDown(new Error('the watch is lost'));
    const outcome = await stream.finished.then(
      () => 'ended',
      (error: Error) => error.message,
    );
    expect(outcome).to.equal('the watch is lost');
    expect(bootstrap.watchers()).to.equal(0);
  });
});
