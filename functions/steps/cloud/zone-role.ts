/** Lets the nodes change the one DNS zone, and nothing else in its project. */
import type { BootstrapOptions } from '../../../shared/bootstrap/options.js';
import { Problem } from '../../../shared/problems.js';
import { defineStep, done, doneWith, type Outcome, type StepCall } from '../../engine/step.js';
import { accountEmail, accountIds, dnsProjectOf } from '../topology.js';
import { cloudController } from './cloud-controller.js';
import { undoOfOrphan } from './orphan-names.js';
import { RolesOutput } from './outputs.js';
import { settling } from './settling.js';
import { inDnsProject, undoInDnsProject, zone } from './zone.js';

const role = 'roles/dns.admin';
const grantsOf = (email: string) => [{ member: `serviceAccount:${email}`, role }];

export const zoneRole = defineStep({
  name: 'zone-role',
  title: 'Role on the DNS zone',
  lane: 'cloud',
  needs: { zone, cloudController },
  describe: ({ dnsZoneName }) => [`${role} for ${accountIds.cloudController} on the DNS zone ${dnsZoneName} alone`],
  output: RolesOutput,

  observe: (call) =>
    inDnsProject(call, async () => {
      const { project, zone } = call.needs.zone;
      const grants = grantsOf(call.needs.cloudController.email);
      const missing = await call.context.cloud.dns.policy(project, zone).missing(grants);
      const resource = `projects/${project}/managedZones/${zone}`;
      return missing.length === 0 ? { resource, grants } : undefined;
    }),

  run: (call) =>
    inDnsProject(call, async () => {
      const { project, zone } = call.needs.zone;
      try {
        await call.context.cloud.dns
          .policy(project, zone)
          .grant(grantsOf(call.needs.cloudController.email), call.signal);
      } catch (error) {
        // DNS may not know the new account yet. Any other refusal of the zone's project is final.
        if (error instanceof Problem && error.code === 'cloud-input') await settling(Promise.reject(error));
        throw error;
      }
      return done;
    }),

  goes: 'undo',
  undo: (call) =>
    call.bootstrap.orphan === undefined
      ? undoInDnsProject(call, `${role} of its service account, if it was given`, () =>
          revoke(call, call.bootstrap.options),
        )
      : undoOfOrphan(call, (options) => revoke(call, options)),
});

async function revoke(
  { context, bootstrap: { projectId }, signal }: Pick<StepCall, 'context' | 'bootstrap' | 'signal'>,
  options: BootstrapOptions,
): Promise<Outcome> {
  const { dns } = context.cloud;
  const grants = grantsOf(accountEmail(accountIds.cloudController, projectId));
  const project = dnsProjectOf(options, projectId);
  if ((await dns.zone(project, options.dnsZoneName)) === undefined) return doneWith('the zone is not there');
  await dns.policy(project, options.dnsZoneName).revoke(grants, signal);
  return done;
}
