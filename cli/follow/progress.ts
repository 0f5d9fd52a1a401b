/**
 * What is under way in a bootstrap, derived from its events. Pure: the caller passes in the clock. The display and the plain
 * lines both use it.
 */

import type { BootstrapView, InstanceState } from '../../shared/bootstrap/bootstrap.js';
import type { Forecast } from '../../shared/bootstrap/forecast.js';
import type { StreamItem } from '../../shared/bootstrap/routes.js';

interface RunningRow {
  readonly title: string;
  readonly note: string | undefined;
  /** Why it is retried, in a few words. */
  readonly retry: string | undefined;
  readonly seconds: number;
}

export interface Timing {
  readonly instance: string;
  readonly title: string;
  readonly seconds: number;
}

interface Instance {
  readonly title: string;
  state: InstanceState;
  note: string | undefined;
  retry: string | undefined;
  /** The retry reason that was shown last, in a few words. */
  told: string | undefined;
  attempt: number;
  startedAtMs: number | undefined;
  seconds: number | undefined;
  undoFailed: boolean;
}

/** What people should see of an event. */
export type Said =
  | {
      readonly kind: 'ended';
      readonly title: string;
      readonly state: InstanceState;
      readonly seconds: number | undefined;
      readonly note: string | undefined;
    }
  | { readonly kind: 'failed'; readonly title: string; readonly detail: string; readonly advice: string | undefined }
  | { readonly kind: 'under way'; readonly title: string; readonly note: string }
  /** `repeated`: the reason is the same as last time. */
  | {
      readonly kind: 'retry';
      readonly title: string;
      readonly why: string;
      readonly short: string;
      readonly repeated: boolean;
    }
  | { readonly kind: 'call'; readonly text: string }
  | { readonly kind: 'action'; readonly text: string }
  | { readonly kind: 'warning'; readonly text: string; readonly advice: string };

export interface Progress {
  /** False for events of an earlier generation. An earlier run has already shown those. */
  readonly current: boolean;
  /** When this run began, by the service's clock. Before its first event: when the bootstrap did, or else now. */
  readonly begunAtMs: number;
  apply(item: StreamItem): Said | undefined;
  /** Shows work of this machine as a row of its own. Without a note, the work has ended. */
  beside(title: string, note: string | undefined, nowMs: number): void;
  running(nowMs: number): RunningRow[];
  /** When it will be ready, probably and in nine of ten cases. Undefined: that is not known. */
  readonly ready: { readonly p50Ms: number; readonly p90Ms: number } | undefined;
  readonly done: number;
  readonly total: number;
  /** Slowest first. */
  timings(): Timing[];
}

const readyBy = (forecast: Forecast | undefined, nowMs: number): Progress['ready'] =>
  forecast && { p50Ms: nowMs + forecast.p50Seconds * 1000, p90Ms: nowMs + forecast.p90Seconds * 1000 };

export function createProgress(view: BootstrapView, nowMs = Date.now()): Progress {
  const instances = instancesIn(view);
  let current = false;
  let ready = readyBy(view.forecast, nowMs);
  let begunAtMs = view.generation === 1 ? Date.parse(view.createdAt) : nowMs;
  let removing = view.state === 'removing';
  const besides = new Map<string, { readonly note: string; readonly startedAtMs: number }>();

  return {
    get current() {
      return current;
    },
    get begunAtMs() {
      return begunAtMs;
    },
    apply(item) {
      if (item.type === 'forecast') ready = readyBy(item, Date.now());
      if (item.type === 'end' || item.type === 'log' || item.type === 'forecast') return undefined;
      if (item.type === 'state') {
        if (item.generation >= view.generation && !current) begunAtMs = Date.parse(item.at);
        if (item.generation >= view.generation) current = true;
        if (item.generation >= view.generation) removing = item.state === 'removing';
        return undefined;
      }
      // Progress is always current. Other events may be from an earlier generation.
      if (!current && item.type !== 'progress') return undefined;
      return saidOf(item, instances, removing);
    },
    beside(title, note, nowMs) {
      if (note === undefined) besides.delete(title);
      else besides.set(title, { note, startedAtMs: besides.get(title)?.startedAtMs ?? nowMs });
    },
    running: (nowMs) => [
      ...[...instances.values()]
        .filter(({ state }) => state === 'running' || state === 'client')
        .map(({ title, note, retry, startedAtMs }) => ({
          title,
          note,
          retry: retry === undefined ? undefined : inShort(retry),
          seconds: startedAtMs === undefined ? 0 : Math.max(0, (nowMs - startedAtMs) / 1000),
        })),
      ...[...besides].map(([title, { note, startedAtMs }]) => ({
        title,
        note,
        retry: undefined,
        seconds: Math.max(0, (nowMs - startedAtMs) / 1000),
      })),
    ],
    get ready() {
      return ready;
    },
    get done() {
      const over = removing ? removedIn(instances) : ({ state }: Instance) => state === 'done';
      return [...instances.values()].filter(over).length;
    },
    get total() {
      return instances.size;
    },
    timings: () =>
      [...instances]
        .flatMap(([instance, { title, seconds }]) => (seconds === undefined ? [] : [{ instance, title, seconds }]))
        .sort((a, b) => b.seconds - a.seconds),
  };
}

type Instances = Map<string, Instance>;

/** What has no undo goes with the project. */
function removedIn(instances: Instances): (instance: Instance) => boolean {
  const projectIsGone = instances.get('project')?.state === 'gone';
  const stays = ({ state, undoFailed }: Instance) => undoFailed || !isEnded(state);
  return (instance) => instance.state === 'gone' || (projectIsGone && !stays(instance));
}

const instancesIn = (view: BootstrapView): Instances =>
  new Map(
    view.instances.map(({ id, title, state, note, attempt, startedAt }) => [
      id,
      {
        title,
        state,
        note,
        retry: undefined,
        told: undefined,
        attempt,
        startedAtMs: startedAt === undefined ? undefined : Date.parse(startedAt),
        seconds: undefined,
        undoFailed: false,
      },
    ]),
  );

/** If only a newer service knows the instance, it has no title yet, and its id serves as one. */
function instanceIn(instances: Instances, id: string): Instance {
  const known = instances.get(id);
  if (known !== undefined) return known;
  const fresh: Instance = {
    title: id,
    state: 'running',
    note: undefined,
    retry: undefined,
    told: undefined,
    attempt: 0,
    startedAtMs: undefined,
    seconds: undefined,
    undoFailed: false,
  };
  instances.set(id, fresh);
  return fresh;
}

type Told = Extract<StreamItem, { type: 'action' | 'warning' | 'call' | 'instance' | 'progress' }>;

/** Applies a current event, and returns what to show of it. */
function saidOf(item: Told, instances: Instances, removing: boolean): Said | undefined {
  switch (item.type) {
    case 'action':
      return { kind: 'action', text: `${item.actor}: ${item.action}` };
    case 'warning':
      return { kind: 'warning', text: item.text, advice: item.advice };
    case 'call':
      return { kind: 'call', text: `${instances.get(item.instance)?.title ?? item.instance}: ${item.text}` };
    case 'instance': {
      const instance = instanceIn(instances, item.instance);
      instance.state = item.state;
      instance.seconds = item.seconds ?? instance.seconds;
      instance.undoFailed = removing && item.state === 'failed';
      if (item.problem !== undefined) {
        return { kind: 'failed', title: instance.title, detail: item.problem.detail, advice: item.problem.advice };
      }
      return { kind: 'ended', title: instance.title, state: item.state, seconds: item.seconds, note: item.note };
    }
    case 'progress':
      return saidOfProgress(item, instanceIn(instances, item.instance));
  }
}

function saidOfProgress(item: Extract<StreamItem, { type: 'progress' }>, instance: Instance): Said | undefined {
  const { note, retry, attempt } = item;
  const [newNote, newRetry] = [note !== instance.note, retry !== instance.retry || attempt !== instance.attempt];
  if (!isEnded(instance.state)) instance.state = 'running';
  Object.assign(instance, { note, retry, attempt });
  instance.startedAtMs ??= Date.parse(item.at);
  if (retry !== undefined && newRetry) {
    const short = inShort(retry);
    const repeated = short === instance.told;
    instance.told = short;
    return { kind: 'retry', title: instance.title, why: retry, short, repeated };
  }
  return note !== undefined && newNote ? { kind: 'under way', title: instance.title, note } : undefined;
}

const isEnded = (state: InstanceState): boolean => ['done', 'failed', 'cancelled', 'gone'].includes(state);

/**
 * `Could not read the region x: the API is not usable yet (Compute …).` → `the API is not usable yet`. Most retries are
 * expected waits, and the cloud's messages are long.
 */
function inShort(why: string): string {
  const [sentence = ''] = why.split(/ \(|\. |\n/);
  return sentence.replace(/^.*: /, '').replace(/\.$/, '') || why;
}
