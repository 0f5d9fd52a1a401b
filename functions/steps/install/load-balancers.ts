/**
 * Gives the datacenter's reserved addresses to the platform's services of type LoadBalancer. The step tells the cluster's
 * cloud controller which address a service gets, and waits for it.
 */

import * as z from 'zod';
import { Problem } from '../../../shared/problems.js';
import { again, of, type StepCall, thisProject } from '../../engine/step.js';
import { address } from '../cloud/address.js';
import { projectRoles } from '../cloud/project-roles.js';
import { defineHostStep, hostNeeds, reach } from '../hosts/reach.js';
import { datacenterOf, datacenters } from '../topology.js';
import { install, installSecond } from './install.js';
import { controllerOf, installs } from './k0s.js';
import { k0sReady } from './k0s-ready.js';
import { applyObjects, getObjects } from './kubectl.js';

const needs = {
  ...hostNeeds((options, key) => [controllerOf(options, key)]),
  k0sReady,
  // These roles let the cloud controller use the addresses.
  projectRoles,
  addresses: of(address, (options, key) => Object.values(datacenterOf(options, key).addresses)),
  install: of(install, (options) => datacenters.keys(options).slice(0, 1)),
  installSecond: of(installSecond, (options, key) =>
    datacenters
      .keys(options)
      .slice(1)
      .filter((own) => own === key),
  ),
} as const;
type Call = StepCall<typeof needs, typeof datacenters>;

/** Packages label a service with it and one of these values: docs/use/packages.md. */
const label = 'plinth/address';
const labelOf = { gateway: 'gateway', publicGateway: 'public-gateway', sshProxy: 'ssh-proxy' } as const;
const kindsOfAddress = ['gateway', 'publicGateway', 'sshProxy'] as const;

export const loadBalancers = defineHostStep({
  name: 'load-balancers',
  title: 'Addresses of the platform',
  needs,
  when: installs,
  each: datacenters,
  describe: (options, key) =>
    Object.values(datacenterOf(options, key).addresses).map((name) => `address ${name} for the service that wants it`),
  output: z.object({
    taken: z.array(z.object({ address: z.string(), ip: z.string(), service: z.string() })),
    /** Names of addresses that no service of the package wants. */
    free: z.array(z.string()),
  }),
  async observe(call) {
    const found = await look(call);
    if (found.some(({ fault }) => fault !== undefined)) return undefined;
    if (found.some(({ service }) => service !== undefined && !service.hasIt)) return undefined;
    return {
      taken: found.flatMap(({ name, ip, service }) =>
        service === undefined ? [] : [{ address: name, ip, service: service.path }],
      ),
      free: found.flatMap(({ name, service }) => (service === undefined ? [name] : [])),
    };
  },
  async run(call) {
    const found = await look(call);
    const faults = found.flatMap(({ fault }) => fault ?? []);
    if (faults.length > 0) {
      throw new Problem('install-failed', faults.join(' '), {
        advice: 'Correct the package or its values, then run the same command again.',
      });
    }
    const waiting = found.flatMap(({ service, ip }) =>
      service === undefined || service.hasIt ? [] : [{ ...service, ip }],
    );
    const unasked = waiting.filter(({ asked, ip, isMarked }) => asked !== ip || (isInternal(call) && !isMarked));
    if (unasked.length > 0) {
      const wanted = unasked.map(({ namespace, name, ip }) => ({
        apiVersion: 'v1',
        kind: 'Service',
        metadata: { namespace, name, ...(isInternal(call) ? { annotations: internally } : {}) },
        spec: { loadBalancerIP: ip },
      }));
      await applyObjects(await reachController(call), 'the addresses of services', wanted);
    }
    const note = waiting
      .map(({ path, ip, has }) => `the service ${path} is to have ${ip} and has ${has.join(', ') || 'no address'}`)
      .join('; ');
    if (waiting.length === 0 || unasked.length > 0) return again(2, note);
    throw new Problem('cloud-propagation', `${note.charAt(0).toUpperCase()}${note.slice(1)}.`, {
      advice: `Ask Kubernetes why (plinth beta bootstrap-cloud ssh ${thisProject} ${controllerOf(call.bootstrap.options, call.key)} -- k0s kubectl describe services --all-namespaces): its cloud controller gives the addresses. Then run the same command again.`,
    });
  },
  summary: ({ taken, free }) =>
    [
      ...taken.map(({ address, ip, service }) => `${address} ${ip} is ${service}'s`),
      ...(free.length === 0 ? [] : [`no service of the package wants ${free.join(', ')}`]),
    ].join('; '),
});

/** By which Google's cloud controller makes an internal load balancer. */
const annotation = 'networking.gke.io/load-balancer-type';
const internally = { [annotation]: 'Internal' };

const isInternal = ({ bootstrap }: Pick<Call, 'bootstrap'>): boolean => bootstrap.loadBalancers === 'internal';

const reachController = (call: Call) => reach(call, controllerOf(call.bootstrap.options, call.key));

const Service = z.object({
  metadata: z.object({
    name: z.string(),
    namespace: z.string(),
    labels: z.record(z.string(), z.string()),
    annotations: z.record(z.string(), z.string()).optional(),
  }),
  spec: z.object({ type: z.string().optional(), loadBalancerIP: z.string().optional() }),
  status: z
    .object({
      loadBalancer: z.object({ ingress: z.array(z.object({ ip: z.string().optional() })).optional() }).optional(),
    })
    .optional(),
});
const Services = z.object({ items: z.array(Service) });

/** Each address of the datacenter with the service that wants it, or the reason why no service can have it. */
async function look(call: Call) {
  const { addresses } = datacenterOf(call.bootstrap.options, call.key);
  const words = `services --all-namespaces --selector ${label}`;
  const all = Services.parse((await getObjects(await reachController(call), 'the services', words)) ?? { items: [] });
  return kindsOfAddress.map((kind) => {
    const name = addresses[kind];
    const ip = call.needs.addresses[name]?.address ?? '';
    const labelled = all.items.filter(({ metadata }) => metadata.labels[label] === labelOf[kind]);
    return { name, ip, ...wishOf(labelled, `${label}=${labelOf[kind]}`, ip) };
  });
}

function wishOf(labelled: readonly z.infer<typeof Service>[], by: string, ip: string) {
  const pathOf = ({ metadata }: z.infer<typeof Service>) => `${metadata.namespace}/${metadata.name}`;
  const [first, ...others] = labelled;
  if (first === undefined) return {};
  if (others.length > 0) {
    return { fault: `Services ${labelled.map(pathOf).join(' and ')} all bear ${by}: one address is for one of them.` };
  }
  const { metadata, spec, status } = first;
  const path = pathOf(first);
  if (spec.type !== 'LoadBalancer') {
    return { fault: `The service ${path} bears ${by} and is of type ${spec.type ?? 'ClusterIP'}, not LoadBalancer.` };
  }
  const { name, namespace } = metadata;
  const has = (status?.loadBalancer?.ingress ?? []).flatMap((each) => each.ip ?? []);
  const asked = spec.loadBalancerIP;
  const isMarked = metadata.annotations?.[annotation] === 'Internal';
  return {
    service: { name, namespace, path, asked, isMarked, has, hasIt: asked === ip && has.length === 1 && has[0] === ip },
  };
}
