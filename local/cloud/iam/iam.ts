/** IAM: service accounts with their policies, and the roles that can be bound. Keys are not made. */
import {
  type ApiDefinition,
  type CloudCall,
  GoogleError,
  type Handler,
  type JsonObject,
  type World,
} from '../kernel/api.js';
import { badRequest, deniedOn } from '../kernel/errors.js';
import { maskOf } from '../kernel/field-mask.js';
import { numberOf, objectOf, textOf } from '../kernel/json-fields.js';
import { pageReply } from '../kernel/pages.js';
import { readPolicy, testPermissions, writePolicy } from '../kernel/policy-methods.js';
import { delayOf } from '../worlds/settings.js';
import { customRoleMethods, queryTestable } from './custom-role-methods.js';
import { forgetMember } from './policies.js';
import { getRole } from './role-methods.js';
import {
  deletedAccounts,
  recordOfServiceAccount,
  type ServiceAccountRecord,
  serviceAccounts,
} from './service-accounts.js';

const pathOf = ({ projectId, email }: ServiceAccountRecord): string => `projects/${projectId}/serviceAccounts/${email}`;

const shown = (account: ServiceAccountRecord): JsonObject => ({
  name: pathOf(account),
  projectId: account.projectId,
  uniqueId: account.uniqueId,
  email: account.email,
  ...(account.displayName === undefined ? {} : { displayName: account.displayName }),
  ...(account.description === undefined ? {} : { description: account.description }),
  etag: account.etag,
  oauth2ClientId: account.uniqueId,
  ...(account.disabled === true ? { disabled: true } : {}),
});

/** Finds an account by e-mail or unique id, in its project or in `projects/-`. */
function lookUp(world: World, name: string): ServiceAccountRecord | undefined {
  const [, project, , key = ''] = name.split('/');
  const account =
    serviceAccounts(world)[key] ?? Object.values(serviceAccounts(world)).find(({ uniqueId }) => uniqueId === key);
  if (account === undefined) return undefined;
  const fits =
    project === '-' || project === account.projectId || world.project(project ?? '').projectId === account.projectId;
  return fits ? account : undefined;
}

function find(call: CloudCall, world: World): ServiceAccountRecord {
  const account = lookUp(world, nameIn(call));
  if (account === undefined || account.usableAt > world.now()) {
    throw new GoogleError(404, 'NOT_FOUND', 'Unknown service account', { reason: 'notFound' });
  }
  return account;
}

const nameIn = ({ params }: CloudCall): string => params['name'] ?? params['resource'] ?? '';

function checkTexts(displayName: string | undefined, description: string | undefined): void {
  if ((displayName ?? '').length > 100)
    throw badRequest('The display name must be at most 100 UTF-8 bytes.', 'service_account.display_name');
  if ((description ?? '').length > 256)
    throw badRequest('The description must be at most 256 UTF-8 bytes.', 'service_account.description');
}

const create: Handler = (call, world) => {
  const { projectId } = world.project((call.params['name'] ?? '').split('/')[1] ?? '');
  const accountId = textOf(call.body['accountId']) ?? '';
  if (accountId.length < 6 || accountId.length > 30) {
    throw badRequest(`The account ID "${accountId}" does not have a length between 6 and 30.`, 'account_id');
  }
  if (!/^[a-z]([-a-z0-9]*[a-z0-9])$/.test(accountId)) {
    throw badRequest(
      `The account ID "${accountId}" does not match the pattern [a-z]([-a-z0-9]*[a-z0-9]).`,
      'account_id',
    );
  }
  const given = objectOf(call.body['serviceAccount']) ?? {};
  const [displayName, description] = [textOf(given['displayName']), textOf(given['description'])];
  checkTexts(displayName, description);
  const email = `${accountId}@${projectId}.iam.gserviceaccount.com`;
  if (serviceAccounts(world)[email] !== undefined) {
    const message = `Service account ${accountId} already exists within project projects/${projectId}.`;
    throw new GoogleError(409, 'ALREADY_EXISTS', message, {
      reason: 'alreadyExists',
      details: [
        {
          '@type': 'type.googleapis.com/google.rpc.ResourceInfo',
          resourceName: `projects/${projectId}/serviceAccounts/${email}`,
        },
      ],
    });
  }
  const account = recordOfServiceAccount(world, email, {
    usableAt: world.now() + world.scaled(delayOf(world, 'serviceAccount')) * (0.7 + 0.6 * world.random()),
    ...(displayName === undefined ? {} : { displayName }),
    ...(description === undefined ? {} : { description }),
  });
  serviceAccounts(world)[email] = account;
  delete deletedAccounts(world)[email];
  return shown(account);
};

const list: Handler = (call, world) => {
  const { projectId } = world.project((call.params['name'] ?? '').split('/')[1] ?? '');
  const found = Object.entries(serviceAccounts(world)).filter(
    ([, account]) => account.projectId === projectId && account.usableAt <= world.now(),
  );
  const accounts = found.map(([email, account]) => [email, shown(account)] as const);
  return pageReply(call, 'accounts', accounts, Math.min(numberOf(call.params['pageSize']) || 20, 100));
};

const patch: Handler = (call, world) => {
  const account = find(call, world);
  const given = objectOf(call.body['serviceAccount']) ?? {};
  const mask = maskOf(call);
  if (mask === undefined) throw badRequest('update_mask must not be empty.', 'update_mask');
  const [displayName, description] = [textOf(given['displayName']) ?? '', textOf(given['description']) ?? ''];
  checkTexts(displayName, description);
  for (const path of mask) {
    if (path === 'displayName') account.displayName = displayName;
    else if (path === 'description') account.description = description;
    else throw badRequest(`The field ${path} cannot be updated.`, 'update_mask');
  }
  return shown(account);
};

const remove: Handler = (call, world) => {
  const account = find(call, world);
  delete serviceAccounts(world)[account.email];
  deletedAccounts(world)[account.email] = world.now();
  world.policies.remove(pathOf(account));
  forgetMember(world, `serviceAccount:${account.email}`, account.uniqueId);
  return {};
};

const setDisabled =
  (disabled: boolean): Handler =>
  (call, world) => {
    find(call, world).disabled = disabled;
    return {};
  };

/** Checks access on the account, in the account's own project. `projects/-` is no resource. */
const onAccount = (verb: string) => (call: CloudCall, world: World) => {
  const name = nameIn(call);
  const account = lookUp(world, name);
  return [{ permission: `iam.${verb}`, resource: account === undefined ? name : pathOf(account) }];
};

export const iam: ApiDefinition<'iam'> = {
  api: 'iam.v1',
  denied: (access) => deniedOn('resource', access),
  handlers: {
    'iam.projects.serviceAccounts.create': create,
    'iam.projects.serviceAccounts.get': (call, world) => shown(find(call, world)),
    'iam.projects.serviceAccounts.list': list,
    'iam.projects.serviceAccounts.patch': patch,
    'iam.projects.serviceAccounts.delete': remove,
    'iam.projects.serviceAccounts.disable': setDisabled(true),
    'iam.projects.serviceAccounts.enable': setDisabled(false),
    'iam.projects.serviceAccounts.getIamPolicy': (call, world) => readPolicy(call, world, pathOf(find(call, world))),
    'iam.projects.serviceAccounts.setIamPolicy': (call, world) => writePolicy(call, world, pathOf(find(call, world))),
    'iam.projects.serviceAccounts.testIamPermissions': (call, world) =>
      testPermissions(call, world, pathOf(find(call, world))),
    'iam.roles.get': getRole,
    'iam.permissions.queryTestablePermissions': queryTestable,
    ...customRoleMethods.handlers,
  },
  access: {
    ...customRoleMethods.access,
    ...Object.fromEntries(
      ['get', 'delete', 'disable', 'enable', 'getIamPolicy', 'setIamPolicy'].map((verb) => [
        `iam.projects.serviceAccounts.${verb}`,
        onAccount(`serviceAccounts.${verb}`),
      ]),
    ),
    'iam.projects.serviceAccounts.patch': onAccount('serviceAccounts.update'),
    'iam.permissions.queryTestablePermissions': () => [],
    'iam.roles.get': () => [],
  },
};
