/**
 * Replaces leases that somebody may hold. The holder learns of it by heartbeat, and Google still carries out what it asked for
 * until then. A role that was just taken back could be given once more, after the look that found it gone. So the next holder
 * looks only when the last such write is over.
 */

import { addSeconds } from '../../shared/add-seconds.js';
import { collections } from '../../shared/names.js';
import { callSeconds } from '../cloud/call-seconds.js';
import type { Context } from '../context.js';
import { type LeaseRecord, liftLease, read } from '../engine/record/documents.js';
import { leaseTimes } from '../engine/run/lease.js';
import type { Document, Write } from '../store/store.js';

/** The same writes, with leases against the versions that were read. A claim in between makes the caller decide again. */
export async function afterHolders(
  { store }: Pick<Context, 'store'>,
  writes: readonly Write[],
  at: string,
): Promise<Write[]> {
  const ids = writes.flatMap((write) => (isLease(write) ? write.id : []));
  if (ids.length === 0) return [...writes];
  const found = await store.getMany(collections.leases, ids);
  const held = new Map(found.flatMap((document) => read(document, liftLease) ?? []).map((lease) => [lease.id, lease]));
  return writes.map((write) => {
    const standing = held.get(write.id);
    return isLease(write) && standing !== undefined ? replacing(standing, write, at) : write;
  });
}

type LeaseWrite = Extract<Write, { kind: 'set' }>;
const isLease = (write: Write): write is LeaseWrite => write.kind === 'set' && write.collection === collections.leases;

function replacing(standing: Document<LeaseRecord>, { collection, id, data }: LeaseWrite, at: string): Write {
  const notBefore = lastWriteOf(standing.data, at);
  const none = Object.fromEntries(Object.keys(standing.data).map((field) => [field, undefined]));
  return {
    kind: 'update',
    collection,
    id,
    version: standing.version,
    data: { ...none, ...data, ...(notBefore > at ? { notBefore } : {}) },
  };
}

/** When the last write of the current or previous holder is over. */
function lastWriteOf({ state, expiresAt = '', notBefore = '' }: LeaseRecord, at: string): string {
  if (state === 'running') return addSeconds(new Date(expiresAt || at), callSeconds);
  // The step's own wait may be longer. What it waited for is looked at again anyway.
  const latest = addSeconds(new Date(at), leaseTimes.leaseSeconds + callSeconds);
  return notBefore < latest ? notBefore : latest;
}
