/** Builds the request for a VM from options and the outputs of its needs. Pure. */

import type { MachineLogin, VmView } from '../../../shared/bootstrap/bootstrap.js';
import type { BootstrapOptions } from '../../../shared/bootstrap/options.js';
import type { StepCall } from '../../engine/step.js';
import { isPublic, vmSpec } from '../topology.js';
import { sshKeysOf, startupScriptOf } from './vm-metadata.js';

export type Kind = 'standard' | 'spot' | 'preemptible';

interface Call extends Pick<StepCall, 'bootstrap' | 'key'> {
  readonly context: { readonly config: Pick<StepCall['context']['config'], 'vmImage'> };
  readonly needs: {
    readonly subnet: { readonly selfLink: string };
    readonly cloudController: { readonly email: string };
    readonly registryWriter: { readonly email: string } | undefined;
    readonly machineKey: { readonly publicKey: string };
    readonly machineLogin: { readonly by: MachineLogin };
    readonly teamKeys: { readonly keys: readonly string[] } | undefined;
  };
}

export const bootDiskName = (vm: string): string => vm;
export const dataDiskName = (vm: string, index: number): string => `${vm}-data-${index + 1}`;

const schedulings = {
  standard: { provisioningModel: 'STANDARD', automaticRestart: true, onHostMaintenance: 'MIGRATE' },
  spot: {
    provisioningModel: 'SPOT',
    onHostMaintenance: 'TERMINATE',
    automaticRestart: false,
    instanceTerminationAction: 'STOP',
  },
  preemptible: { preemptible: true, automaticRestart: false, onHostMaintenance: 'TERMINATE' },
} as const satisfies Record<Kind, object>;

export function wantedInstance({ context, bootstrap, key, needs }: Call, kind: Kind) {
  const { options, machineAccess } = bootstrap;
  const spec = vmSpec(options, key);
  const disk = (name: string, sizeGb: number, more: object, params: object) => ({
    type: 'PERSISTENT',
    autoDelete: true,
    deviceName: name,
    ...more,
    initializeParams: {
      diskName: name,
      diskSizeGb: String(sizeGb),
      diskType: `zones/${options.zone}/diskTypes/pd-ssd`,
      ...params,
    },
  });
  const email = spec.identity === 'cloud-controller' ? needs.cloudController.email : needs.registryWriter?.email;
  return {
    name: key,
    machineType: `zones/${options.zone}/machineTypes/${spec.machineType}`,
    tags: { items: [...spec.tags] },
    disks: [
      disk(bootDiskName(key), options.rootDiskSize, { boot: true }, { sourceImage: context.config.vmImage }),
      ...spec.dataDisks.map((size, index) => disk(dataDiskName(key, index), size, { boot: false }, {})),
    ],
    networkInterfaces: [
      {
        subnetwork: needs.subnet.selfLink,
        ...(isPublic(spec, machineAccess) ? { accessConfigs: [{ name: 'External NAT', type: 'ONE_TO_ONE_NAT' }] } : {}),
      },
    ],
    scheduling: schedulings[kind],
    // Organizations may refuse a VM without it. Standing VMs keep what they have: a change needs a stop.
    shieldedInstanceConfig: { enableSecureBoot: true, enableVtpm: true, enableIntegrityMonitoring: true },
    metadata: { items: metadataOf({ bootstrap, key, needs }) },
    ...(spec.identity === undefined || email === undefined
      ? {}
      : { serviceAccounts: [{ email, scopes: ['https://www.googleapis.com/auth/cloud-platform'] }] }),
  };
}

export function metadataOf({ bootstrap, key, needs }: Pick<Call, 'bootstrap' | 'key' | 'needs'>) {
  const { role } = vmSpec(bootstrap.options, key);
  const keys = [bootstrap.sshPublicKey, needs.machineKey.publicKey, ...(needs.teamKeys?.keys ?? [])];
  return [
    // With OS Login, machines ignore keys. So that nobody is misled, they get none.
    needs.machineLogin.by === 'os-login'
      ? { key: 'enable-oslogin', value: 'TRUE' }
      : { key: 'ssh-keys', value: sshKeysOf(role, keys) },
    { key: 'enable-guest-attributes', value: 'TRUE' },
    { key: 'startup-script', value: startupScriptOf(role) },
  ];
}

/** How the VM was provisioned, as far as its state shows. */
export function provisioningOf(
  options: BootstrapOptions,
  scheduling: { readonly provisioningModel?: string; readonly preemptible?: boolean },
): VmView['provisioning'] {
  if (options.preemptible && scheduling.preemptible === true) return 'preemptible';
  if (scheduling.provisioningModel === 'SPOT') return 'spot';
  return options.spotVms ? 'fallback' : 'standard';
}
