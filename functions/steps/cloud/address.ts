/**
 * Reserves one address: a datacenter's gateway, public gateway or SSH proxy. It is public, or one of the subnet where load
 * balancers are internal.
 */
import { Problem } from '../../../shared/problems.js';
import { again, type StepCall } from '../../engine/step.js';
import { addresses, networkNames } from '../topology.js';
import { apis } from './apis.js';
import { follow } from './following.js';
import { madeAt } from './made-at.js';
import { AddressOutput } from './outputs.js';
import { quota } from './quota.js';
import { areSettled } from './settled.js';
import { defineProjectStep } from './settling.js';

const note = 'the address is being reserved';

export const address = defineProjectStep({
  name: 'address',
  title: 'Address',
  lane: 'cloud',
  needs: { apis, quota },
  holds: ['region'],
  each: addresses,
  describe: ({ region }, key) => [`static address ${key} in ${region}`],
  output: AddressOutput,

  async observe({ context, bootstrap, key }) {
    const { options, projectId } = bootstrap;
    const found = await context.cloud.compute.address(projectId, options.region, key);
    if (found?.address === undefined || found.address === '') return undefined;
    if ((found.addressType ?? 'EXTERNAL') !== typeOf(bootstrap)) return undefined;
    if (!['RESERVED', 'IN_USE'].includes(found.status ?? '')) return undefined;
    return { name: key, address: found.address, ...madeAt(found) };
  },

  async run({ context, bootstrap, key, requestId }) {
    const { compute } = context.cloud;
    const { projectId } = bootstrap;
    const { region } = bootstrap.options;
    const addressType = typeOf(bootstrap);
    const found = await compute.address(projectId, region, key);
    if (found !== undefined && (found.addressType ?? 'EXTERNAL') !== addressType) throw otherType(key, addressType);
    if (found !== undefined) return again(1, note);
    if (addressType === 'EXTERNAL') {
      return follow(
        await compute.createAddress(projectId, region, { name: key, addressType }, requestId('insert')),
        note,
        4,
      );
    }
    // No need of this step, as external addresses have no subnet to wait for.
    const subnet = await compute.subnetwork(projectId, region, networkNames(projectId, region).subnet);
    if (subnet === undefined || !(await areSettled(compute, projectId, { region }, subnet))) {
      return again(3, 'the address waits for its subnet');
    }
    const resource = { name: key, addressType, subnetwork: subnet.selfLink };
    return follow(await compute.createAddress(projectId, region, resource, requestId('insert')), note, 4);
  },

  async unfinished({ context, bootstrap: { options, projectId }, key }) {
    const found = await context.cloud.compute.address(projectId, options.region, key);
    return found === undefined ? undefined : madeAt(found);
  },

  goes: 'project',
  summary: ({ name, address }) => `${name} ${address}`,
});

const typeOf = ({ loadBalancers }: StepCall['bootstrap']) => (loadBalancers === 'internal' ? 'INTERNAL' : 'EXTERNAL');

const otherType = (name: string, wanted: string): Problem =>
  new Problem('cloud-conflict', `Somebody reserved the address ${name}, and it is not ${wanted.toLowerCase()}.`, {
    advice: 'Delete that address, then run the same command again.',
  });
