/** A lab whose VMs are machines that answer SSH, with all that the steps on them fetch. */
import { mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Host } from '../../functions/remote/remote.js';
import { reach } from '../../functions/steps/hosts/reach.js';
import { stepsOf } from '../../functions/steps/index.js';
import { computeEnvironment } from '../../local/cloud/gcloud.js';
import type { SimulatedCloud } from '../../local/cloud/index.js';
import { startForge1 } from '../../local/forge1/forge1.js';
import { type Machines, startMachines } from '../../local/machines/index.js';
import { makePackage } from '../../local/packages/make-package.js';
import { startK0sReleases } from '../../local/releases/k0s.js';
import { local } from '../../local/stack/deployment.js';
import { publishRelease } from '../../local/stack/plinth-release.js';
import { publishPackage } from '../../local/stack/publish-package.js';
import type { MachineAccess } from '../../shared/bootstrap/bootstrap.js';
import type { BootstrapOptions } from '../../shared/bootstrap/options.js';
import { makeOptions } from '../install-config/make-options.js';
import { createLab, type Lab, type LabMachines } from './lab.js';

export interface HostLab {
  readonly lab: Lab;
  readonly machines: Machines;
  /** Drives the instance and all that it needs, each once, side by side. */
  make(id: string): Promise<unknown>;
  /** As the steps reach it. */
  host(name: string): Promise<Host>;
  /** Path of the VM. */
  vm(name: string): string;
  /** The folder of its disk. */
  disk(name: string): string;
  close(): Promise<void>;
}

interface HostLabParts {
  readonly remote?: LabMachines['remote'];
  readonly machineAccess?: MachineAccess;
  /** What lies in the cloud before the first step. */
  readonly prepare?: (cloud: SimulatedCloud) => Promise<void>;
}

export async function createHostLab(
  options: Partial<BootstrapOptions>,
  { remote, machineAccess = 'direct', prepare }: HostLabParts = {},
): Promise<HostLab> {
  const folder = mkdtempSync(join(tmpdir(), 'plinth-hosts-'));
  const disks = join(folder, 'machines');
  const closers: (() => Promise<void> | void)[] = [() => rmSync(folder, { recursive: true, force: true })];
  const close = async (): Promise<void> => {
    for (const each of closers.splice(0).reverse()) await each();
  };
  let machines: Machines | undefined;
  try {
    const made = await makePackage(join(folder, 'package'));
    const given = makeOptions({ billingAccount: local.billingAccount, installVersion: made.version, ...options });
    const lab = await createLab(given, 0, {
      steps: stepsOf({ hosts: true }),
      ...(remote === undefined ? {} : { remote }),
      async start(cloud) {
        const [k0s, forge1, releases] = await Promise.all([startK0sReleases(), startForge1(), publishRelease(cloud)]);
        closers.push(
          () => k0s.close(),
          () => forge1.close(),
        );
        await publishPackage(cloud, made);
        const urls = [cloud.frontUrl, k0s.url, forge1.url, ...Object.values(cloud.endpoints)];
        const ports = urls.flatMap((url) => (url === undefined ? [] : [Number(new URL(url).port)]));
        machines = await startMachines({
          world: cloud.world,
          identity: cloud.identity,
          environment: computeEnvironment(cloud.endpoints.compute),
          folder: disks,
          outsidePorts: () => ports,
          onNote: (note) => process.stderr.write(`${note}\n`),
        });
        cloud.tunnel.leadTo(machines.connectFromIap);
        await prepare?.(cloud);
        return {
          machineAccess,
          iapTunnelUrl: cloud.tunnel.url,
          sshProxyUrl: machines.proxyUrl,
          k0sReleasesUrl: k0s.url,
          forge1Url: forge1.url,
          releases: releases ?? { url: k0s.url, sha256: '0'.repeat(64) },
        };
      },
    });
    closers.push(() => lab.close());
    const started = machines as Machines | undefined;
    if (started === undefined) throw new Error('no machines were started');
    closers.push(() => started.close());
    lab.resume({
      package: {
        version: made.version,
        hash: made.hash,
        object: `packages/${made.version}/${made.hash}/installer.tar.gz`,
        sha256: made.full.sha256,
      },
    });

    const making = new Map<string, Promise<unknown>>();
    const make = (id: string): Promise<unknown> => {
      const known = making.get(id);
      if (known !== undefined) return known;
      const result = (async () => {
        const instance = lab.instance(id);
        await Promise.all(instance.needs.map(make));
        lab.outputs[id] = await lab.drive(instance);
        return lab.outputs[id];
      })();
      making.set(id, result);
      return result;
    };
    const vm = (name: string): string => {
      const { projectId, options } = lab.bootstrap;
      return `projects/${projectId}/zones/${options.zone}/instances/${name}`;
    };
    return {
      lab,
      machines: started,
      make,
      host: (name) =>
        reach(lab.call(lab.instance(`host-setup:${name}`)) as unknown as Parameters<typeof reach>[0], name),
      vm,
      disk(name) {
        const found = readdirSync(disks).find((each) => each.startsWith(`${lab.bootstrap.projectId}~${name}~`));
        if (found === undefined) throw new Error(`the VM ${name} has no disk`);
        return join(disks, found);
      },
      close,
    };
  } catch (error) {
    await close();
    throw error;
  }
}
