/** Lets the nodes change the zone of their own project. In a zone of another project they may do what the deployment says. */
import type { BootstrapOptions } from '../../../shared/bootstrap/options.js';
import { Problem } from '../../../shared/problems.js';
import { defineStep, done, doneWith, type Outcome, type StepCall } from '../../engine/step.js';
import { accountEmail, accountIds, dnsProjectOf } from '../topology.js';
import { cloudController } from './cloud-controller.js';
import { undoOfOrphan } from './orphan-names.js';
import { RolesOutput } from './outputs.js';
import { settling } from './settling.js';
import { inDnsProject, undoInDnsProject, zone } from './zone.js';

const ownRole = 'roles/dns.admin';

/**
 * `roles/dns.admin` may delete everybody's names in a zone. So in a zone of another project the nodes get the role that the
 * deployment names for it, or none. A zone of a domain above is shared: there they get none.
 */
function roleOf({ context, bootstrap, needs: { zone } }: Call): string | undefined {
  if (zone.project === bootstrap.projectId) return ownRole;
  return zone.dnsName === `${bootstrap.options.baseDomain}.` ? context.config.nodesZoneRole : undefined;
}

function grantsOf(call: Call): { member: string; role: string }[] {
  const role = roleOf(call);
  return role === undefined ? [] : [{ member: `serviceAccount:${call.needs.cloudController.email}`, role }];
}

const needs = { zone, cloudController } as const;
type Call = StepCall<typeof needs, undefined>;

export const zoneRole = defineStep({
  name: 'zone-role',
  title: 'Role on the DNS zone',
  lane: 'cloud',
  needs,
  describe: ({ dnsZoneName, dnsProjectId }) => [
    dnsProjectId === undefined
      ? `${ownRole} for ${accountIds.cloudController} on the DNS zone ${dnsZoneName} alone`
      : `${ownRole} for ${accountIds.cloudController} on a DNS zone of its own alone; in ${dnsProjectId} what the deployment allows`,
  ],
  output: RolesOutput,

  observe: (call) =>
    inDnsProject(call, async () => {
      const { project, zone } = call.needs.zone;
      const grants = grantsOf(call);
      const resource = `projects/${project}/managedZones/${zone}`;
      if (grants.length === 0) return { resource, grants };
      const missing = await call.context.cloud.dns.policy(project, zone).missing(grants);
      return missing.length === 0 ? { resource, grants } : undefined;
    }),

  run: (call) =>
    inDnsProject(call, async () => {
      const { project, zone } = call.needs.zone;
      try {
        await call.context.cloud.dns.policy(project, zone).grant(grantsOf(call), call.signal);
      } catch (error) {
        // DNS may not know the new account yet. Any other refusal of the zone's project is final.
        if (error instanceof Problem && error.code === 'cloud-input') await settling(Promise.reject(error));
        throw error;
      }
      return done;
    }),

  goes: 'undo',
  removes: ({ projectId, options }) => [
    `role of ${accountEmail(accountIds.cloudController, projectId)} on the zone ${options.dnsZoneName} of ${dnsProjectOf(options, projectId)}`,
  ],
  undo: (call) =>
    call.bootstrap.orphan === undefined
      ? undoInDnsProject(call, `the role of its service account, if it was given`, () =>
          revoke(call, call.bootstrap.options),
        )
      : undoOfOrphan(call, (options) => revoke(call, options)),
});

async function revoke(
  { context, bootstrap: { projectId }, signal }: Pick<StepCall, 'context' | 'bootstrap' | 'signal'>,
  options: BootstrapOptions,
): Promise<Outcome> {
  const { dns } = context.cloud;
  const member = `serviceAccount:${accountEmail(accountIds.cloudController, projectId)}`;
  const roles = [ownRole, ...(context.config.nodesZoneRole === undefined ? [] : [context.config.nodesZoneRole])];
  const project = dnsProjectOf(options, projectId);
  if ((await dns.zone(project, options.dnsZoneName)) === undefined) return doneWith('the zone is not there');
  await dns.policy(project, options.dnsZoneName).revoke(
    roles.map((role) => ({ member, role })),
    signal,
  );
  return done;
}
