/** Service accounts as records, for the IAM API, the policies and the metadata server. */
import { subjectOf } from '../../identity/identity.js';
import type { World } from '../kernel/api.js';

export interface ServiceAccountRecord {
  projectId: string;
  email: string;
  uniqueId: string;
  displayName?: string;
  description?: string;
  disabled?: boolean;
  etag: string;
  /** The time from which it can be read and bound everywhere, in milliseconds since the epoch. */
  usableAt: number;
}

export const serviceAccounts = (world: World): Record<string, ServiceAccountRecord> =>
  world.table<ServiceAccountRecord>('iam.serviceAccounts');

export function recordOfServiceAccount(
  world: World,
  email: string,
  {
    projectId = /^[^@]+@([^.]+)\.iam\.gserviceaccount\.com$/.exec(email)?.[1],
    usableAt,
    ...more
  }: { projectId?: string | undefined; usableAt: number; displayName?: string; description?: string },
): ServiceAccountRecord {
  if (projectId === undefined) throw new Error(`${email} is not the e-mail of a service account in a project`);
  return { projectId, email, uniqueId: subjectOf(`${email} ${world.id()}`), etag: 'MDEwMjE5MjA=', usableAt, ...more };
}

/** E-mails of deleted accounts, with the time of deletion. */
export const deletedAccounts = (world: World): Record<string, number> =>
  world.table<number>('iam.deletedServiceAccounts');

/** Whether its tokens are void, because the account is disabled or deleted. */
export const isBarred = (world: World, email: string): boolean =>
  deletedAccounts(world)[email] !== undefined || serviceAccounts(world)[email]?.disabled === true;
