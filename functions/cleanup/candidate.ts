/** One record or project that cleanup looks at, with its verdict and what is done about it. */
import type { CleanupFound } from '../../shared/bootstrap/cleanup.js';
import type { Context } from '../context.js';
import type { BootstrapRecord } from '../engine/record/documents.js';
import type { Verdict } from '../engine/record/removal-rule.js';
import type { Document } from '../store/store.js';
import { objectionTo } from './removal-objection.js';

export interface Candidate extends CleanupFound {
  readonly verdict: Verdict;
  /** Missing: nothing is done about it. */
  readonly act?: (() => Promise<void>) | undefined;
  /** Its record decides nothing more. If a project appears after the removal, its labels find it. */
  readonly over?: true | undefined;
}

export const foundOf = (id: string, record: BootstrapRecord, why: string): CleanupFound => ({
  projectId: record.projectId,
  bootstrapId: id,
  owner: record.owner,
  why,
});

export function unreadable({ id, data }: Document): Candidate {
  const why = 'its record cannot be read';
  const projectId = typeof data['projectId'] === 'string' ? data['projectId'] : 'unknown';
  return { projectId, bootstrapId: id, why, verdict: { remove: false, why, shown: true } };
}

export interface Objection {
  readonly why: string;
  /** True: the question could not be asked this time. */
  readonly unknown: boolean;
}

/** What speaks against removing a record whose time is over. If that cannot be asked, the record is kept too. */
export async function objection(context: Context, id: string, record: BootstrapRecord): Promise<Objection | undefined> {
  try {
    const why = await objectionTo(context, id, record);
    return why === undefined ? undefined : { why, unknown: false };
  } catch (error) {
    context.log('ERROR', `${record.projectId} could not be looked at`, { error });
    return { why: 'it could not be looked at; the log has more', unknown: true };
  }
}

/** It is kept, and the report says why. */
export const kept = (found: CleanupFound, why: string): Candidate => ({
  ...found,
  why,
  verdict: { remove: false, why, shown: true },
});
