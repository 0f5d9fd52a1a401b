/** Reserves one public address: a datacenter's gateway, public gateway or SSH proxy. */
import { again } from '../../engine/step.js';
import { addresses } from '../topology.js';
import { apis } from './apis.js';
import { follow } from './following.js';
import { madeAt } from './made-at.js';
import { AddressOutput } from './outputs.js';
import { quota } from './quota.js';
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

  async observe({ context, bootstrap: { options, projectId }, key }) {
    const found = await context.cloud.compute.address(projectId, options.region, key);
    if (found?.address === undefined || found.address === '') return undefined;
    if (!['RESERVED', 'IN_USE'].includes(found.status ?? '')) return undefined;
    return { name: key, address: found.address, ...madeAt(found) };
  },

  async run({ context, bootstrap: { options, projectId }, key, requestId }) {
    const { compute } = context.cloud;
    const { region } = options;
    if ((await compute.address(projectId, region, key)) !== undefined) return again(1, note);
    const resource = { name: key, addressType: 'EXTERNAL' };
    return follow(await compute.createAddress(projectId, region, resource, requestId('insert')), note, 4);
  },
  goes: 'project',
  summary: ({ name, address }) => `${name} ${address}`,
});
