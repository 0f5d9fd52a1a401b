/**
 * Leases that are written anew while somebody may hold them. The holder learns of it by heartbeat, and what it had asked Google
 * for until then is still carried out: a role that was taken back just now would be given once more, after the look that found
 * it gone. So whoever has the lease next looks when the last such write is over.
 */

import { addSeconds } from '../../shared/add-seconds.js';
import { collections } from '../../shared/names.js';
import { callSeconds } from '../cloud/call-seconds.js';
import type { Context } from '../context.js';
import { type LeaseRecord, liftLease, read } from '../engine/record/documents.js';
import { leaseTimes } from '../engine/run/lease.js';
import { persist } from '../store/persist.js';
import type { Document, Write } from '../store/store.js';

/** The same writes, leases by the versions that were looked at: whoever claims one meanwhile has all of it decided again. */
export async function afterHolders(
  { store }: Pick<Context, 'store'>,
  writes: readonly Write[],
  at: string,
): Promise<Write[]> {
  const ids = writes.flatMap((write) => (isLease(write) ? write.id : []));
  if (ids.length === 0) return [...writes];
  const found = await persist(() => store.getMany(collections.leases, ids));
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

/** When the last write is over of whoever holds it, or held it when it was written anew before. */
function lastWriteOf({ state, expiresAt = '', notBefore = '' }: LeaseRecord, at: string): string {
  if (state === 'running') return addSeconds(new Date(expiresAt || at), callSeconds);
  // A wait of the step's own may be longer; what it waited for is looked at anew.
  const latest = addSeconds(new Date(at), leaseTimes.leaseSeconds + callSeconds);
  return notBefore < latest ? notBefore : latest;
}
