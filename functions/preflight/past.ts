/**
 * How it went with the last projects beneath the same parent with the same billing account. What cannot be known before there
 * is a project is likely to be as it was there.
 */
import type { BootstrapOptions } from '../../shared/bootstrap/options.js';
import { collections } from '../../shared/names.js';
import type { Asking, Likely } from '../engine/finding.js';
import {
  type BootstrapRecord,
  type InstanceRecord,
  liftBootstrap,
  optionsOf,
  read,
} from '../engine/record/documents.js';

/** Records are large. If others filled all these, nothing is likely. */
const newest = 10;

/** Newest first. Projects of everybody, as their limits are those of parent and account. */
export const lastProject = ({ context, intent, once }: Asking): Promise<readonly BootstrapRecord[]> =>
  once('last projects', async () => {
    const { store, config } = context;
    // Records that plinth took in without their history know no options.
    const keyOf = ({ billingAccount = '', folderId }: Partial<BootstrapOptions>) =>
      `${billingAccount.replace(/^billingAccounts\//, '')} ${folderId === undefined ? config.defaultParent : `folders/${folderId}`}`;
    const wanted = keyOf(intent.options);
    // Prepared projects are records, too, and a pool may have been filled just now.
    const waiting = Math.min(
      newest * 4,
      config.pools.reduce((sum, { size }) => sum + size, 0),
    );
    const found = await store.query({
      collection: collections.bootstraps,
      orderBy: ['createdAt', 'desc'],
      limit: newest + waiting,
    });
    return found
      .flatMap((document) => read(document, liftBootstrap)?.data ?? [])
      .filter((record) => record.orphan !== true && keyOf(optionsOf(record)) === wanted);
  });

/** The newest record in which the instance came to an end that counts. */
export function newestWith<T>(
  records: readonly BootstrapRecord[],
  instance: string,
  of: (found: InstanceRecord, record: BootstrapRecord) => T | undefined,
): T | undefined {
  for (const record of records) {
    const found = record.instances[instance];
    const told = found === undefined ? undefined : of(found, record);
    if (told !== undefined) return told;
  }
  return undefined;
}

export const endOf = ({ endedAt }: InstanceRecord, { createdAt }: BootstrapRecord): string => endedAt ?? createdAt;

/** By the newest that did the step, or failed at it with one of these problems. */
export const likelyBy = (
  records: readonly BootstrapRecord[],
  step: string,
  failures: readonly string[],
): Likely | undefined =>
  newestWith(records, step, (found, record): Likely | undefined => {
    const at = endOf(found, record);
    if (found.output !== undefined) return { state: 'ok', at };
    return found.problem !== undefined && failures.includes(found.problem.code) ? { state: 'stop', at } : undefined;
  });
