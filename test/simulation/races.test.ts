/** Plays of bootstraps in which two things meet that hardly ever do: each under several seeds. */
import { expect } from 'chai';
import { playBootstraps } from './bootstraps.js';
import type { Acting, BootstrapsItem, Doing } from './bootstraps-plan.js';

const at = (atSeconds: number, what: Doing, name: string, variant = 0): Acting => ({
  kind: 'do',
  what,
  name,
  atSeconds,
  variant,
});
const late = (nth: number): BootstrapsItem => ({ kind: 'call', nth, how: 'is late after' });

const plays: readonly (readonly [what: string, items: readonly BootstrapsItem[]])[] = [
  [
    'two projects of one owner live longer at once: both are counted',
    [
      ...[at(0, 'begin', 'first'), at(1, 'begin', 'second')],
      ...[at(700, 'extend', 'first', 2), at(700.1, 'extend', 'second', 2)],
      ...[at(800, 'protect', 'first', 2), at(800.05, 'protect', 'second', 2)],
    ],
  ],
  [
    'one begins as another is extended and an operator stops new ones: it is counted, or refused',
    [
      ...[at(0, 'begin', 'first'), at(99.5, 'begin', 'second')],
      ...[at(99.9, 'stop', 'first'), at(100, 'extend', 'first', 2)],
    ],
  ],
  [
    'functions hear late of what they did: none of them ends what another has taken',
    [at(0, 'begin', 'first'), ...[150, 200, 250, 300, 350, 400].map(late)],
  ],
];

describe('bootstraps in which things meet', () => {
  for (const [what, items] of plays) {
    it(what, async () => {
      for (const seed of [1, 2, 3]) {
        const { faults } = await playBootstraps(seed, items);
        expect(faults).to.deep.equal([]);
      }
    }).timeout(60_000);
  }
});
