/**
 * Logs a quarantine once, as an error: what was not removed goes on costing until a person acts. terraform/metrics.tf counts
 * the line.
 */
import type { Log } from '../../host/log.js';
import type { BootstrapRecord } from './documents.js';

type Removal = Pick<BootstrapRecord, 'removal' | 'projectId' | 'problem'>;

export function tellQuarantine(log: Log, before: Removal, { removal, projectId, problem }: Removal): void {
  if (removal?.quarantinedAt === undefined || removal.quarantinedAt === before.removal?.quarantinedAt) return;
  log('ERROR', `The removal of ${projectId} failed ${removal.failures} times in a row and is left alone`, {
    projectId,
    ...(problem === undefined ? {} : { code: problem.code, why: problem.detail, advice: problem.advice }),
  });
}
