import { expect } from 'chai';
import { createGraph } from '../../functions/engine/graph.js';
import { planOf, readyIn } from '../../functions/engine/plan.js';
import { planOfRecord } from '../../functions/engine/record/plan-of-record.js';
import { type AnyStep, type Needs, of, type PlanFacts } from '../../functions/engine/step.js';
import type { BootstrapOptions } from '../../shared/bootstrap/options.js';
import { letters, numbers, toy } from './toys.js';
import { createWorld } from './world.js';

const facts: PlanFacts = { options: {} as BootstrapOptions, machineAccess: 'direct' };
const world = createWorld();
const needsOf = (steps: readonly AnyStep[]): Record<string, readonly string[]> =>
  Object.fromEntries([...planOf(createGraph(steps), facts).values()].map(({ id, needs }) => [id, needs]));

const { options } = facts;

describe('the plan', () => {
  const project = toy(world, 'project');
  const vm = toy(world, 'vm', { each: letters, needs: { project } });

  it('has an instance for each key, and edges to what it needs', () => {
    expect(needsOf([project, vm])).to.deep.equal({
      project: [],
      'vm:a': ['project'],
      'vm:b': ['project'],
      'vm:c': ['project'],
    });
  });

  it('meets key by key where both have the same family', () => {
    const host = toy(world, 'host', { each: letters, needs: { vm } });
    expect(needsOf([project, vm, host])).to.include.deep.keys('host:b');
    expect(needsOf([project, vm, host])['host:b']).to.deep.equal(['vm:b']);
  });

  it('needs all instances of another family', () => {
    const dc = toy(world, 'dc', { each: numbers, needs: { vm } });
    expect(needsOf([project, vm, dc])['dc:2']).to.deep.equal(['vm:a', 'vm:b', 'vm:c']);
  });

  it('needs the chosen instances of a selection', () => {
    const dc = toy(world, 'dc', {
      each: numbers,
      needs: { vm: of(vm, (_, key) => (key === '1' ? ['a'] : ['b', 'c'])) },
    });
    const edges = needsOf([project, vm, dc]);
    expect([edges['dc:1'], edges['dc:2']]).to.deep.equal([['vm:a'], ['vm:b', 'vm:c']]);
  });

  it('refuses a selection of a key that is not there', () => {
    const dc = toy(world, 'dc', { needs: { vm: of(vm, () => ['z']) } });
    expect(() => needsOf([project, vm, dc])).to.throw('dc needs vm of z');
  });

  it('leaves out steps that do not apply, and the needs for them', () => {
    const off = toy(world, 'off', { when: () => false });
    const last = toy(world, 'last', { needs: { off, project } });
    expect(needsOf([off, project, last])).to.deep.equal({ project: [], last: ['project'] });
  });

  it('has every step with an undo once its record says that it goes', () => {
    const undone = { ...toy(world, 'off', { when: () => false }), goes: 'undo', undo: async () => ({ kind: 'done' }) };
    const steps = [project, undone as AnyStep, toy(world, 'never', { when: () => false })];
    const removal = { requestedAt: '2026-01-01T00:00:00.000Z', by: 'cleanup', why: 'expired', failures: 0 } as const;
    expect([...planOfRecord(steps, { options }).keys()]).to.deep.equal(['project']);
    expect([...planOfRecord(steps, { options, removal }).keys()]).to.deep.equal(['project', 'off']);
  });

  it('puts what is needed first, whatever the reading order', () => {
    expect(Object.keys(needsOf([vm, project]))).to.deep.equal(['project', 'vm:a', 'vm:b', 'vm:c']);
  });

  for (const [title, steps, message] of [
    ['two steps of one name', () => [toy(world, 'a'), toy(world, 'a')], 'Two steps are named a'],
    ['a name that cannot be stored', () => [toy(world, 'A~b')], 'may not be named'],
    ['a need for a step that is not in the list', () => [vm], 'vm needs project'],
    [
      'a circle',
      () => {
        const needs: Record<string, AnyStep> = {};
        const a = toy(world, 'a', { needs: needs as Needs });
        const b = toy(world, 'b', { needs: { a } });
        needs['b'] = b;
        return [a, b];
      },
      'a → b → a',
    ],
    [
      'an undo that is never called',
      () => [{ ...toy(world, 'a'), undo: async () => ({ kind: 'done' }) } as AnyStep],
      'goes by project',
    ],
  ] as const) {
    it(`refuses ${title}`, () => {
      expect(() => createGraph(steps())).to.throw(message);
    });
  }

  const plan = planOf(createGraph([project, vm]), facts);
  for (const [title, states, ready] of [
    ['nothing stands', {}, ['project']],
    ['what is needed runs', { project: 'ready' }, []],
    ['what is needed is done', { project: 'done', 'vm:b': 'ready' }, ['vm:a', 'vm:c']],
    ['what is needed failed', { project: 'failed' }, []],
  ] as const) {
    it(`knows what is ready when ${title}`, () => {
      const records = Object.fromEntries(Object.entries(states).map(([id, state]) => [id, { state }]));
      expect(readyIn(plan, records).map(({ id }) => id)).to.deep.equal(ready);
    });
  }
});
