/** The initial state of a simulated cloud: what exists before plinth is deployed, and what its deployment makes. */

import { unprovenDomains } from './dns/zones.js';
import { customRoles } from './iam/custom-roles.js';
import { grantAtOnce } from './iam/policies.js';
import { recordOfServiceAccount, serviceAccounts } from './iam/service-accounts.js';
import type { ProjectRecord, World } from './kernel/api.js';
import { stampOf } from './kernel/json-fields.js';
import { type ContainerRecord, newProjectNumber, projectTable } from './kernel/projects.js';
import type { BillingAccountRecord } from './projects/billing.js';

export interface InitialState {
  readonly organizations?: readonly { readonly name: `organizations/${string}`; readonly displayName: string }[];
  readonly folders?: readonly {
    readonly name: `folders/${string}`;
    readonly displayName: string;
    readonly parent: `organizations/${string}` | `folders/${string}`;
  }[];
  readonly billingAccounts?: readonly {
    readonly name: `billingAccounts/${string}`;
    readonly displayName: string;
    readonly open?: boolean;
    /** How many projects may be linked. Google's default is about five. */
    readonly projectLimit?: number;
  }[];
  readonly projects?: readonly {
    readonly projectId: string;
    /** 12 digits. Default: random. */
    readonly projectNumber?: string;
    readonly displayName?: string;
    readonly parent: `organizations/${string}` | `folders/${string}`;
    readonly labels?: Readonly<Record<string, string>>;
    readonly billingAccountName?: `billingAccounts/${string}`;
    /** Enabled APIs: `compute.googleapis.com`. */
    readonly services?: readonly string[];
  }[];
  /** E-mails `<id>@<project>.iam.gserviceaccount.com`. */
  readonly serviceAccounts?: readonly string[];
  /** `projects/<id>/roles/<role>` with its permissions. */
  readonly customRoles?: readonly {
    readonly name: string;
    readonly title: string;
    readonly permissions: readonly string[];
  }[];
  /** Domains (`example.com.`) that need proof of ownership before they get zones. */
  readonly unprovenDomains?: readonly string[];
  /** In force from the beginning. Members are IAM members: `user:…`, `serviceAccount:…`. */
  readonly bindings?: readonly {
    readonly resource: string;
    readonly role: string;
    readonly members: readonly string[];
    readonly condition?: { readonly title: string; readonly expression: string };
  }[];
}

/** Adds what is missing. Changes nothing in a world that came from a snapshot. */
export function applyInitial(world: World, initial: InitialState): void {
  const now = stampOf(world);
  const containers = world.table<ContainerRecord>('containers');
  for (const container of [...(initial.organizations ?? []), ...(initial.folders ?? [])]) {
    containers[container.name] ??= { ...container, createTime: now };
  }
  const accounts = world.table<BillingAccountRecord>('billing.accounts');
  for (const account of initial.billingAccounts ?? []) accounts[account.name] ??= { open: true, ...account };
  for (const {
    projectId,
    projectNumber = newProjectNumber(world),
    displayName = projectId,
    parent,
    labels = {},
    billingAccountName,
    services = [],
  } of initial.projects ?? []) {
    const record: ProjectRecord = {
      projectId,
      projectNumber,
      displayName,
      parent,
      state: 'ACTIVE',
      labels: { ...labels },
      etag: `W/"${world.id()}"`,
      createTime: now,
      updateTime: now,
      creator: '',
      ...(billingAccountName === undefined ? {} : { billingAccountName }),
      services: Object.fromEntries(services.map((service) => [service, world.now()])),
    };
    projectTable(world)[projectId] ??= record;
  }
  const accountsOf = serviceAccounts(world);
  for (const email of initial.serviceAccounts ?? []) {
    accountsOf[email] ??= recordOfServiceAccount(world, email, { usableAt: world.now() });
  }
  for (const { name, title, permissions } of initial.customRoles ?? [])
    customRoles(world)[name] = { title, permissions };
  for (const domain of initial.unprovenDomains ?? []) unprovenDomains(world)[domain] = true;
  for (const { resource, role, members, condition } of initial.bindings ?? []) {
    const given = condition === undefined ? {} : { condition: { ...condition } };
    grantAtOnce(world, resource, [{ role, members: [...members], ...given }]);
  }
}
