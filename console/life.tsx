/** What people ask of a project's life, each a question: more time, protection, sharing, removal. The words are those of the command line. */
import { useState } from 'preact/hooks';
import type { BootstrapSummary, BootstrapView } from '../shared/bootstrap/bootstrap.js';
import type { Team } from '../shared/organization/team.js';
import { call, path } from './calls.js';
import { useLive } from './live.js';
import { Loaded, Question } from './parts.js';
import { removeAtOf, time } from './words.js';

export type Asked = 'extend' | 'protect' | 'share' | 'remove';

interface LifeParts {
  readonly of: BootstrapSummary | BootstrapView;
  /** Something has changed. */
  done(): void;
  close(): void;
}

const word = (form: FormData, name: string): string => String(form.get(name) ?? '').trim();

function Extend({ of, done, close }: LifeParts) {
  return (
    <Question
      title={`Give ${of.name} more time`}
      verb="Extend"
      close={close}
      act={async (form) => {
        await call('bootstraps', 'POST', path`/bootstraps/${of.id}/extend`, { body: { ttl: word(form, 'ttl') } });
        done();
      }}
    >
      <p>It is removed at {time(removeAtOf(of))}. That is never moved to an earlier time.</p>
      <label>
        How long from now, such as 4h, 1h30m or 2d
        <input name="ttl" required autocomplete="off" spellcheck={false} defaultValue="4h" />
      </label>
    </Question>
  );
}

function Protect({ of, done, close }: LifeParts) {
  return (
    <Question
      title={`Keep ${of.name} from being removed`}
      verb="Protect"
      close={close}
      act={async (form) => {
        const body = { until: word(form, 'until'), reason: word(form, 'reason') };
        await call('bootstraps', 'POST', path`/bootstraps/${of.id}/protect`, { body });
        done();
      }}
    >
      <p>
        It is not removed before then, whatever its time to live. Who protected it and why is shown to all who see it.
      </p>
      <label>
        How long from now, such as 2d, or a time with its zone such as 2030-01-31T18:00:00Z
        <input name="until" required autocomplete="off" spellcheck={false} defaultValue="2d" />
      </label>
      <label>
        Why
        <input name="reason" required maxLength={200} autocomplete="off" />
      </label>
    </Question>
  );
}

/** With a person by e-mail, or with a team of the caller's. */
function Share({ of, done, close }: LifeParts) {
  const teams = useLive('teams', (signal) => call<Team[]>('api', 'GET', '/teams', { signal }));
  const [withTeam, setWithTeam] = useState(false);
  return (
    <Question
      title={`Share ${of.name}`}
      verb="Share"
      close={close}
      act={async (form) => {
        const [verb, body] = withTeam
          ? ['share-with-team', { team: Number(word(form, 'team')) }]
          : ['share', { with: word(form, 'with') }];
        await call('bootstraps', 'POST', `${path`/bootstraps/${of.id}/`}${verb}`, { body });
        done();
      }}
    >
      <p>
        They see it, may follow and extend it, and get a role of their own on its project. Its secrets stay with you.
      </p>
      {(teams.data?.length ?? 0) > 0 && (
        <label class="check">
          <input type="checkbox" checked={withTeam} onChange={(event) => setWithTeam(event.currentTarget.checked)} />
          With a team
        </label>
      )}
      {withTeam ? (
        <label>
          Team
          <select name="team">
            {teams.data?.map((team) => (
              <option key={team.teamId} value={team.teamId}>
                {team.name}
              </option>
            ))}
          </select>
        </label>
      ) : (
        <label>
          E-mail address
          <input name="with" type="email" required autocomplete="off" />
        </label>
      )}
    </Question>
  );
}

/** As much of a plan as is shown here. */
interface RemovalPlan {
  readonly hash: string;
  readonly items: readonly { readonly id: string; readonly what: readonly string[] }[];
}

/** As on the command line: what goes is listed, and only the exact name counts as yes. */
function Remove({ of, done, close }: LifeParts) {
  const [typed, setTyped] = useState('');
  const plan = useLive(`removal ${of.id}`, (signal) =>
    call<RemovalPlan>('bootstraps', 'GET', path`/bootstraps/${of.id}/removal`, { signal }),
  );
  return (
    <Question
      title={`Remove ${of.name}`}
      verb="Remove"
      danger
      ready={typed.trim() === of.name && plan.data !== undefined}
      close={close}
      act={async () => {
        // What was shown is what goes, or nothing does.
        await call('bootstraps', 'POST', `${path`/bootstraps/${of.id}/remove`}?plan=${plan.data?.hash}`);
        done();
      }}
    >
      <p>
        This removes {of.name} (<code>{of.projectId}</code>) of {of.owner}, now:
      </p>
      <Loaded live={plan}>
        {({ items }) => (
          // biome-ignore lint/a11y/noNoninteractiveTabindex: a keyboard must be able to scroll it
          <ul class="goes" tabIndex={0} aria-label="What goes">
            {items.flatMap((item) => item.what.map((what) => <li key={`${item.id} ${what}`}>{what}</li>))}
          </ul>
        )}
      </Loaded>
      <label>
        Type the name of the project to remove it: <b class="typed">{of.name}</b>
        <input
          name="typed"
          value={typed}
          onInput={(event) => setTyped(event.currentTarget.value)}
          autocomplete="off"
          spellcheck={false}
        />
      </label>
    </Question>
  );
}

const questions = { extend: Extend, protect: Protect, share: Share, remove: Remove };

export function LifeQuestion({ asked, ...parts }: LifeParts & { asked: Asked }) {
  const Shown = questions[asked];
  return <Shown {...parts} />;
}

export const verbs: readonly (readonly [Asked, string])[] = [
  ['extend', 'Extend'],
  ['protect', 'Protect'],
  ['share', 'Share'],
  ['remove', 'Remove'],
];
