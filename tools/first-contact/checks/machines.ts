/** One small machine: how it comes up, and what it publishes. */
import { randomUUID } from 'node:crypto';
import { type Bench, type Check, differs, held, heldIf, type Tree, unknown } from '../check.js';
import { computePath, ended, operationIn, saidBy } from '../compute.js';
import { router, subnet } from './networks.js';

export const machine = 'first-contact';
const name = machine;

/** A public key without a private half: nobody can log in. */
export const publicKey = 'ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIFirstContactFirstContactFirstContactFirst';

/** As plinth makes its VMs, but small, on spot and without an address of its own. */
const instance = ({ zone, region, project }: Bench) => ({
  name,
  machineType: `zones/${zone}/machineTypes/e2-small`,
  disks: [
    {
      type: 'PERSISTENT',
      boot: true,
      autoDelete: true,
      deviceName: name,
      initializeParams: {
        diskName: name,
        diskSizeGb: '10',
        diskType: `zones/${zone}/diskTypes/pd-ssd`,
        sourceImage: 'projects/ubuntu-os-cloud/global/images/family/ubuntu-2204-lts',
      },
    },
  ],
  networkInterfaces: [{ subnetwork: `projects/${project}/regions/${region}/subnetworks/${subnet}` }],
  scheduling: {
    provisioningModel: 'SPOT',
    onHostMaintenance: 'TERMINATE',
    automaticRestart: false,
    instanceTerminationAction: 'STOP',
  },
  shieldedInstanceConfig: { enableSecureBoot: true, enableVtpm: true, enableIntegrityMonitoring: true },
  metadata: {
    items: [
      { key: 'ssh-keys', value: `ubuntu:${publicKey}` },
      { key: 'enable-guest-attributes', value: 'TRUE' },
      { key: 'enable-oslogin', value: 'TRUE' },
    ],
  },
});

const path = (bench: Bench, rest = ''): string => computePath(bench, `zones/${bench.zone}/instances/${name}${rest}`);
const hostKeys = '/getGuestAttributes?queryPath=hostkeys%2F';

export const machineChecks: readonly Check[] = [
  {
    // Pools of prepared projects rest on it. It comes minutes after the NAT was made.
    id: 'machines.idle-nat',
    believes: 'A NAT that no VM uses holds no address, so it costs nothing.',
    source: 'documented',
    needs: ['compute.nat'],
    async run(bench) {
      const { region, ask, facts } = bench;
      if (!facts.has('router')) return unknown('there is no NAT');
      const path = computePath(bench, `regions/${region}/routers/${router}`);
      const reply = await ask('compute', `GET ${path}/getRouterStatus`);
      const { natStatus = [] } = (reply.body['result'] ?? {}) as { readonly natStatus?: readonly Tree[] };
      const addresses = natStatus.flatMap(({ autoAllocatedNatIps = [] }) => autoAllocatedNatIps as string[]);
      // The VM that follows needs none, and would be billed for it.
      const deleted = await ask('compute', `DELETE ${path}`);
      if (deleted.status === 200) await ended(bench, `regions/${region}`, operationIn(deleted));
      return heldIf(
        reply.status === 200 && natStatus.length === 1 && addresses.length === 0,
        reply.status === 200 ? `${addresses.length} addresses of ${natStatus.length} NAT` : saidBy(reply),
      );
    },
  },
  {
    id: 'machines.insert',
    believes: 'A Shielded spot VM of plinth is accepted, and the first reply is not done.',
    source: 'documented',
    makes: 'an e2-small with a disk of 10 GB, without an address',
    costs: ['vm', 'disk'],
    needs: ['compute.wait'],
    async run(bench) {
      const { cloud, project, zone } = bench;
      const begun = await cloud.compute.createInstance(project, zone, instance(bench), randomUUID());
      if (begun.failure !== undefined) throw begun.failure;
      bench.facts.set('vm-operation', begun.name);
      return heldIf(!begun.done, begun.done ? 'done' : 'not done');
    },
  },
  {
    id: 'machines.early-attributes',
    believes: 'Guest attributes of a VM that is not up yet answer 404.',
    source: 'documented',
    needs: ['machines.insert'],
    async run(bench) {
      const reply = await bench.ask('compute', `GET ${path(bench, hostKeys)}`);
      if (/\bconstraints\//.test(reply.message))
        return unknown(`an organization policy forbids it here: ${reply.message}`);
      if (reply.status === 200) return unknown('the VM was up already');
      return heldIf(reply.status === 404, saidBy(reply));
    },
  },
  {
    id: 'machines.running',
    believes: 'The VM runs within three minutes, or the operation says why not.',
    source: 'reported',
    needs: ['machines.insert'],
    async run(bench) {
      const over = await ended(bench, `zones/${bench.zone}`, bench.fact('vm-operation'), { seconds: 300 });
      if (over === undefined) return differs('the operation did not end within five minutes');
      if (over.error !== '') return unknown(over.error);
      const running = await bench.until(180, async () => {
        const { body } = await bench.ask('compute', `GET ${path(bench)}`);
        return body['status'] === 'RUNNING' ? body : undefined;
      });
      if (running === undefined) return differs('not RUNNING after its operation');
      bench.facts.set('vm', JSON.stringify(running.value['shieldedInstanceConfig'] ?? {}));
      bench.facts.set('vm-scheduling', JSON.stringify(running.value['scheduling'] ?? {}));
      return heldIf(
        over.seconds + running.seconds <= 180,
        `operation ${over.seconds} s, RUNNING ${running.seconds} s later`,
      );
    },
  },
  {
    id: 'machines.as-asked',
    believes: 'The VM shows secure boot, vTPM, integrity monitoring and spot as they were asked for.',
    source: 'documented',
    needs: ['machines.running'],
    async run({ fact }) {
      const shielded = JSON.parse(fact('vm')) as Tree;
      const { provisioningModel, preemptible } = JSON.parse(fact('vm-scheduling')) as Tree;
      const all = ['enableSecureBoot', 'enableVtpm', 'enableIntegrityMonitoring'].every(
        (each) => shielded[each] === true,
      );
      return heldIf(
        all && provisioningModel === 'SPOT',
        `${String(provisioningModel)}, preemptible ${String(preemptible)}`,
      );
    },
  },
  {
    id: 'machines.host-keys',
    believes:
      'The VM publishes its host keys in its guest attributes within three minutes, without an address of its own.',
    source: 'documented',
    needs: ['machines.running'],
    async run(bench) {
      const { cloud, project, zone } = bench;
      const found = await bench.until(300, async () => {
        const reply = await bench.ask('compute', `GET ${path(bench, hostKeys)}`);
        return reply.status === 404 ? undefined : reply;
      });
      if (found === undefined) return differs('none after five minutes');
      if (/\bconstraints\//.test(found.value.message)) {
        return unknown(`an organization policy forbids it here: ${found.value.message}`);
      }
      const keys = await cloud.compute.publishedHostKeys(project, zone, name);
      const kinds = keys
        .map((key) => key.split(' ')[0])
        .sort()
        .join(', ');
      return heldIf(keys.length > 0 && found.seconds <= 180, `${kinds} ${found.seconds} s after RUNNING`);
    },
  },
  {
    id: 'machines.console-keys',
    believes:
      'cloud-init prints the host keys of a new VM on its serial console, between the lines that plinth looks for.',
    source: 'reported',
    needs: ['machines.running'],
    async run(bench) {
      const { cloud, project, zone } = bench;
      const found = await bench.until(180, async () => {
        const keys = await cloud.compute.consoleHostKeys(project, zone, name);
        return keys.length === 0 ? undefined : keys;
      });
      if (found === undefined) return differs('none after three minutes');
      const kinds = found.value.map((key) => key.split(' ')[0]).sort();
      return held(`${kinds.join(', ')} ${found.seconds} s after the look began`);
    },
  },
];

/** After all that needs the machine. */
export const machineEnd: readonly Check[] = [
  {
    id: 'machines.removal',
    believes: 'A VM is gone when the operation of its deletion is done, and its disk with it.',
    source: 'documented',
    needs: ['machines.running'],
    async run(bench) {
      const { cloud, project, zone } = bench;
      const begun = await cloud.compute.removeInstance(project, zone, name, randomUUID());
      const over = await ended(bench, `zones/${zone}`, begun.name, { seconds: 300 });
      if (over?.error !== '') return differs(over?.error ?? 'the operation did not end within five minutes');
      const left = [await cloud.compute.instance(project, zone, name), await cloud.compute.disk(project, zone, name)];
      return left.every((each) => each === undefined) ? held(`after ${over.seconds} s`) : differs('something is left');
    },
  },
];
