/**
 * What the guest of a VM asks OS Login at each login: the keys of whoever has a user name, and whether they may use sudo. Google
 * judges by the roles of that moment. Source: "Set up OS Login", Google's documentation.
 */
import type { Caller, World } from '../kernel/api.js';
import { accountsNamed, isInForce, isOutsider, organizationOf, profileOf } from './profiles.js';

/** The VM that asks. */
interface AskingVm {
  readonly projectId: string;
  /** E-mails. */
  readonly serviceAccounts?: readonly string[] | undefined;
}

export interface OsLoginUser {
  /** `<type> <base64> [comment]` */
  readonly keys: readonly string[];
  readonly mayLogIn: boolean;
  readonly mayUseSudo: boolean;
}

export function osLoginUser(world: World, vm: AskingVm, username: string): OsLoginUser {
  const found = accountsNamed(world, username).filter((account) => mayLogIn(world, vm, account));
  const project = `projects/${vm.projectId}`;
  return {
    keys: found.flatMap(({ email }) =>
      Object.values(profileOf(world, email).keys)
        .filter((key) => isInForce(world, key))
        .map(({ key }) => key),
    ),
    mayLogIn: found.length > 0,
    mayUseSudo: found.some((account) => world.policies.allows(account, 'compute.instances.osAdminLogin', project)),
  };
}

function mayLogIn(world: World, { projectId, serviceAccounts = [] }: AskingVm, account: Caller): boolean {
  const { policies } = world;
  if (!policies.allows(account, 'compute.instances.osLogin', `projects/${projectId}`)) return false;
  // Whoever is on a VM can act as its account.
  const actsAs = serviceAccounts.every((email) =>
    policies.allows(account, 'iam.serviceAccounts.actAs', `projects/${projectOf(email)}/serviceAccounts/${email}`),
  );
  if (!actsAs || !isOutsider(world, account, projectId)) return actsAs;
  const organization = organizationOf(world, projectId)?.name ?? '';
  return policies.allows(account, 'compute.oslogin.updateExternalUser', organization);
}

const projectOf = (email: string): string => email.split('@')[1]?.split('.')[0] ?? '';
