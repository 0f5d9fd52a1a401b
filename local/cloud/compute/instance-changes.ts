/** Changes of what a VM carries: metadata, tags, labels, machine type, account, scheduling, public addresses, protection. */
import { GoogleError, type JsonObject } from '../kernel/api.js';
import { objectOf, objectsOf, textOf } from '../kernel/json-fields.js';
import { freshExternalIp, useAddresses } from './addresses.js';
import { type Change, relabelled } from './collection.js';
import { accessConfigFrom, accountsFrom, machineTypeFrom, schedulingFrom, tagsFrom } from './instance-request.js';
import { metadataFrom } from './metadata.js';
import { checkQuota } from './quotas.js';
import { conditionNotMet, invalid, link, sameFingerprint } from './resources.js';

/** A change of a field that has a fingerprint of its own. */
const guarded =
  (field: 'metadata' | 'tags', from: (body: JsonObject) => JsonObject): Change =>
  ({ found: { resource } }, body) => {
    if (!sameFingerprint(textOf(body['fingerprint']), objectOf(resource[field])?.['fingerprint'])) {
      throw conditionNotMet(`Supplied fingerprint does not match current ${field} fingerprint.`);
    }
    return { ...resource, [field]: from(body) };
  };

const whileStopped =
  (change: Change): Change =>
  (at, ...given) => {
    const { status } = at.found.resource;
    if (status !== 'TERMINATED') {
      throw new GoogleError(
        400,
        'FAILED_PRECONDITION',
        `The instance '${at.path}' must be stopped for that; it is ${String(status)}.`,
        { reason: 'instanceNotStopped' },
      );
    }
    return change(at, ...given);
  };

const setMachineType: Change = ({ found: { resource }, place }, body, world) => ({
  ...resource,
  machineType: link(machineTypeFrom(body, place, world)),
});

const setServiceAccount: Change = ({ found: { resource }, place }, { email, scopes }, world) => {
  const wanted = email === undefined || email === '' ? [] : [{ email, scopes: scopes ?? [] }];
  return { ...resource, serviceAccounts: accountsFrom({ serviceAccounts: wanted }, place, world) };
};

const setScheduling: Change = ({ found: { resource } }, body) => ({
  ...resource,
  scheduling: schedulingFrom({ ...objectOf(resource['scheduling']), ...body }),
});

const setDeletionProtection: Change = ({ found: { resource } }, _body, _world, { deletionProtection }) => ({
  ...resource,
  deletionProtection: deletionProtection !== 'false',
});

// --- public addresses -----------------------------------------------------------------------------------------------

/** The resource with another network interface in place of the one that the call names. */
function withNic(resource: JsonObject, name: string, changed: (nic: JsonObject) => JsonObject): JsonObject {
  const nics = objectsOf(resource['networkInterfaces']);
  const nic = nics.find((one) => one['name'] === name);
  if (nic === undefined) throw invalid('networkInterface', name, 'The instance has no such network interface.');
  const after = changed(nic);
  return { ...resource, networkInterfaces: nics.map((one) => (one === nic ? after : one)) };
}

const addAccessConfig: Change = ({ path, found: { resource }, place }, body, world, { networkInterface = '' }) =>
  withNic(resource, networkInterface, (nic) => {
    if (objectsOf(nic['accessConfigs']).length > 0) {
      throw invalid('networkInterface', networkInterface, 'At most one access config currently supported.');
    }
    checkQuota(world, place, 'IN_USE_ADDRESSES');
    const access = accessConfigFrom(body, 'resource', place, world);
    const natIP = textOf(access['natIP']) ?? freshExternalIp(world);
    useAddresses(world, place, [natIP], path, true);
    return { ...nic, accessConfigs: [{ ...access, natIP }] };
  });

const deleteAccessConfig: Change = (at, _body, world, { networkInterface = '', accessConfig = '' }) =>
  withNic(at.found.resource, networkInterface, ({ accessConfigs, ...nic }) => {
    const [access] = objectsOf(accessConfigs);
    if (access?.['name'] !== accessConfig) {
      throw invalid('accessConfig', accessConfig, 'There is no such access config.');
    }
    useAddresses(world, at.place, [textOf(access['natIP']) ?? ''], at.path, false);
    return nic;
  });

export const instanceChanges: Readonly<Record<string, Change>> = {
  setMetadata: guarded('metadata', (body) => metadataFrom(body, '')),
  setTags: guarded('tags', (body) => tagsFrom(body, '')),
  setLabels: relabelled,
  setMachineType: whileStopped(setMachineType),
  setServiceAccount: whileStopped(setServiceAccount),
  setScheduling,
  setDeletionProtection,
  addAccessConfig,
  deleteAccessConfig,
};
