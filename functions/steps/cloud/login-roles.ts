/**
 * The roles that OS Login asks for. Source: "Assign OS Login IAM roles", Google's documentation: whoever logs in to a VM that
 * runs as a service account must be allowed to act as it.
 */
import type { StepCall } from '../../engine/step.js';

/** Login with sudo. */
export const adminLoginRole = 'roles/compute.osAdminLogin';
/** What that role holds of its own. */
export const adminLoginPermissions = ['compute.instances.osLogin', 'compute.instances.osAdminLogin'];
const actAsRole = 'roles/iam.serviceAccountUser';

interface Call extends Pick<StepCall, 'context' | 'bootstrap' | 'signal'> {
  readonly needs: {
    readonly cloudController: { readonly email: string };
    readonly registryWriter: { readonly email: string } | undefined;
  };
}

/** The policies of the accounts that VMs run as. On the project, the role would give other accounts, too. */
export function accountPolicies({ context, bootstrap, needs, signal }: Call) {
  const { cloudController, registryWriter } = needs;
  const policies = [cloudController, registryWriter].flatMap((account) =>
    account === undefined ? [] : [context.cloud.iam.policy(bootstrap.projectId, account.email)],
  );
  const grantsFor = (members: readonly string[]) => members.map((member) => ({ member, role: actAsRole }));
  const missing = async (members: readonly string[]): Promise<number[]> =>
    Promise.all(policies.map(async (policy) => (await policy.missing(grantsFor(members))).length));
  return {
    areAllowed: async (members: readonly string[]): Promise<boolean> =>
      (await missing(members)).every((count) => count === 0),
    areForbidden: async (members: readonly string[]): Promise<boolean> =>
      (await missing(members)).every((count) => count === members.length),
    async allow(members: readonly string[]): Promise<void> {
      for (const policy of policies) await policy.grant(grantsFor(members), signal);
    },
    async forbid(members: readonly string[]): Promise<void> {
      for (const policy of policies) await policy.revoke(grantsFor(members), signal);
    },
  };
}
