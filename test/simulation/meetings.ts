/** Plays in which two things meet that hardly ever do, for tests that play each once, and for nights. */
import type { Acting, BootstrapsItem, Doing, Mishap, Teaming } from './bootstraps-plan.js';

/** `seeds`: those that found it, or others that meet it. The first one finds the planted fault, if one names the play. */
type Meeting = readonly [what: string, items: readonly BootstrapsItem[], seeds: readonly [number, ...number[]]];

/** Where nobody knows of better ones. */
const usual = [1, 2, 3] as const;

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

export const races: readonly Meeting[] = [
  [
    'two projects of one owner live longer at once: both are counted',
    [
      ...[at(0, 'begin', 'first'), at(1, 'begin', 'second')],
      ...[at(700, 'extend', 'first', 2), at(700.1, 'extend', 'second', 2)],
      ...[at(800, 'protect', 'first', 2), at(800.05, 'protect', 'second', 2)],
    ],
    [2, 1, 3],
  ],
  [
    'one begins as another is extended and an operator stops new ones: it is counted, or refused',
    [
      ...[at(0, 'begin', 'first'), at(99.5, 'begin', 'second')],
      ...[at(99.9, 'stop', 'first'), at(100, 'extend', 'first', 2)],
    ],
    usual,
  ],
  [
    'functions hear late of what they did: none of them ends what another has taken',
    [at(0, 'begin', 'first'), ...[150, 200, 250, 300, 350, 400].map(late)],
    usual,
  ],
  [
    'one is cancelled as its addresses are made: what is there costs, and is in the estimate',
    [at(18, 'begin', 'first', 5), at(139.5664421962574, 'cancel', 'first'), { kind: 'order', withinSeconds: 1 }],
    [3229],
  ],
  [
    'one is shared no more as Google still gives the role: nobody has it for long',
    [at(0, 'begin', 'first'), at(1200, 'share', 'first'), at(1215, 'unshare', 'first'), { kind: 'slow policies' }],
    usual,
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
    usual,
  ],
  [
    'one is cancelled as its VMs are made: what is there costs, and is in the estimate',
    [at(0, 'begin', 'first'), at(167, 'cancel', 'first')],
    usual,
  ],
  [
    'one is cancelled as VMs are made that find no room: what never came costs nothing',
    [{ kind: 'cloud', is: 'VMs meet stockouts' }, at(0, 'begin', 'first'), at(164, 'cancel', 'first')],
    [2, 10, 11],
  ],
];

const jumpbox = (atSeconds: number, how: Mishap['how']): BootstrapsItem => ({
  ...{ kind: 'mishap', machine: 'jumpbox' },
  ...{ atSeconds, how },
});

export const installRaces: readonly Meeting[] = [
  [
    'the jumpbox is away for three minutes: the install waits, and goes on',
    [{ kind: 'machines' }, at(0, 'begin', 'first', 2), jumpbox(300, 'is away'), jumpbox(385, 'is away')],
    [1, 4],
  ],
  [
    'an install is resumed as its package comes: what has come is not fetched again',
    [{ kind: 'machines' }, at(0, 'begin', 'first', 2), at(560, 'resume', 'first', 1), at(500, 'resume', 'first', 1)],
    [1],
  ],
  [
    'the jumpbox restarts between two looks at the package that comes: its address is given again, as it was in memory',
    [{ kind: 'machines' }, at(0, 'begin', 'first', 2), jumpbox(500, 'restarts')],
    [2],
  ],
];
