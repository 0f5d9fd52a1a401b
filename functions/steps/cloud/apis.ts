/** Enables the project's APIs in one batch. */
import type { StepCall } from '../../engine/step.js';
import { servicesOf } from '../topology.js';
import { billing } from './billing.js';
import { follow, resume } from './following.js';
import { machineLogin } from './machine-login.js';
import { ApisOutput } from './outputs.js';
import { project } from './project.js';
import { defineProjectStep } from './settling.js';

const needs = { project, billing, machineLogin } as const;

const wantedOf = ({
  bootstrap,
  needs: { machineLogin },
}: Pick<StepCall<typeof needs, undefined>, 'bootstrap' | 'needs'>) => [
  ...servicesOf(bootstrap.options, bootstrap.machineAccess),
  ...(machineLogin.by === 'os-login' ? ['oslogin.googleapis.com'] : []),
];

export const apis = defineProjectStep({
  name: 'apis',
  title: 'APIs',
  lane: 'cloud',
  prepares: 'kept',
  needs,
  describe: (options, _key, machineAccess) => servicesOf(options, machineAccess).map((service) => `API ${service}`),
  output: ApisOutput,

  async observe({ context, bootstrap, needs }) {
    const wanted = wantedOf({ bootstrap, needs });
    const enabled = await context.cloud.services.enabled(bootstrap.projectId, wanted);
    return enabled.length === wanted.length ? { services: enabled } : undefined;
  },

  async run({ context, bootstrap, files, needs }) {
    const { services } = context.cloud;
    const wanted = wantedOf({ bootstrap, needs });
    const begin = () => services.enable(bootstrap.projectId, wanted);
    const begun = await resume(files, `operation-apis-${wanted.length}`, begin, services.operation);
    // The step has to wait anyway, and the next steps need this client.
    await context.cloud.compute.load();
    return follow(begun, 'APIs are being enabled', 2);
  },
  goes: 'project',
  summary: ({ services }) => `${services.length} enabled`,
});
