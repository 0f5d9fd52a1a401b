/** The members of an organization or a team: who they are, what role they have, adding and removing them. */
import { useState } from 'preact/hooks';
import type { Member, Role } from '../shared/organization/organization.js';
import { call, path, Refusal } from './calls.js';
import type { Live } from './live.js';
import { Loaded, Problem, Question } from './parts.js';

interface MembersParts {
  /** Path of the organization or team. */
  readonly of: string;
  readonly live: Live<Member[]>;
  /** The caller is an admin. */
  readonly admin: boolean;
  /** Removing with `force` also takes them out of its teams. */
  readonly hasTeams: boolean;
}

export function Members({ of, live, admin, hasTeams }: MembersParts) {
  const [leaving, setLeaving] = useState<Member>();
  const [adding, setAdding] = useState(false);
  const [refusal, setRefusal] = useState<Refusal>();
  const setRole = async ({ email }: Member, role: Role): Promise<void> => {
    setRefusal(undefined);
    try {
      await call('api', 'PUT', `${of}${path`/members/${email}/role`}`, { body: { role } });
    } catch (error) {
      if (error instanceof Refusal) setRefusal(error);
    }
    live.again();
  };
  return (
    <section>
      <div class="head">
        <h2>Members</h2>
        {admin && (
          <div class="verbs">
            <button type="button" onClick={() => setAdding(true)}>
              Add a member
            </button>
          </div>
        )}
      </div>
      {refusal && <Problem refusal={refusal} />}
      <Loaded live={live}>
        {(members) => (
          <ul class="list">
            {members.map((member) => (
              <li key={member.email}>
                <span class="grow">{member.email}</span>
                {admin ? (
                  <>
                    <select
                      aria-label={`Role of ${member.email}`}
                      value={member.role}
                      onChange={(event) => void setRole(member, event.currentTarget.value as Role)}
                    >
                      <option value="member">member</option>
                      <option value="admin">admin</option>
                    </select>
                    <button
                      type="button"
                      class="small"
                      aria-label={`Remove ${member.email}`}
                      onClick={() => setLeaving(member)}
                    >
                      Remove
                    </button>
                  </>
                ) : (
                  <span class="dim">{member.role}</span>
                )}
              </li>
            ))}
          </ul>
        )}
      </Loaded>
      {adding && <Add of={of} done={live.again} close={() => setAdding(false)} />}
      {leaving && (
        <RemoveMember
          of={of}
          member={leaving}
          hasTeams={hasTeams}
          done={live.again}
          close={() => setLeaving(undefined)}
        />
      )}
    </section>
  );
}

interface ChangeParts {
  readonly of: string;
  done(): void;
  close(): void;
}

const RoleChoice = () => (
  <label>
    Role
    <select name="role">
      <option value="member">member</option>
      <option value="admin">admin</option>
    </select>
  </label>
);

function Add({ of, done, close }: ChangeParts) {
  return (
    <Question
      title="Add a member"
      verb="Add"
      close={close}
      act={async (form) => {
        const body = { email: String(form.get('email')), role: String(form.get('role')) };
        await call('api', 'POST', `${of}/members`, { body });
        done();
      }}
    >
      <label>
        E-mail address
        <input name="email" type="email" required autocomplete="off" />
      </label>
      <RoleChoice />
    </Question>
  );
}

function RemoveMember({ of, member, hasTeams, done, close }: ChangeParts & { member: Member; hasTeams: boolean }) {
  const [force, setForce] = useState(false);
  return (
    <Question
      title={`Remove ${member.email}`}
      verb="Remove"
      danger
      close={close}
      act={async () => {
        await call('api', 'DELETE', `${of}${path`/members/${member.email}`}${force ? '?force=true' : ''}`);
        done();
      }}
    >
      <p>They see nothing of it from then on.</p>
      {hasTeams && (
        <label class="check">
          <input type="checkbox" checked={force} onChange={(event) => setForce(event.currentTarget.checked)} />
          Also from its teams. Otherwise nothing is done while a team has them.
        </label>
      )}
    </Question>
  );
}

export function Invite({ of, done, close }: ChangeParts) {
  return (
    <Question
      title="Invite people"
      verb="Invite"
      close={close}
      act={async (form) => {
        const role = String(form.get('role'));
        const emails = String(form.get('emails'))
          .split(/[\s,;]+/)
          .filter((each) => each !== '');
        await call('api', 'POST', `${of}/invitations`, { body: { members: emails.map((email) => ({ email, role })) } });
        done();
      }}
    >
      <p>They become members when they accept, within 14 days. plinth sends no mail: tell them to look here.</p>
      <label>
        E-mail addresses, one a line
        <textarea name="emails" rows={3} required />
      </label>
      <RoleChoice />
    </Question>
  );
}
