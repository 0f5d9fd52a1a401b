/** Makes the router with its NAT, through which VMs without a public address reach the world. */
import { again } from '../../engine/step.js';
import { networkNames } from '../topology.js';
import { follow } from './following.js';
import { network } from './network.js';
import { RouterOutput } from './outputs.js';
import { areSettled } from './settled.js';
import { defineProjectStep } from './settling.js';

const natOf = (name: string) => ({
  name,
  natIpAllocateOption: 'AUTO_ONLY',
  sourceSubnetworkIpRangesToNat: 'ALL_SUBNETWORKS_ALL_IP_RANGES',
});

type Nat = Partial<ReturnType<typeof natOf>>;
const fits = (wanted: Nat, found: Nat): boolean =>
  found.name === wanted.name &&
  found.natIpAllocateOption === wanted.natIpAllocateOption &&
  found.sourceSubnetworkIpRangesToNat === wanted.sourceSubnetworkIpRangesToNat;

export const router = defineProjectStep({
  name: 'router',
  title: 'Router and NAT',
  lane: 'cloud',
  // It costs by the VMs that use it and by the addresses that Google allocates for them. Without VMs there are neither.
  prepares: 'kept',
  needs: { network },
  holds: ['region'],
  describe: ({ region }) => [`router <project>-router with NAT <project>-nat-gateway in ${region}`],
  output: RouterOutput,

  async observe({ context, bootstrap: { options, projectId } }) {
    const { compute } = context.cloud;
    const { region } = options;
    const names = networkNames(projectId, region);
    const found = await compute.router(projectId, region, names.router);
    if (!found?.nats?.some((nat) => fits(natOf(names.nat), nat))) return undefined;
    if (!(await areSettled(compute, projectId, { region }, found))) return undefined;
    return { router: names.router, nat: names.nat };
  },

  async run({ context, bootstrap: { options, projectId }, needs, requestId }) {
    const { compute } = context.cloud;
    const { region } = options;
    const names = networkNames(projectId, region);
    const wanted = natOf(names.nat);
    const found = await compute.router(projectId, region, names.router);
    const note = 'the router is being made';
    if (found === undefined) {
      const resource = { name: names.router, network: needs.network.selfLink, nats: [wanted] };
      return follow(await compute.createRouter(projectId, region, resource, requestId('insert')), note, 6);
    }
    const standing = found.nats ?? [];
    if (standing.some((nat) => fits(wanted, nat))) return again(1, note);
    // A patch replaces the whole list, so send the NATs of others too.
    const nats = [...standing.filter(({ name }) => name !== names.nat), wanted];
    const id = requestId(`patch ${JSON.stringify(nats)}`);
    return follow(await compute.patchRouter(projectId, region, names.router, { nats }, id), note);
  },
  goes: 'project',
});
