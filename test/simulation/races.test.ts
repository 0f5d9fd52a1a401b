/** Plays of bootstraps in which two things meet that hardly ever do: each under several seeds. */
import { expect } from 'chai';
import { playBootstraps } from './bootstraps.js';
import type { Acting, BootstrapsItem, Doing, Teaming } from './bootstraps-plan.js';

const at = (atSeconds: number, what: Doing, name: string, variant = 0): Acting => ({
  kind: 'do',
  what,
  name,
  atSeconds,
  variant,
});
const team = (atSeconds: number, what: Teaming['what'], of: Teaming['team']): Teaming => ({
  ...{ kind: 'team', what, atSeconds },
  team: of,
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
    'one is shared no more as Google still gives the role: nobody has it for long',
    [at(0, 'begin', 'first'), at(1200, 'share', 'first'), at(1215, 'unshare', 'first'), { kind: 'slow policies' }],
  ],
  [
    'a team moves and back as its bootstraps are made, cancelled and removed: roles and counts follow',
    [
      ...[at(0, 'begin', 'first'), at(1, 'begin', 'second', 1)],
      { kind: 'teams', outside: 'alice@example.com', living: 1 },
      ...[team(20, 'migrate', 'alpha'), team(60, 'undo', 'alpha'), team(100, 'migrate', 'beta')],
      ...[at(130, 'cancel', 'second'), team(130, 'undo', 'beta'), team(1300, 'migrate', 'alpha')],
      ...[at(2800, 'remove', 'first'), team(2800.5, 'undo', 'alpha')],
    ],
  ],
  [
    'one is cancelled as its VMs are made: what is there costs, and is in the estimate',
    [at(0, 'begin', 'first'), at(167, 'cancel', 'first')],
  ],
  [
    'one is cancelled as VMs are made that find no room: what never came costs nothing',
    [{ kind: 'cloud', is: 'VMs meet stockouts' }, at(0, 'begin', 'first'), at(164, 'cancel', 'first')],
    [2, 10, 11],
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
