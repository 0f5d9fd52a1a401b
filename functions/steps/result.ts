/** Builds the result of a bootstrap so far, for people, from the outputs of its instances. */
import type { ZodType } from 'zod';
import type { BootstrapResult } from '../../shared/bootstrap/bootstrap.js';
import type { BootstrapOptions } from '../../shared/bootstrap/options.js';
import { address } from './cloud/address.js';
import { machineLogin } from './cloud/machine-login.js';
import { policies } from './cloud/policies.js';
import { records } from './cloud/records.js';
import { repository } from './cloud/repository.js';
import { vm } from './cloud/vm.js';
import { zone } from './cloud/zone.js';
import { config } from './config/config.js';
import { hostKey } from './hosts/host-key.js';
import { install } from './install/install.js';
import { loadBalancers } from './install/load-balancers.js';
import { addressesOf, datacenterOf, datacenters, datacentersOf, vmsOf } from './topology.js';

/** `outputs` are those of finished instances, by instance (`vm:jumpbox`). A part is missing until its steps are done. */
export function resultOf(options: BootstrapOptions, outputs: Readonly<Record<string, unknown>>): BootstrapResult {
  const read = <O>(step: { readonly name: string; readonly output: ZodType<O> }, key?: string): O | undefined =>
    step.output.safeParse(outputs[key === undefined ? step.name : `${step.name}:${key}`]).data;
  const readEach = <O>(step: { readonly name: string; readonly output: ZodType<O> }, keys: readonly string[]): O[] =>
    keys.flatMap((key) => read(step, key) ?? []);

  const taken = readEach(loadBalancers, datacenters.keys(options)).flatMap((found) => found.taken);
  const dnsZone = read(zone);
  const registry = read(repository)?.server;
  const judged = outputs[policies.name] === undefined ? undefined : read(policies);
  const login = outputs[machineLogin.name] === undefined ? undefined : read(machineLogin);
  const [first = ''] = datacenters.keys(options);
  return {
    ...(judged === undefined ? {} : { policies: judged }),
    ...(login === undefined ? {} : { machineLogin: login.by }),
    vms: readEach(
      vm,
      vmsOf(options).map(({ name }) => name),
    ).map((found) => ({ ...found, ...read(hostKey, found.name) })),
    addresses: readEach(address, addressesOf(options)).map((found) => {
      const service = taken.find((each) => each.address === found.name)?.service;
      return { ...found, ...(service === undefined ? {} : { service }) };
    }),
    ...(dnsZone === undefined
      ? {}
      : {
          dns: {
            project: dnsZone.project,
            zone: dnsZone.zone,
            nameServers: dnsZone.nameServers,
            ...(dnsZone.parent === undefined ? {} : { parent: dnsZone.parent }),
            records: read(records)?.records ?? [],
          },
        }),
    ...(registry === undefined ? {} : { registry }),
    ...(read(install, first) === undefined
      ? {}
      : { platform: { url: `https://${datacenterOf(options, first).domains.platform}` } }),
    datacenters: datacentersOf(options).map(({ key, id, name }) => ({
      key,
      id,
      name,
      ready: read(config, key) !== undefined,
    })),
  };
}
