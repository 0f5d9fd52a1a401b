/** One bootstrap: how it stands, its steps over time, their logs, what was made, what failed and the way out. */

import { useEffect, useState } from 'preact/hooks';
import type { BootstrapView, InstanceView } from '../shared/bootstrap/bootstrap.js';
import { forecastText } from '../shared/bootstrap/forecast-text.js';
import type { LogView } from '../shared/bootstrap/log.js';
import { calledBy } from '../shared/command-words.js';
import { call, path } from './calls.js';
import { followEvents } from './follow.js';
import { type Asked, LifeQuestion, verbs } from './life.js';
import { useLive, useNow } from './live.js';
import { Log } from './logs.js';
import { Made } from './made.js';
import { Command, Loaded, State, Title } from './parts.js';
import { TimeLeft } from './projects.js';
import { Timeline } from './timeline.js';
import { isEnded, money, time } from './words.js';

/** A safety net: events say when to look again. */
const restSeconds = 10;

export function BootstrapPage({ id }: { id: string }) {
  const live = useLive(
    `bootstrap ${id}`,
    (signal) => call<BootstrapView>('bootstraps', 'GET', path`/bootstraps/${id}`, { signal }),
    restSeconds,
  );
  const { again } = live;
  const active = live.data !== undefined && live.data.endedAt === undefined;
  useEffect(() => (active ? followEvents(id, again) : undefined), [id, active, again]);
  const [asked, setAsked] = useState<Asked>();
  return (
    <article>
      <p class="crumb">
        <a href="#/projects">Projects</a>
      </p>
      <Loaded live={live}>
        {(view) => (
          <>
            <Head view={view} ask={setAsked} />
            <Failed view={view} />
            <Steps view={view} />
            <Made view={view} />
            {asked && <LifeQuestion asked={asked} of={view} done={again} close={() => setAsked(undefined)} />}
          </>
        )}
      </Loaded>
    </article>
  );
}

function Head({ view, ask }: { view: BootstrapView; ask: (asked: Asked) => void }) {
  const now = useNow();
  const { cost, removal, state } = view;
  return (
    <>
      <div class="head">
        <Title>{view.name}</Title>
        <State state={state} />
        {state !== 'removed' && removal === undefined && (
          <div class="verbs">
            {verbs.map(([verb, title]) => (
              <button key={verb} type="button" class={verb === 'remove' ? 'danger' : ''} onClick={() => ask(verb)}>
                {title}
              </button>
            ))}
          </div>
        )}
      </div>
      <p class="unseen" role="status">
        {view.name} is {state}
      </p>
      <dl class="facts">
        <Fact title="Project">
          <code>{view.projectId}</code>
        </Fact>
        <Fact title="Owner">{view.owner}</Fact>
        <Fact title="Time">
          <TimeLeft of={view} now={now} />
        </Fact>
        <Fact title="Cost so far">{money(cost.soFar, cost.currency)}</Fact>
        {state !== 'removed' && removal === undefined && (
          <Fact title="Cost until removal">{money(cost.untilExpiry, cost.currency)}</Fact>
        )}
        <Fact title="Begun">{time(view.createdAt)}</Fact>
        <Ready view={view} />
        {view.sharedWith.length > 0 && <Fact title="Shared with">{view.sharedWith.join(', ')}</Fact>}
        {view.protection && Date.parse(view.protection.until) > now && (
          <Fact title="Protected">
            until {time(view.protection.until)} by {view.protection.by}: {view.protection.reason}
          </Fact>
        )}
        {removal && (
          <Fact title="Removal">
            {removal.why === 'expired' ? 'its time was over' : `asked for by ${removal.by}`},{' '}
            {time(removal.requestedAt)}
          </Fact>
        )}
      </dl>
    </>
  );
}

const Fact = ({ title, children }: { title: string; children: preact.ComponentChildren }) => (
  <div>
    <dt>{title}</dt>
    <dd>{children}</dd>
  </div>
);

function Ready({ view: { forecast, state } }: { view: BootstrapView }) {
  if (forecast === undefined || state !== 'running') return null;
  return <Fact title="Ready">in {forecastText(forecast)}</Fact>;
}

/** What failed, why, and what to do: each advice once. */
function Failed({ view }: { view: BootstrapView }) {
  const failed = view.instances.filter(({ problem }) => problem !== undefined);
  const wait = view.instances.filter(({ state }) => state === 'client');
  const { problem, vmsStopped, expiryWarning, warnings } = view;
  const own = failed.length === 0 && problem !== undefined && view.state !== 'running' ? problem : undefined;
  const advice = [...new Set([...failed.map((each) => each.problem?.advice), own?.advice].filter(Boolean))] as string[];
  const resumable = view.state === 'failed' || view.state === 'cancelled';
  return (
    <>
      {(failed.length > 0 || own !== undefined) && (
        <section class="problem" aria-label="What failed">
          {own && <p>{own.detail}</p>}
          {failed.map(({ id, title, problem: why }) => (
            <p key={id}>
              <b>{title}</b>: {why?.detail}
            </p>
          ))}
          {advice.map((text) => (
            <p key={text} class="advice">
              {text}
            </p>
          ))}
          {resumable && <p class="advice">The same command again goes on from where it stopped.</p>}
        </section>
      )}
      {wait.length > 0 && (
        <section class="hint" aria-label="What waits for you">
          <p>
            {wait.map(({ title }) => title).join(', ')} waits for a file of your computer. The same command brings it:
          </p>
          <Command text={`plinth beta bootstrap-cloud status ${calledBy(view)} --follow`} />
        </section>
      )}
      {vmsStopped && <Hint title="VMs are stopped" lines={[vmsStopped.why, vmsStopped.advice]} />}
      {expiryWarning && <Hint title="Its time is nearly over" lines={[expiryWarning.text]} />}
      {warnings.length > 0 && <Hint title="Warnings" lines={warnings} />}
    </>
  );
}

const Hint = ({ title, lines }: { title: string; lines: readonly string[] }) => (
  <section class="hint" aria-label={title}>
    {lines.map((line) => (
      <p key={line}>{line}</p>
    ))}
  </section>
);

/** The log that is shown unless somebody chooses: of what failed, of what runs, of what ran last. */
function firstLog(instances: readonly InstanceView[], logs: readonly LogView[]): string | undefined {
  const has = new Set(logs.map(({ instance }) => instance));
  const own = instances.filter(({ id }) => has.has(id));
  const found =
    own.find(({ state }) => state === 'failed') ??
    own.findLast(({ state }) => state === 'running') ??
    own.toSorted((one, other) => (one.endedAt ?? '').localeCompare(other.endedAt ?? '')).at(-1);
  return found?.id;
}

function Steps({ view }: { view: BootstrapView }) {
  const [chosen, setChosen] = useState<string>();
  const { id, instances, endedAt, generation } = view;
  const logs = useLive(
    `logs ${id}`,
    (signal) => call<LogView[]>('bootstraps', 'GET', path`/bootstraps/${id}/logs`, { signal }),
    endedAt === undefined ? 5 : undefined,
  );
  const known = logs.data ?? [];
  const shown = chosen ?? firstLog(instances, known);
  const log = known.find(({ instance }) => instance === shown);
  const step = instances.find((each) => each.id === shown);
  return (
    <section>
      <h2>
        Steps{' '}
        <small>
          {instances.filter(({ state }) => isEnded(state)).length} of {instances.length}
        </small>
      </h2>
      <Timeline
        view={view}
        chosen={log && shown}
        withLogs={new Set(known.map(({ instance }) => instance))}
        choose={setChosen}
      />
      {log && step && (
        <Log
          key={`${log.instance} ${generation}`}
          bootstrap={id}
          log={log}
          title={step.title}
          live={!isEnded(step.state)}
        />
      )}
    </section>
  );
}
