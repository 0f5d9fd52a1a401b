/** Custom roles as records: those that were made in projects and organizations. */
import type { World } from '../kernel/api.js';

/** Named `projects/p/roles/r` or `organizations/o/roles/r`. */
export interface CustomRole {
  title: string;
  permissions: readonly string[];
  description?: string;
  stage?: string;
  etag?: string;
  /** When it was deleted, in milliseconds since the epoch. It grants nothing then. */
  deletedAt?: number;
}

export const customRoles = (world: World): Record<string, CustomRole> => world.table<CustomRole>('iam.roles');

/** Whether its grants count: a deleted role and a disabled one hold nothing. */
export const isInForce = ({ stage, deletedAt }: CustomRole): boolean => stage !== 'DISABLED' && deletedAt === undefined;
