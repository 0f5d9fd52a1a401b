/** How far a plan has been carried out, told from the plan that the same command has now. */
import { expect } from 'chai';
import { type PlanDocument, planDifferences, progressOf, sealed, unhidden } from '../../shared/bootstrap/plan.js';

type Action = PlanDocument['items'][number]['action'];
const planOf = (actions: Readonly<Record<string, Action>>, more: Partial<PlanDocument> = {}): PlanDocument =>
  sealed({
    schema: 1,
    kind: 'bootstrap',
    name: 'demo',
    bootstrap: 'b1',
    values: { '--region': 'europe-west4', 'removed at': '2030-01-01T00:00:00Z' },
    secrets: [{ name: '--forge1-app-client-secret', action: 'keep' }],
    items: Object.entries(actions).map(([id, action]) => ({ id, title: id, action, what: [id] })),
    ...more,
  });

describe('the progress of a plan', () => {
  const planned = planOf({ a: 'make', b: 'change', c: 'keep', d: 'give-up' });
  const newOne = planOf({ a: 'make' }, { bootstrap: null, values: { '--region': 'europe-west4' } });
  const keep: Action = 'keep';
  const cases: readonly (readonly [title: string, of: PlanDocument, now: PlanDocument, is: unknown])[] = [
    ['is done where all is kept', planned, planOf({ a: keep, b: keep, c: keep }), 'done'],
    [
      'is begun where the rest is as planned',
      planned,
      planOf({ a: keep, b: 'change', c: keep, d: 'give-up' }),
      'begun',
    ],
    ['is none before anything is done', planned, planOf({ a: 'make', b: 'change', c: keep, d: 'give-up' }), undefined],
    ['is none where something else is to be made', planned, planOf({ a: keep, b: keep, c: 'make' }), undefined],
    ['is none where more is to be made', planned, planOf({ a: keep, b: keep, c: keep, e: 'make' }), undefined],
    ['is none where a value differs', planned, planOf({ a: keep, b: keep, c: keep }, { values: {} }), undefined],
    [
      'is none where a secret changes',
      planned,
      planOf({ a: keep, b: keep, c: keep }, { secrets: [{ name: '--forge1-app-client-secret', action: 'change' }] }),
      undefined,
    ],
    ['is done for a new bootstrap that has an end by now', newOne, planOf({ a: keep }), 'done'],
    ['is begun for a new bootstrap that has made nothing', newOne, planOf({ a: 'make' }), 'begun'],
    ['is none for another bootstrap', planned, planOf({ a: keep, b: keep, c: keep }, { bootstrap: 'b2' }), undefined],
  ];
  for (const [title, of, now, is] of cases) it(title, () => expect(progressOf(of, now)).to.equal(is));

  it('does not take a value for changed that a problem hides', () => {
    const values = { '--forge1-app-client-id': 'id', '--region': 'europe-west4' };
    const [plan, now] = [planOf({ a: 'make' }, { values }), planOf({ a: keep }, { values })];
    const hidden = { ...now, values: { ...values, '--forge1-app-client-id': '<secret>' } };
    expect(unhidden(plan, hidden)).to.deep.equal(now);
    const other = { ...planOf({ a: keep }, { values: { ...values, '--forge1-app-client-id': 'x' } }) };
    const otherHidden = { ...other, values: { ...other.values, '--forge1-app-client-id': '<secret>' } };
    expect(planDifferences(plan, unhidden(plan, otherHidden)).map(({ path }) => path)).to.include(
      '--forge1-app-client-id',
    );
  });
});
