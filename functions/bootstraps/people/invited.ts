/** What those whom a bootstrap is shared with get on its project, in words. Pure. */
import type { BootstrapView } from '../../../shared/bootstrap/bootstrap.js';
import { invitedMay, invitedRole } from '../../../shared/bootstrap/invited.js';
import type { SharedView } from '../../../shared/bootstrap/routes.js';
import { tunnelRole } from '../../../shared/iap.js';
import { adminLoginRole } from '../../steps/cloud/login-roles.js';
import { domainConstraint } from '../../steps/cloud/policy-table.js';

export function invitedBy({ projectId, machineAccess, result }: BootstrapView): NonNullable<SharedView['invited']> {
  const domains = result.policies?.findings.find(
    ({ constraint, state }) => constraint === domainConstraint && state === 'later',
  );
  return {
    role: invitedRole(projectId),
    also: [
      ...(machineAccess === 'iap' ? [tunnelRole] : []),
      ...(result.machineLogin === 'os-login' ? [adminLoginRole] : []),
    ],
    may: [...invitedMay],
    ...(domains === undefined
      ? {}
      : {
          limitedBy: `Google gives roles here to people of certain organizations alone, by the policy ${domainConstraint}: ${domains.value}. If it refuses theirs, status says so.`,
        }),
  };
}
