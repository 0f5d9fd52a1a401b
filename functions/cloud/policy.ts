/** Edits IAM policies: reads, adds and revokes grants with the etag, and keeps conditions. */
import { Problem } from '../../shared/problems.js';

/** A role of a member, without a condition. */
export interface Grant {
  readonly member: string;
  readonly role: string;
}

export interface Policy {
  readonly version?: number;
  readonly etag?: string;
  readonly bindings?: readonly {
    readonly role: string;
    readonly members: readonly string[];
    readonly condition?: unknown;
  }[];
}

/** Without it, Google leaves conditions out of the answer, and the next write would remove them from the policy. */
export const policyVersion = 3;

export interface PolicyDoor {
  read(): Promise<Policy>;
  write(policy: Policy): Promise<Policy>;
}

export const createPolicy = (door: PolicyDoor) => ({
  async missing(grants: readonly Grant[]): Promise<readonly Grant[]> {
    return missingIn(await door.read(), grants);
  },
  /** Writes nothing once `signal` is aborted, for example after a takeover of the lease. */
  grant: (grants: readonly Grant[], signal: AbortSignal) => edit(door, (policy) => withGrants(policy, grants), signal),
  revoke: (grants: readonly Grant[], signal: AbortSignal) =>
    edit(door, (policy) => withoutGrants(policy, grants), signal),
});

const isIn = (policy: Policy, { member, role }: Grant): boolean =>
  (policy.bindings ?? []).some((each) => each.role === role && !each.condition && each.members.includes(member));

const missingIn = (policy: Policy, grants: readonly Grant[]): readonly Grant[] =>
  grants.filter((grant) => !isIn(policy, grant));

/** Returns the same object if nothing is missing. */
export function withGrants(policy: Policy, grants: readonly Grant[]): Policy {
  const missing = missingIn(policy, grants);
  if (missing.length === 0) return policy;
  const bindings = [...(policy.bindings ?? [])];
  for (const { role, member } of missing) {
    const at = bindings.findIndex((each) => each.role === role && !each.condition);
    const members = [...(bindings[at]?.members ?? []), member];
    if (at === -1) bindings.push({ role, members });
    else bindings[at] = { role, members };
  }
  return { ...policy, version: policyVersion, bindings };
}

/** Returns the same object if none of the grants is there. */
export function withoutGrants(policy: Policy, grants: readonly Grant[]): Policy {
  if (!grants.some((grant) => isIn(policy, grant))) return policy;
  const bindings = (policy.bindings ?? []).map((each) =>
    each.condition
      ? each
      : {
          role: each.role,
          members: each.members.filter((member) => !grants.some((g) => g.role === each.role && g.member === member)),
        },
  );
  return { ...policy, version: policyVersion, bindings: bindings.filter(({ members }) => members.length > 0) };
}

const races = 5;

/** Writes only if `change` returns another policy. If somebody else was faster (409 ABORTED), reads again, a few times. */
async function edit(door: PolicyDoor, change: (policy: Policy) => Policy, signal: AbortSignal): Promise<void> {
  for (let race = 1; ; race++) {
    const policy = await door.read();
    const changed = change(policy);
    if (changed === policy) return;
    signal.throwIfAborted();
    try {
      await door.write(changed);
      return;
    } catch (error) {
      const lost = error instanceof Problem && error.members?.['cloudStatus'] === 'ABORTED';
      if (!lost || race === races) throw error;
    }
  }
}
