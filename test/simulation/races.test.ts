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

/** Each is played with the seeds from 1 to 3, or with those that found it. */
const plays: readonly (readonly [what: string, items: readonly BootstrapsItem[], seeds?: readonly number[]])[] = [
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
  [
    'one is cancelled as its addresses are made: what is there costs, and is in the estimate',
    [at(18, 'begin', 'first', 5), at(139.5664421962574, 'cancel', 'first'), { kind: 'order', withinSeconds: 1 }],
    [3229],
  ],
  [
    'one is cancelled as its VMs are made: what is there costs, and is in the estimate',
    [at(0, 'begin', 'first'), at(167, 'cancel', 'first')],
  ],
];

describe('bootstraps in which things meet', () => {
  for (const [what, items, seeds = [1, 2, 3]] of plays) {
    it(what, async () => {
      for (const seed of seeds) {
        const { faults } = await playBootstraps(seed, items);
        expect(faults).to.deep.equal([]);
      }
    }).timeout(60_000);
  }
});
