/** Whether new bootstraps are taken, and there is room for one more. */
import { collections } from '../../../shared/names.js';
import { checkAdmission } from '../../bootstraps/admission.js';
import { countOne } from '../../bootstraps/counters.js';
import { countersId, liftCounters, read } from '../../engine/record/documents.js';
import { persist } from '../../store/persist.js';
import { defineFinding, ok } from '../finding.js';

export const room = defineFinding({
  code: 'room',
  title: 'Room for one more',
  why: 'A deployment takes a limited number of bootstraps, and none while an operator has stopped them.',
  by: 'door',
  mustBeAsked: true,
  about: [],
  async ask({ context: { store, config }, intent: { owner } }) {
    const counters = read(await persist(() => store.get(collections.counters, countersId)), liftCounters)?.data;
    checkAdmission(counters);
    return { own: countOne(counters, owner, config.limits).byOwner[owner] ?? 1, limit: config.limits.livingPerOwner };
  },
  judge: ({ own, limit }) => ok(`it would be ${own} of ${limit}`),
});
