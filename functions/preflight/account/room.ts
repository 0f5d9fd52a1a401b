/** Whether new bootstraps are taken, and there is room for one more. */
import { checkAdmission } from '../../bootstraps/begin/admission.js';
import { checkOneMore } from '../../bootstraps/budget/living.js';
import { defineFinding, ok } from '../../engine/finding.js';
import { ofOwner, readCounts } from '../../engine/record/counts.js';

export const room = defineFinding({
  code: 'room',
  title: 'Room for one more',
  why: 'A deployment takes a limited number of bootstraps, and none while an operator has stopped them.',
  by: 'bootstraps',
  mustBeAsked: true,
  about: [],
  async ask({ context: { store, config }, intent: { owner } }) {
    const counts = await readCounts({ store }, { owners: [owner] });
    checkAdmission(counts.all);
    checkOneMore(counts, owner, config.limits);
    return { own: ofOwner(counts, owner).living + 1, limit: config.limits.livingPerOwner };
  },
  judge: ({ own, limit }) => ok(`it would be ${own} of ${limit}`),
});
