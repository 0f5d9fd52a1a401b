/**
 * The life of a simulated VM: PROVISIONING → STAGING → RUNNING with addresses and host keys, stockouts, quotas met late,
 * preemption, STOPPING → TERMINATED, removal.
 */
import { createHash, createPrivateKey, createPublicKey, type KeyObject } from 'node:crypto';
import type { Effect, Json, JsonObject, World } from '../kernel/api.js';
import { objectOf, objectsOf, textOf } from '../kernel/json-fields.js';
import { regionOf } from '../kernel/places.js';
import { lookUpProject } from '../kernel/projects.js';
import { delayOf } from '../worlds/settings.js';
import { freshExternalIp, takenIn, useAddresses } from './addresses.js';
import { disksOf } from './disks.js';
import { freeIp, parseRange } from './ip-ranges.js';
import { ending, type Failure, failOperations, systemOperation } from './operations.js';
import { collections, type Held, held, heldIn, lastOf, type Place, stamp, unlink } from './resources.js';

const { instances, disks, subnetworks } = collections;

/** The state that a VM's guest made for itself. Machines that stand in for VMs answer SSH with this host key. */
export interface Guest {
  hostKey: { privateKeyPem: string; publicKey: string };
  /** Guest attributes: namespace → key → value. */
  attributes: Record<string, Record<string, string>>;
  serial: string;
  /** How often the guest went down. */
  boots: number;
}

export const guests = (world: World): Record<string, Guest> => world.table<Guest>('compute.guests');

type Work = (instance: Held, target: string, world: World, args: JsonObject) => void;

/** Does the work if the VM that it was meant for is still there. Another one may have got the same name meanwhile. */
const onVm =
  (work: Work): Effect =>
  (args, world) => {
    const target = textOf(args['target']) ?? '';
    const instance = held(world, instances)[target];
    if (instance !== undefined && instance.resource['id'] === args['id']) work(instance, target, world, args);
  };

/** The same at the end of an operation, which fails if a failure is given. */
const endingOnVm = (work: Work, failure?: (target: string, args: JsonObject) => Failure): Effect =>
  ending((target, args, world) => {
    onVm(work)(args, world);
    return failure?.(target, args);
  });

/** Reads the place from a path, because effects have no call. The project may be disappearing meanwhile. */
function placeAt(path: string, world: World): Place | undefined {
  const [, projectId = '', , zone = ''] = path.split('/');
  const project = lookUpProject(world, projectId);
  if (project === undefined) return undefined;
  const prefix = `projects/${projectId}/zones/${zone}`;
  return { project, scope: `zones/${zone}`, prefix, region: regionOf(zone), zone };
}

function useAt(world: World, target: string, ips: readonly string[], taken: boolean): void {
  const place = placeAt(target, world);
  if (place !== undefined) useAddresses(world, place, ips, target, taken);
}

function set(instance: Held, fields: JsonObject): void {
  instance.resource = { ...instance.resource, ...fields };
}

// --- up -------------------------------------------------------------------------------------------------------------

/** Disks and internal addresses are ready. The public address may take a little longer. */
const stage: Work = (instance, target, world, args) => {
  if (instance.resource['status'] !== 'PROVISIONING') return;
  for (const { path } of disksOf(instance.resource)) {
    const disk = held(world, disks)[path];
    if (disk === undefined) continue;
    disk.phase = 'ready';
    disk.resource['status'] = 'READY';
  }
  set(instance, {
    status: 'STAGING',
    cpuPlatform: 'AMD Rome',
    networkInterfaces: addressed(instance.resource, target, world, args['lateAddress'] !== true),
  });
};

/** Late addresses: the VM runs first and becomes reachable some seconds later. */
const giveAddresses: Work = (instance, target, world) => {
  if (instance.resource['status'] === 'TERMINATED') return;
  set(instance, { networkInterfaces: addressed(instance.resource, target, world, true) });
};

function addressed(resource: JsonObject, target: string, world: World, external: boolean): Json {
  const given: string[] = [];
  const nics = objectsOf(resource['networkInterfaces']).map((nic): JsonObject => {
    const subnetwork = unlink(textOf(nic['subnetwork']) ?? '');
    const range = parseRange(String(held(world, subnetworks)[subnetwork]?.resource['ipCidrRange']));
    const networkIP = textOf(nic['networkIP']) ?? (range && freeIp(range, takenIn(world, subnetwork))) ?? '10.0.0.2';
    const accessConfigs = objectsOf(nic['accessConfigs']).map((access): JsonObject => {
      if (!external) return access;
      const natIP = textOf(access['natIP']) ?? freshExternalIp(world);
      given.push(natIP);
      return { ...access, natIP };
    });
    return { ...nic, networkIP, ...(accessConfigs.length === 0 ? {} : { accessConfigs }) };
  });
  useAt(world, target, given, true);
  return nics;
}

const run: Work = (instance, target, world, args) => {
  // It was taken away while it started.
  if (!['PROVISIONING', 'STAGING'].includes(String(instance.resource['status']))) return;
  stage(instance, target, world, args);
  const late = args['lateAddress'] === true;
  instance.phase = 'ready';
  set(instance, {
    status: 'RUNNING',
    networkInterfaces: addressed(instance.resource, target, world, !late),
    resourceStatus: { scheduling: {} },
  });
  const id = instance.resource['id'] ?? '';
  if (late) world.schedule(delayOf(world, 'vmAddress'), 'compute.instances.addresses', { target, id });
  world.schedule(delayOf(world, 'vmHostKeys'), 'compute.instances.guest', { target, id });
  world.schedule(0, 'compute.instances.drawPreemption', { target, id }, { exact: true });
};

/** The guest agent publishes the host keys. They are made at the first boot and stay with the disk. */
const guestUp: Work = (instance, target, world) => {
  if (instance.resource['status'] !== 'RUNNING') return;
  const guest = guestOf(target, String(instance.resource['id']), world);
  guest.attributes['hostkeys'] = { 'ssh-ed25519': guest.hostKey.publicKey.split(' ')[1] ?? '' };
  const name = lastOf(target);
  if (guest.boots === 0) guest.serial += hostKeysOnConsole(name, guest);
  guest.serial += `[   12.041817] ${name} google_guest_agent: GCE Agent Started\n${name} login: \n`;
};

/** cloud-init prints them at the first boot alone (module keys_to_console). */
const hostKeysOnConsole = (name: string, { hostKey }: Guest): string => {
  const [type = '', key = ''] = hostKey.publicKey.split(' ');
  const print = createHash('sha256').update(Buffer.from(key, 'base64')).digest('base64').replace(/=+$/, '');
  return [
    '<14>cloud-init: #############################################################',
    '<14>cloud-init: -----BEGIN SSH HOST KEY FINGERPRINTS-----',
    `<14>cloud-init: 256 SHA256:${print} root@${name} (ED25519)`,
    '<14>cloud-init: -----END SSH HOST KEY FINGERPRINTS-----',
    '<14>cloud-init: #############################################################',
    '-----BEGIN SSH HOST KEY KEYS-----',
    `${type} ${key} root@${name}`,
    '-----END SSH HOST KEY KEYS-----',
    '',
  ].join('\n');
};

function guestOf(target: string, id: string, world: World): Guest {
  const known = guests(world)[target];
  if (known !== undefined) return known;
  const seed = createHash('sha256').update(`${target} ${id} ${world.random()}`).digest();
  const guest: Guest = {
    hostKey: ed25519From(seed),
    attributes: {},
    serial: `[    0.000000] Linux version 5.15.0-1083-gcp\n[    5.120455] cloud-init: Generating public/private ed25519 key pair.\n`,
    boots: 0,
  };
  guests(world)[target] = guest;
  return guest;
}

/** PKCS#8 of an Ed25519 key is this prefix and the 32 bytes of the seed (RFC 8410). */
function ed25519From(seed: Buffer): Guest['hostKey'] {
  const der = Buffer.concat([Buffer.from('302e020100300506032b657004220420', 'hex'), seed]);
  const key = createPrivateKey({ key: der, format: 'der', type: 'pkcs8' });
  return {
    privateKeyPem: String(key.export({ format: 'pem', type: 'pkcs8' })),
    publicKey: opensshPublic(createPublicKey(key)),
  };
}

function opensshPublic(key: KeyObject): string {
  const raw = Buffer.from(key.export({ format: 'jwk' }).x ?? '', 'base64url');
  const part = (bytes: Buffer) => Buffer.concat([Buffer.from([0, 0, bytes.length >> 8, bytes.length & 255]), bytes]);
  return `ssh-ed25519 ${Buffer.concat([part(Buffer.from('ssh-ed25519')), part(raw)]).toString('base64')}`;
}

// --- not up ---------------------------------------------------------------------------------------------------------

/** Comes 7 to 100 s after the insert was accepted. */
const stockoutFailure = (target: string, { withDetails }: JsonObject): Failure => {
  const [, project, , zone = ''] = target.split('/');
  const failure: Failure = {
    code: 'ZONE_RESOURCE_POOL_EXHAUSTED',
    message: `The zone 'projects/${project}/zones/${zone}' does not have enough resources available to fulfill the request.  Try a different zone, or try again later.`,
    httpStatus: 503,
    httpMessage: 'SERVICE UNAVAILABLE',
  };
  if (withDetails !== true) return failure;
  const metadatas = { zone, zonesAvailable: '', vmType: 'e2-standard-8', attachment: '' };
  return {
    ...failure,
    code: 'ZONE_RESOURCE_POOL_EXHAUSTED_WITH_DETAILS',
    message: `${failure.message} '(resource type:compute)'.`,
    details: [{ errorInfo: { reason: 'resource_availability', domain: 'compute.googleapis.com', metadatas } }],
  };
};

/** A new VM never existed, although its boot disk may. One that stood is down. */
const stockout: Work = (instance, target, world, { standing, leavesBootDisk }) => {
  if (standing !== true) return neverWas(instance, target, world, leavesBootDisk === true);
  instance.phase = 'ready';
  set(instance, { status: 'TERMINATED' });
};

function neverWas(instance: Held, target: string, world: World, leavesBootDisk: boolean): void {
  delete held(world, instances)[target];
  releaseParts(target, instance, world, ({ path, boot, autoDelete }) => {
    if (boot && leavesBootDisk) return false;
    return autoDelete || held(world, disks)[path]?.phase === 'making';
  });
}

const quotaFailure = (_target: string, { message }: JsonObject): Failure => ({
  code: 'QUOTA_EXCEEDED',
  message: textOf(message) ?? '',
  httpStatus: 403,
  httpMessage: 'FORBIDDEN',
});

/**
 * Takes a spot or preemptible VM away, as Google does. If the VM is still starting, its insert fails. Otherwise it stops
 * within 30 s.
 */
export function preempt(world: World, target: string): void {
  const instance = held(world, instances)[target];
  if (instance === undefined) throw new Error(`there is no VM ${target}`);
  const id = String(instance.resource['id']);
  if (instance.phase === 'making') {
    failOperations(world, target, {
      code: 'PREEMPTED',
      message: `Instance '${lastOf(target)}' was preempted while it was starting.`,
      httpStatus: 503,
      httpMessage: 'SERVICE UNAVAILABLE',
    });
    instance.phase = 'ready';
  }
  const place = placeAt(target, world);
  if (place !== undefined) systemOperation(world, place, 'compute.instances.preempted', target, id);
  set(instance, { status: 'STOPPING' });
  world.schedule(delayOf(world, 'vmStopping'), 'compute.instances.preempted', { target, id }, { exact: true });
}

const preempted: Work = (instance, target, world) => {
  if (objectOf(instance.resource['scheduling'])?.['instanceTerminationAction'] !== 'DELETE') {
    return down(target, instance, 'TERMINATED', world);
  }
  delete held(world, instances)[target];
  releaseParts(target, instance, world, ({ autoDelete }) => autoDelete);
};

/** The guest turned its own power off, so its VM is terminated. That holds with automaticRestart too, which is for crashes. */
export function guestShutDown(world: World, target: string): void {
  const instance = held(world, instances)[target];
  const place = placeAt(target, world);
  if (instance === undefined || place === undefined) return;
  const id = String(instance.resource['id']);
  systemOperation(world, place, 'compute.instances.guestTerminate', target, id);
  world.schedule(0, 'compute.instances.guestTerminated', { target, id }, { exact: true });
}

const guestTerminated: Work = (instance, target, world) => {
  if (instance.resource['status'] === 'RUNNING') down(target, instance, 'TERMINATED', world);
};

// --- down -----------------------------------------------------------------------------------------------------------

/** An ephemeral public address is released when the power goes off. */
function down(target: string, instance: Held, status: 'TERMINATED' | 'SUSPENDED', world: World): void {
  const reserved = new Set(
    Object.values(held(world, collections.addresses)).map(({ resource }) => String(resource['address'])),
  );
  const nics = objectsOf(instance.resource['networkInterfaces']).map((nic): JsonObject => {
    const accessConfigs = objectsOf(nic['accessConfigs']).map((access): JsonObject => {
      const { natIP, ...rest } = access;
      return typeof natIP === 'string' && reserved.has(natIP) ? access : rest;
    });
    return { ...nic, ...(accessConfigs.length === 0 ? {} : { accessConfigs }) };
  });
  instance.phase = 'ready';
  set(instance, {
    status,
    networkInterfaces: nics,
    ...(status === 'SUSPENDED'
      ? { lastSuspendedTimestamp: stamp(world.now()) }
      : { lastStopTimestamp: stamp(world.now()) }),
  });
  const guest = guests(world)[target];
  if (guest === undefined) return;
  goDown(guest);
  clearConsole(guest);
}

function goDown(guest: Guest): void {
  guest.attributes = {};
  guest.boots += 1;
}

/** Google keeps what the console showed only while the VM is on. */
const clearConsole = (guest: Guest): void => {
  guest.serial = '';
};

/** Turns the power off for a moment. The memory is lost, and the guest boots again. */
export function powerCycle(world: World, target: string): void {
  const id = held(world, instances)[target]?.resource['id'] ?? '';
  const guest = guests(world)[target];
  if (guest !== undefined) goDown(guest);
  world.schedule(delayOf(world, 'vmHostKeys'), 'compute.instances.guest', { target, id });
}

/** Deletes or frees what a VM used that is deleted: disks, addresses, and what its guest made. */
export function releaseParts(
  target: string,
  { resource }: Held,
  world: World,
  goes: (disk: ReturnType<typeof disksOf>[number]) => boolean,
): void {
  for (const each of disksOf(resource)) {
    const disk = held(world, disks)[each.path];
    if (disk === undefined) continue;
    if (goes(each)) {
      delete held(world, disks)[each.path];
      continue;
    }
    const { users: _users, ...rest } = disk.resource;
    disk.phase = 'ready';
    disk.resource = { ...rest, status: 'READY' };
  }
  const ips = objectsOf(resource['networkInterfaces']).flatMap((nic) =>
    objectsOf(nic['accessConfigs']).map((access) => textOf(access['natIP']) ?? ''),
  );
  useAt(world, target, ips, false);
  delete guests(world)[target];
}

/** Stops all VMs of a project that is deleted or has no billing. */
export function powerOff(world: World, projectId: string): void {
  for (const [path, instance] of heldIn(world, instances, projectId)) {
    if (['TERMINATED', 'SUSPENDED'].includes(String(instance.resource['status']))) continue;
    down(path, instance, 'TERMINATED', world);
  }
}

const downTo =
  (status: 'TERMINATED' | 'SUSPENDED'): Work =>
  (instance, target, world) =>
    down(target, instance, status, world);

export const instanceEffects: Record<string, Effect> = {
  'compute.instances.stage': onVm(stage),
  'compute.instances.addresses': onVm(giveAddresses),
  'compute.instances.run': endingOnVm(run),
  'compute.instances.guest': onVm(guestUp),
  'compute.instances.stockout': endingOnVm(stockout, stockoutFailure),
  'compute.instances.overQuota': endingOnVm(
    (instance, target, world) => neverWas(instance, target, world, false),
    quotaFailure,
  ),
  'compute.instances.preempted': onVm(preempted),
  'compute.instances.guestTerminated': onVm(guestTerminated),
  'compute.instances.stopped': endingOnVm(downTo('TERMINATED')),
  'compute.instances.suspended': endingOnVm(downTo('SUSPENDED')),
};
