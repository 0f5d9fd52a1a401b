/** Google's public CA in the simulated cloud: external account keys for ACME, shown once. */
import {
  type Access,
  type ApiDefinition,
  type CloudCall,
  GoogleError,
  type Handler,
  type JsonObject,
  type World,
} from '../kernel/api.js';
import { stampOf } from '../kernel/json-fields.js';

const service = 'publicca.googleapis.com';

function projectOf(call: CloudCall, world: World, billing: boolean): string {
  const project = (call.params['parent'] ?? '').split('/')[1] ?? '';
  return world.project(project, { service, billing }).projectId;
}

/**
 * The key is 32 bytes. Like the real API, the answer holds it as base64url, encoded once more as base64. It expires after
 * seven days without use.
 */
const create: Handler = (call, world) => {
  const project = projectOf(call, world, true);
  const location = (call.params['parent'] ?? '').split('/')[3] ?? '';
  if (location !== 'global') {
    throw new GoogleError(
      400,
      'INVALID_ARGUMENT',
      `Invalid location ${location}: external account keys are made in "global".`,
    );
  }
  const keyId = Array.from({ length: 32 }, () => Math.floor(world.random() * 16).toString(16)).join('');
  const secret = Buffer.from(Array.from({ length: 32 }, () => Math.floor(world.random() * 256)));
  const b64MacKey = Buffer.from(secret.toString('base64url')).toString('base64');
  const name = `projects/${project}/locations/global/externalAccountKeys/${keyId}`;
  // The real service never shows a key again. Here only its id and time are stored.
  world.table<JsonObject>('publicca.externalAccountKeys')[name] = {
    keyId,
    createTime: stampOf(world),
  };
  return { name, keyId, b64MacKey };
};

const method = 'publicca.projects.locations.externalAccountKeys.create';

export const publicCa: ApiDefinition<'publicca'> = {
  api: 'publicca.v1',
  handlers: { [method]: create },
  access: {
    [method]: (call: CloudCall, world: World): readonly Access[] => [
      { permission: 'publicca.externalAccountKeys.create', resource: `projects/${projectOf(call, world, false)}` },
    ],
  },
};
