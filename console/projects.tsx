/** The projects that the caller sees: state, who has them, what time is left, what they cost. */
import { useState } from 'preact/hooks';
import type { BootstrapSummary } from '../shared/bootstrap/bootstrap.js';
import type { CallerView } from '../shared/bootstrap/caller.js';
import { aboutText } from '../shared/bootstrap/forecast-text.js';
import type { Team } from '../shared/organization/team.js';
import { call } from './calls.js';
import { type Asked, LifeQuestion, verbs } from './life.js';
import { useLive, useNow } from './live.js';
import { Command, Loaded, State, Title } from './parts.js';
import { leftOf, money, plural, removeAtOf, time } from './words.js';

export function ProjectsPage() {
  const [all, setAll] = useState(false);
  const [removed, setRemoved] = useState(false);
  const [wanted, setWanted] = useState('');
  const caller = useLive('caller', (signal) => call<CallerView>('bootstraps', 'GET', '/caller', { signal }));
  const teams = useLive('teams', (signal) => call<Team[]>('api', 'GET', '/teams', { signal }), 60);
  const list = useLive(
    `projects ${all}`,
    (signal) => call<BootstrapSummary[]>('bootstraps', 'GET', `/bootstraps${all ? '?all=true' : ''}`, { signal }),
    4,
  );
  const [question, setQuestion] = useState<{ readonly asked: Asked; readonly of: BootstrapSummary }>();
  const teamName = (id: number): string => teams.data?.find(({ teamId }) => teamId === id)?.name ?? `team ${id}`;
  return (
    <section>
      <Title>Projects</Title>
      <div class="filters">
        <input
          type="search"
          aria-label="Find by name, owner or state"
          placeholder="Find"
          value={wanted}
          onInput={(event) => setWanted(event.currentTarget.value)}
        />
        <label class="check">
          <input type="checkbox" checked={removed} onChange={(event) => setRemoved(event.currentTarget.checked)} />
          Removed projects
        </label>
        {caller.data?.operator === true && (
          <label class="check">
            <input type="checkbox" checked={all} onChange={(event) => setAll(event.currentTarget.checked)} />
            Everybody's projects
          </label>
        )}
      </div>
      <Loaded live={list}>
        {(found) => {
          const shown = found.filter((each) => (removed || each.state !== 'removed') && holds(each, wanted));
          if (shown.length === 0) return <None any={found.length > 0} wanted={wanted} caller={caller.data} />;
          return <Table shown={shown} teamName={teamName} ask={(asked, of) => setQuestion({ asked, of })} />;
        }}
      </Loaded>
      {question && <LifeQuestion {...question} done={list.again} close={() => setQuestion(undefined)} />}
    </section>
  );
}

const holds = ({ name, projectId, owner, state }: BootstrapSummary, wanted: string): boolean =>
  [name, projectId, owner, state].some((text) => text.toLowerCase().includes(wanted.trim().toLowerCase()));

function None({ any, wanted, caller }: { any: boolean; wanted: string; caller: CallerView | undefined }) {
  if (wanted !== '') return <p class="none">No project has “{wanted}” in its name, owner or state.</p>;
  return (
    <div class="none">
      <p>{any ? 'All your projects are removed.' : 'You have no projects yet, and nobody shares one with you.'}</p>
      {caller?.mayBootstrap === false ? (
        <p>You may not bootstrap here. Ask your operator.</p>
      ) : (
        <>
          <p>The command line begins one:</p>
          <Command text="plinth init && plinth up" />
        </>
      )}
    </div>
  );
}

interface TableParts {
  readonly shown: readonly BootstrapSummary[];
  teamName(id: number): string;
  ask(asked: Asked, of: BootstrapSummary): void;
}

function Table({ shown, teamName, ask }: TableParts) {
  const now = useNow();
  return (
    <>
      <table class="projects">
        <thead>
          <tr>
            <th scope="col">Project</th>
            <th scope="col">State</th>
            <th scope="col">Owner</th>
            <th scope="col">Time</th>
            <th scope="col" class="number">
              Cost so far
            </th>
            <th scope="col" class="number">
              Cost until removal
            </th>
            <th scope="col">
              <span class="unseen">Actions</span>
            </th>
          </tr>
        </thead>
        <tbody>
          {shown.map((each) => (
            <Row key={each.id} of={each} now={now} teamName={teamName} ask={(asked) => ask(asked, each)} />
          ))}
        </tbody>
      </table>
      <Sum shown={shown} />
    </>
  );
}

interface RowParts {
  readonly of: BootstrapSummary;
  readonly now: number;
  teamName(id: number): string;
  ask(asked: Asked): void;
}

function Row({ of, now, teamName, ask }: RowParts) {
  const { name, projectId, owner, team, cost, state, forecast, problem, protection } = of;
  const isProtected = protection !== undefined && Date.parse(protection.until) > now;
  return (
    <tr class={state === 'removed' ? 'past' : undefined}>
      <th scope="row">
        <a href={`#/projects/${encodeURIComponent(of.id)}`}>{name}</a>
        <code>{projectId}</code>
      </th>
      <td data-title="State">
        <State state={state} />
        {forecast && state === 'running' && <small>ready in {aboutText(forecast)}</small>}
        {problem && <small>{problem.detail}</small>}
        {of.vmsStopped && <small>its VMs are stopped</small>}
      </td>
      <td data-title="Owner">
        {owner}
        {team !== undefined && <small>{teamName(team)}</small>}
      </td>
      <td data-title="Time">
        <TimeLeft of={of} now={now} />
        {isProtected && <small title={protection.reason}>protected: {protection.reason}</small>}
      </td>
      <td data-title="Cost so far" class="number">
        {money(cost.soFar, cost.currency)}
      </td>
      <td data-title="Cost until removal" class="number">
        {state === 'removed' ? '' : money(cost.untilExpiry, cost.currency)}
      </td>
      <td class="actions">
        {state !== 'removed' && of.removal === undefined && (
          <div class="verbs">
            {verbs.map(([verb, title]) => (
              <button key={verb} type="button" class="small" aria-label={`${title} ${name}`} onClick={() => ask(verb)}>
                {title}
              </button>
            ))}
          </div>
        )}
      </td>
    </tr>
  );
}

export function TimeLeft({ of, now }: { of: BootstrapSummary; now: number }) {
  const { text, share, soon } = leftOf(of, now);
  return (
    <span class={soon ? 'left soon' : 'left'} title={of.removal ? undefined : `removed at ${time(removeAtOf(of))}`}>
      {text}
      {share !== undefined && (
        <span class="bar" aria-hidden="true">
          <span style={{ width: `${share * 100}%` }} />
        </span>
      )}
    </span>
  );
}

function Sum({ shown }: { shown: readonly BootstrapSummary[] }) {
  const sum = (pick: (cost: BootstrapSummary['cost']) => number | undefined): number =>
    shown.reduce((total, { cost }) => total + (pick(cost) ?? 0), 0);
  const currency = shown[0]?.cost.currency ?? 'USD';
  const oldest = shown.map(({ cost }) => cost.pricesAsOf).sort()[0];
  const unknown = shown.filter(({ cost }) => cost.unknown.length > 0).length;
  return (
    <p class="dim sum">
      {plural(shown.length, 'project')},{' '}
      {money(
        sum(({ soFar }) => soFar),
        currency,
      )}{' '}
      so far,{' '}
      {money(
        sum(({ untilExpiry }) => untilExpiry),
        currency,
      )}{' '}
      until removal. These are estimates; their oldest price is of {oldest}.
      {unknown > 0 && ` Left out: ${plural(unknown, 'project')} whose price is not known.`}
    </p>
  );
}
