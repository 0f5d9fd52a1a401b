/** Enables the project's APIs in one batch. */
import { servicesOf } from '../topology.js';
import { billing } from './billing.js';
import { follow, resume } from './following.js';
import { ApisOutput } from './outputs.js';
import { project } from './project.js';
import { defineProjectStep } from './settling.js';

export const apis = defineProjectStep({
  name: 'apis',
  title: 'APIs',
  lane: 'cloud',
  needs: { project, billing },
  describe: (options, _key, machineAccess) => servicesOf(options, machineAccess).map((service) => `API ${service}`),
  output: ApisOutput,

  async observe({ context, bootstrap }) {
    const wanted = servicesOf(bootstrap.options, bootstrap.machineAccess);
    const enabled = await context.cloud.services.enabled(bootstrap.projectId, wanted);
    return enabled.length === wanted.length ? { services: enabled } : undefined;
  },

  async run({ context, bootstrap, files }) {
    const { services } = context.cloud;
    const wanted = servicesOf(bootstrap.options, bootstrap.machineAccess);
    const begin = () => services.enable(bootstrap.projectId, wanted);
    const begun = await resume(files, `operation-apis-${wanted.length}`, begin, services.operation);
    // The step has to wait anyway, and the next steps need this client.
    await context.cloud.compute.load();
    return follow(begun, 'APIs are being enabled', 2);
  },
  goes: 'project',
  summary: ({ services }) => `${services.length} enabled`,
});
