/** IAM policies: bindings read, changed and written with their etag, conditions kept. Used by every service that has policies. */
import { Problem } from '../../shared/problems.js';

export interface Binding {
  readonly role: string;
  readonly members: readonly string[];
  readonly condition?: unknown;
}

export interface Policy {
  readonly version?: number;
  readonly etag?: string;
  readonly bindings?: readonly Binding[];
}

/** Without it conditions are dropped from the answer, and would then be dropped from the policy. */
export const policyVersion = 3;

export interface PolicyDoor {
  read(): Promise<Policy>;
  write(policy: Policy): Promise<Policy>;
}

/** Which of the roles the member holds without a condition. */
export const rolesHeld = (policy: Policy, member: string, roles: readonly string[]): readonly string[] =>
  roles.filter((role) =>
    (policy.bindings ?? []).some((each) => each.role === role && !each.condition && each.members.includes(member)),
  );

export function withMember(policy: Policy, member: string, roles: readonly string[]): Policy {
  const held = rolesHeld(policy, member, roles);
  const missing = roles.filter((role) => !held.includes(role));
  if (missing.length === 0) return policy;
  const bindings = (policy.bindings ?? []).map((each) =>
    missing.includes(each.role) && !each.condition ? { ...each, members: [...each.members, member] } : each,
  );
  const added = missing
    .filter((role) => !bindings.some((each) => each.role === role && !each.condition))
    .map((role) => ({ role, members: [member] }));
  return { ...policy, version: policyVersion, bindings: [...bindings, ...added] };
}

export function withoutMember(policy: Policy, member: string, roles: readonly string[]): Policy {
  if (rolesHeld(policy, member, roles).length === 0) return policy;
  const bindings = (policy.bindings ?? []).map((each) =>
    roles.includes(each.role) && !each.condition
      ? { ...each, members: each.members.filter((other) => other !== member) }
      : each,
  );
  return { ...policy, version: policyVersion, bindings: bindings.filter(({ members }) => members.length > 0) };
}

const races = 5;

/** Changes a policy, if `edit` gives another one; when somebody else was faster (409 ABORTED), reads it again, a few times. */
export async function editPolicy(door: PolicyDoor, edit: (policy: Policy) => Policy): Promise<void> {
  for (let race = 1; ; race++) {
    const policy = await door.read();
    const edited = edit(policy);
    if (edited === policy) return;
    try {
      await door.write(edited);
      return;
    } catch (error) {
      const lost = error instanceof Problem && error.members?.['cloudStatus'] === 'ABORTED';
      if (!lost || race === races) throw error;
    }
  }
}
