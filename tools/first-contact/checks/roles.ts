/** Whether Google's roles hold what our data says. */
import { permissionIsKnown, permissionsOfPredefined } from '../../../local/cloud/iam/predefined-roles.js';
import { functionGrants } from '../../../local/stack/deployment.js';
import { type Bench, type Check, differs, held, heldIf } from '../check.js';
import { Untried } from '../untried.js';

/** Those of the functions, of nodes and jumpbox, and of callers. Owner and editor are left out: they change each week. */
const roles = [
  ...new Set([
    ...functionGrants.map(({ role }) => role).filter((role) => role.startsWith('roles/')),
    'roles/artifactregistry.reader',
    'roles/artifactregistry.writer',
    'roles/dns.admin',
    'roles/compute.loadBalancerAdmin',
    'roles/compute.osAdminLogin',
    'roles/iap.tunnelResourceAccessor',
    'roles/iam.serviceAccountTokenCreator',
    'roles/orgpolicy.policyViewer',
  ]),
].sort();

async function permissionsOf({ ask }: Bench, role: string): Promise<ReadonlySet<string>> {
  const { status, body, message } = await ask('iam', `GET /v1/${role}`);
  if (status !== 200) throw new Untried(`${role}: ${status} ${message}`);
  return new Set((body['includedPermissions'] ?? []) as string[]);
}

/** What one has and the other lacks. Services that the data leaves out don't count. */
function compared(real: ReadonlySet<string>, data: ReadonlySet<string>): string[] {
  return [
    ...[...data].filter((each) => !real.has(each)).map((each) => `lacks ${each}`),
    ...[...real]
      .filter((each) => !data.has(each) && permissionIsKnown(each) !== 'unknown')
      .map((each) => `has ${each}`),
  ];
}

const without = (id: string, role: string, what: RegExp, believes: string): Check => ({
  id,
  believes,
  source: 'data',
  async run(bench) {
    const found = [...(await permissionsOf(bench, role))].filter((permission) => what.test(permission));
    return heldIf(found.length === 0, found.length === 0 ? 'none' : found.join(', '));
  },
});

export const roleChecks: readonly Check[] = [
  {
    id: 'roles.data',
    believes: `The ${roles.length} predefined roles that plinth uses hold the permissions that the simulated cloud gives them.`,
    source: 'data',
    async run(bench) {
      const found: string[] = [];
      for (const role of roles) {
        const data = permissionsOfPredefined(role);
        if (data === undefined) continue;
        const differences = compared(await permissionsOf(bench, role), data);
        if (differences.length > 0) found.push(`${role} ${differences.slice(0, 5).join(', ')}`);
      }
      return found.length === 0 ? held(`${roles.length} roles are equal`) : differs(found.join('; '));
    },
  },
  without('roles.dns-admin', 'roles/dns.admin', /setIamPolicy$/, 'roles/dns.admin cannot write the policy of a zone.'),
  without(
    'roles.load-balancer-admin',
    'roles/compute.loadBalancerAdmin',
    /^compute\.firewalls\./,
    'roles/compute.loadBalancerAdmin holds nothing of firewall rules.',
  ),
];
