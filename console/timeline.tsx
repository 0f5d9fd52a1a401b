/** The instances of a bootstrap as bars over time, by lane: what ended, what is under way, what waits. */
import type { BootstrapView, InstanceView } from '../shared/bootstrap/bootstrap.js';
import { chainOf } from './chain.js';
import { useNow } from './live.js';
import { isEnded, plural, span } from './words.js';

interface Scale {
  readonly from: number;
  readonly to: number;
}

const lanes = [
  ['cloud', 'Google Cloud'],
  ['host', 'Machines'],
] as const;

/** This generation alone: what ended in an earlier one would stretch the scale. */
function scaleOf(view: BootstrapView, now: number): Scale {
  const starts = view.instances.flatMap(({ startedAt }) => (startedAt === undefined ? [] : [Date.parse(startedAt)]));
  const ended = view.endedAt !== undefined;
  const ends = view.instances.flatMap(({ endedAt }) => (endedAt === undefined ? [] : [Date.parse(endedAt)]));
  const from = Math.min(...starts, now);
  const p50 = ended ? 0 : (view.forecast?.p50Seconds ?? 0) * 1000;
  return { from, to: Math.max(from + 1000, ended ? Math.max(...ends, from) : now + p50) };
}

interface TimelineParts {
  readonly view: BootstrapView;
  /** Whose log is shown. */
  readonly chosen: string | undefined;
  readonly withLogs: ReadonlySet<string>;
  choose(id: string): void;
}

export function Timeline({ view, chosen, withLogs, choose }: TimelineParts) {
  const now = useNow();
  const scale = scaleOf(view, now);
  const chain = view.removal === undefined ? chainOf(view.instances, now) : new Set<string>();
  const begun = view.instances.filter(({ startedAt, state }) => startedAt !== undefined || isEnded(state));
  const waiting = view.instances.filter((each) => !begun.includes(each));
  const row = (instance: InstanceView) => (
    <Bar
      key={instance.id}
      of={instance}
      scale={scale}
      now={now}
      decides={chain.has(instance.id)}
      chosen={chosen === instance.id}
      {...(withLogs.has(instance.id) && { choose: () => choose(instance.id) })}
    />
  );
  return (
    <div class="timeline">
      {chain.size > 0 && (
        <p class="dim legend">
          <span class="swatch" aria-hidden="true" /> critical path so far
        </p>
      )}
      {begun.length === 0 && <p class="none">Nothing has begun yet.</p>}
      {lanes.map(([lane, title]) => {
        const own = begun.filter((each) => (each.lane ?? 'cloud') === lane);
        if (own.length === 0) return null;
        return (
          <section key={lane} aria-label={title}>
            <h3>
              {title} <small>{progressOf(own, view.instances, lane)}</small>
            </h3>
            <ul>{own.toSorted(byBegin).map(row)}</ul>
          </section>
        );
      })}
      {waiting.length > 0 && (
        <details>
          <summary>{plural(waiting.length, 'step waits', 'steps wait')} for others</summary>
          <ul class="waiting">
            {waiting.map(({ id, title }) => (
              <li key={id}>{title}</li>
            ))}
          </ul>
        </details>
      )}
    </div>
  );
}

const byBegin = (one: InstanceView, other: InstanceView): number =>
  (one.startedAt ?? one.endedAt ?? '').localeCompare(other.startedAt ?? other.endedAt ?? '');

function progressOf(own: readonly InstanceView[], all: readonly InstanceView[], lane: string): string {
  const ended = own.filter(({ state }) => isEnded(state)).length;
  return `${ended} of ${all.filter((each) => (each.lane ?? 'cloud') === lane).length}`;
}

interface BarParts {
  readonly of: InstanceView;
  readonly scale: Scale;
  readonly now: number;
  readonly decides: boolean;
  readonly chosen: boolean;
  /** Undefined: it has no log. */
  choose?(): void;
}

const marks: Readonly<Record<InstanceView['state'], string>> = {
  waiting: '·',
  ready: '·',
  running: '▸',
  client: '⏸',
  done: '✓',
  failed: '✗',
  cancelled: '–',
  gone: '✓',
};

function Bar({ of, scale, now, decides, chosen, choose }: BarParts) {
  const { id, title, state, startedAt, endedAt, attempt, note, problem } = of;
  const end = endedAt === undefined ? now : Date.parse(endedAt);
  const start = startedAt === undefined ? end : Date.parse(startedAt);
  const part = (ms: number): number => Math.min(100, Math.max(0, (100 * ms) / (scale.to - scale.from)));
  const left = part(start - scale.from);
  const said = problem?.detail ?? (isEnded(state) ? undefined : note);
  return (
    <li class={`step ${state}${decides ? ' decides' : ''}${chosen ? ' chosen' : ''}`}>
      <span class="mark" aria-hidden="true">
        {marks[state]}
      </span>
      <span class="name">
        {choose === undefined ? (
          title
        ) : (
          <button type="button" class="plain" aria-pressed={chosen} onClick={choose} title="Show its log">
            {title}
          </button>
        )}
        <span class="unseen">
          , {state}
          {decides && ', on the critical path'}
        </span>
        {attempt > 0 && (
          <span class="again" title={`Tried again after ${plural(attempt, 'failure')}`}>
            {' '}
            ↻ {attempt}
          </span>
        )}
      </span>
      <span class="track" aria-hidden="true">
        <span class="run" style={{ left: `${left}%`, width: `${Math.max(0.4, part(end - start))}%` }} />
      </span>
      <span class="took">{startedAt === undefined ? '' : span(end - start)}</span>
      {said && (
        <span class="said" id={`said-${id}`}>
          {said}
        </span>
      )}
    </li>
  );
}
