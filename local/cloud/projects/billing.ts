/** Cloud Billing: the accounts, and which of them pays for a project. */
import {
  type ApiDefinition,
  type CloudCall,
  GoogleError,
  type Handler,
  type JsonObject,
  type ProjectRecord,
  type World,
} from '../kernel/api.js';
import { badRequest, deniedPlainly, preconditionFailed, quotaFailure } from '../kernel/errors.js';
import { textOf } from '../kernel/json-fields.js';
import { pageReply } from '../kernel/pages.js';
import { readPolicy, testPermissions, writePolicy } from '../kernel/policy-methods.js';
import { projectTable } from '../kernel/projects.js';
import { delayOf } from '../worlds/settings.js';
import { anyProject, shutDown } from './changes.js';

export interface BillingAccountRecord {
  name: string;
  displayName: string;
  open: boolean;
  projectLimit?: number;
}

const accounts = (world: World): Record<string, BillingAccountRecord> =>
  world.table<BillingAccountRecord>('billing.accounts');

const projectOf = (call: CloudCall, world: World): ProjectRecord =>
  anyProject(world, (call.params['name'] ?? '').split('/')[1] ?? '');

const info = (world: World, { projectId, billingAccountName }: ProjectRecord): JsonObject => ({
  name: `projects/${projectId}/billingInfo`,
  projectId,
  billingAccountName: billingAccountName ?? '',
  billingEnabled: billingAccountName !== undefined && accounts(world)[billingAccountName]?.open === true,
});

const linkedTo = (world: World, account: string): ProjectRecord[] =>
  Object.values(projectTable(world)).filter(({ billingAccountName }) => billingAccountName === account);

/** A deleted project keeps its link until it is unlinked, and counts until then. */
function checkQuota(world: World, account: BillingAccountRecord): void {
  const limit = Math.min(
    account.projectLimit ?? Number.POSITIVE_INFINITY,
    world.quota('-', account.name, 'billing-projects'),
  );
  if (linkedTo(world, account.name).length < limit) return;
  throw new GoogleError(400, 'FAILED_PRECONDITION', 'Precondition check failed.', {
    details: [
      quotaFailure(
        account.name,
        'Cloud billing quota exceeded: https://support.google.com/code/contact/billing_quota_increase',
      ),
    ],
  });
}

const update: Handler = async (call, world) => {
  const project = projectOf(call, world);
  const wanted = textOf(call.body['billingAccountName']) ?? '';
  if (wanted === (project.billingAccountName ?? '')) return info(world, project);
  if (wanted === '') {
    delete project.billingAccountName;
    shutDown(world, project);
    return info(world, project);
  }
  const account = accounts(world)[wanted];
  if (account === undefined) throw new GoogleError(403, 'PERMISSION_DENIED', 'The caller does not have permission');
  if (project.state !== 'ACTIVE') {
    throw preconditionFailed('Precondition check failed.', {
      type: 'STATE',
      subject: `projects/${project.projectId}`,
      description: 'The project is not active.',
    });
  }
  if (!account.open) {
    throw preconditionFailed('Precondition check failed.', {
      type: 'BILLING',
      subject: account.name,
      description: 'The billing account is closed.',
    });
  }
  checkQuota(world, account);
  // The call waits for the link.
  await world.sleep(world.scaled(delayOf(world, 'billingLink')));
  checkQuota(world, account);
  project.billingAccountName = wanted;
  return info(world, project);
};

const accountName = /^billingAccounts\/[A-Z0-9]{6}-[A-Z0-9]{6}-[A-Z0-9]{6}$/;

/** Linking needs permissions on both the project and the billing account. */
function accessOfUpdate(call: CloudCall, world: World) {
  const wanted = textOf(call.body['billingAccountName']) ?? '';
  const project = call.params['name'] ?? '';
  if (wanted === '') return [{ permission: 'resourcemanager.projects.deleteBillingAssignment', resource: project }];
  if (!accountName.test(wanted) && accounts(world)[wanted] === undefined) {
    throw badRequest(
      'Request contains an invalid argument.',
      'project_billing_info.billing_account_name',
      'It must have the form billingAccounts/<id>.',
    );
  }
  return [
    { permission: 'resourcemanager.projects.createBillingAssignment', resource: project },
    { permission: 'billing.resourceAssociations.create', resource: wanted },
  ];
}

const shown = ({ name, displayName, open }: BillingAccountRecord): JsonObject => ({
  name,
  displayName,
  open,
  masterBillingAccount: '',
  currencyCode: 'EUR',
});

const get: Handler = (call, world) => {
  const account = accounts(world)[call.params['name'] ?? ''];
  if (account === undefined) throw new GoogleError(403, 'PERMISSION_DENIED', 'The caller does not have permission');
  return shown(account);
};

const list: Handler = (call, world) => {
  const found = Object.entries(accounts(world)).filter(([name]) =>
    world.policies.allows(call.caller, 'billing.accounts.get', name),
  );
  return pageReply(
    call,
    'billingAccounts',
    found.map(([name, account]) => [name, shown(account)]),
  );
};

const listProjects: Handler = (call, world) =>
  pageReply(
    call,
    'projectBillingInfo',
    linkedTo(world, call.params['name'] ?? '').map((project) => [project.projectId, info(world, project)]),
  );

const inName = ({ params }: CloudCall): string => params['name'] ?? '';
const inResource = ({ params }: CloudCall): string => params['resource'] ?? '';

export const billing: ApiDefinition<'cloudbilling'> = {
  api: 'cloudbilling.v1',
  denied: deniedPlainly,
  handlers: {
    'cloudbilling.projects.getBillingInfo': (call, world) => info(world, projectOf(call, world)),
    'cloudbilling.projects.updateBillingInfo': update,
    'cloudbilling.billingAccounts.get': get,
    'cloudbilling.billingAccounts.list': list,
    'cloudbilling.billingAccounts.projects.list': listProjects,
    'cloudbilling.billingAccounts.getIamPolicy': (call, world) => readPolicy(call, world, inResource(call)),
    'cloudbilling.billingAccounts.setIamPolicy': (call, world) => writePolicy(call, world, inResource(call)),
    'cloudbilling.billingAccounts.testIamPermissions': (call, world) => testPermissions(call, world, inResource(call)),
  },
  access: {
    'cloudbilling.projects.getBillingInfo': (call) => [
      { permission: 'resourcemanager.projects.get', resource: inName(call) },
    ],
    'cloudbilling.projects.updateBillingInfo': accessOfUpdate,
    'cloudbilling.billingAccounts.get': (call) => [{ permission: 'billing.accounts.get', resource: inName(call) }],
    'cloudbilling.billingAccounts.list': () => [],
    'cloudbilling.billingAccounts.projects.list': (call) => [
      { permission: 'billing.resourceAssociations.list', resource: inName(call) },
    ],
    'cloudbilling.billingAccounts.getIamPolicy': (call) => [
      { permission: 'billing.accounts.getIamPolicy', resource: inResource(call) },
    ],
    'cloudbilling.billingAccounts.setIamPolicy': (call) => [
      { permission: 'billing.accounts.setIamPolicy', resource: inResource(call) },
    ],
  },
};
