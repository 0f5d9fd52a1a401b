/** Makes the one subnet for all VMs of both datacenters. */
import { subnetRange } from '../../../shared/bootstrap/network-ranges.js';
import { Problem } from '../../../shared/problems.js';
import { again } from '../../engine/step.js';
import { networkNames } from '../topology.js';
import { follow } from './following.js';
import { network } from './network.js';
import { ResourceOutput } from './outputs.js';
import { areSettled } from './settled.js';
import { defineProjectStep } from './settling.js';

const note = 'the subnet is being made';

export const subnet = defineProjectStep({
  name: 'subnet',
  title: 'Subnet',
  lane: 'cloud',
  prepares: 'kept',
  needs: { network },
  holds: ['region'],
  describe: ({ region }) => [`subnet <project>-${region}-subnet, ${subnetRange} in ${region}`],
  output: ResourceOutput,

  async observe({ context, bootstrap: { options, projectId } }) {
    const { compute } = context.cloud;
    const { region } = options;
    const found = await compute.subnetwork(projectId, region, networkNames(projectId, region).subnet);
    if (found === undefined || found.ipCidrRange !== subnetRange) return undefined;
    return (await areSettled(compute, projectId, { region }, found)) ? { selfLink: found.selfLink } : undefined;
  },

  async run({ context, bootstrap: { options, projectId }, needs, requestId }) {
    const { compute } = context.cloud;
    const { region } = options;
    const name = networkNames(projectId, region).subnet;
    const found = await compute.subnetwork(projectId, region, name);
    if (found === undefined) {
      const resource = { name, network: needs.network.selfLink, ipCidrRange: subnetRange };
      return follow(await compute.createSubnetwork(projectId, region, resource, requestId('insert')), note, 6);
    }
    if (found.ipCidrRange === subnetRange) return again(1, note);
    throw new Problem(
      'cloud-conflict',
      `The subnet ${name} has the range ${found.ipCidrRange}, where ${subnetRange} is needed.`,
      {
        advice: 'Delete that subnet, then run the same command again.',
      },
    );
  },
  goes: 'project',
});
