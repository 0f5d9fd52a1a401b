/** Bootstraps that go on to their machines, in one process: some mishaps by name, and a few seeds. Nights play more. */
import { expect } from 'chai';
import { installs, playBootstraps } from './bootstraps.js';
import type { BootstrapsItem, Mishap } from './bootstraps-plan.js';
import { findsNothing, firstSeed } from './hunt.js';

const seeds = 4;

const begin = (name: string, atSeconds: number, variant: number): BootstrapsItem => ({
  kind: 'do',
  what: 'begin',
  name,
  atSeconds,
  variant,
});

describe('whole bootstraps with an install, whoever goes on, dies or fails at every moment', () => {
  it(`come to their end under ${seeds} seeds, and no job runs again (PLINTH_TEST_SEED=${firstSeed})`, async function () {
    this.timeout(900_000);
    await findsNothing(installs, (played) => played < seeds);
  });

  const mishap = (machine: string, atSeconds: number, how: Mishap['how']): BootstrapsItem => ({
    kind: 'mishap',
    machine,
    atSeconds,
    how,
  });
  const plays: readonly (readonly [what: string, state: string, mishaps: readonly BootstrapsItem[]])[] = [
    [
      'machines restart and cannot be reached',
      'succeeded',
      [mishap('jumpbox', 500, 'restarts'), mishap('k0s-2', 280, 'is away')],
    ],
    ['a machine shows the key of another', 'failed', [mishap('k0s-2', 240, 'is another')]],
    ['a job fails', 'failed', [mishap('jumpbox', 240, 'fails')]],
  ];
  for (const [what, state, mishaps] of plays) {
    it(`install a platform, and are ${state} where ${what}`, async () => {
      const share = { kind: 'do', what: 'share', name: 'first', atSeconds: 3000, variant: 0 } as const;
      const { timeline, faults } = await playBootstraps(7, [
        begin('first', 0, 2),
        share,
        { kind: 'machines' },
        ...mishaps,
      ]);
      expect(faults).to.deep.equal([]);
      expect(timeline.join('\n')).to.include(`alice: hears that first is ${state} until`);
    }).timeout(60_000);
  }
});
