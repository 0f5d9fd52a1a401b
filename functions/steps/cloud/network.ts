/** Makes the VPC of the bootstrap. */
import { Problem } from '../../../shared/problems.js';
import { networkNames } from '../topology.js';
import { apis } from './apis.js';
import { follow } from './following.js';
import { ResourceOutput } from './outputs.js';
import { quota } from './quota.js';
import { areSettled } from './settled.js';
import { defineProjectStep } from './settling.js';

export const network = defineProjectStep({
  name: 'network',
  title: 'Network',
  lane: 'cloud',
  prepares: 'kept',
  needs: { apis, quota },
  describe: () => ['VPC <project>-vpc, custom mode'],
  output: ResourceOutput,

  async observe({ context, bootstrap: { options, projectId } }) {
    const { compute } = context.cloud;
    const found = await compute.network(projectId, networkNames(projectId, options.region).network);
    if (found === undefined || found.autoCreateSubnetworks === true) return undefined;
    return (await areSettled(compute, projectId, 'global', found)) ? { selfLink: found.selfLink } : undefined;
  },

  async run({ context, bootstrap: { options, projectId }, requestId }) {
    const { compute } = context.cloud;
    const name = networkNames(projectId, options.region).network;
    const found = await compute.network(projectId, name);
    if (found?.autoCreateSubnetworks === true) {
      throw new Problem(
        'cloud-conflict',
        `The network ${name} exists in automatic mode, where custom mode is needed.`,
        {
          advice: 'Delete that network, then run the same command again.',
        },
      );
    }
    if (found !== undefined) return making;
    const resource = { name, autoCreateSubnetworks: false, routingConfig: { routingMode: 'REGIONAL' } };
    return follow(await compute.createNetwork(projectId, resource, requestId('insert')), making.note, 6);
  },
  goes: 'project',
});

const making = { kind: 'again', seconds: 1, note: 'the network is being made' } as const;
