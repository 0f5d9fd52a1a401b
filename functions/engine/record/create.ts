/** The one creator of bootstraps: what their records begin with, and the writes that create one. Pure. */
import { collections } from '../../../shared/names.js';
import type { Write } from '../../store/store.js';
import type { BootstrapRecord } from './documents.js';
import { eventWrites, type Leased, leaseWrites, type Transition } from './transition.js';

type Own = 'name' | 'projectId' | 'owner' | 'ownerMember' | 'options' | 'createdAt' | 'deadlineAt';

/** A record before its first transition. `fields`: what is its own, and what differs from the rest. */
export const emptyRecord = (fields: Pick<BootstrapRecord, Own> & Partial<BootstrapRecord>): BootstrapRecord => ({
  schema: 1,
  state: 'running',
  generation: 1,
  given: {},
  sshPublicKey: '',
  base: {},
  warnings: [],
  instances: {},
  events: 0,
  ...fields,
});

/**
 * The record as its first transition leaves it, and the writes that create it with its events and leases. The first write is
 * the record's own. Their commit fails if another writer was first.
 */
export function createBootstrap(
  id: string,
  before: BootstrapRecord,
  { record, ready, events }: Transition<Leased>,
  at: string,
): { readonly record: BootstrapRecord; readonly writes: readonly Write[] } {
  const created = { ...record, events: before.events + events.length };
  return {
    record: created,
    writes: [
      { kind: 'create', collection: collections.bootstraps, id, data: created },
      ...eventWrites(id, before, events),
      ...leaseWrites(id, record.generation, ready, at),
    ],
  };
}
