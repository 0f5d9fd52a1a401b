/** Whole bootstraps with their removal, in one process, from a seed. */
import { expect } from 'chai';
import { bootstraps, playBootstraps } from './bootstraps.js';
import type { BootstrapsItem, DifficultyName, Mishap } from './bootstraps-plan.js';
import { firstSeed, hunt, inWords } from './hunt.js';

/** Each Node that is supported plays as many: more than 200 in all before a change lands. */
const seeds = 70;

const begin = (name: string, atSeconds: number, variant: number): BootstrapsItem => ({
  kind: 'do',
  what: 'begin',
  name,
  atSeconds,
  variant,
});

/** What the owner hears half an hour later. With standard VMs, but where spot ones are to be taken away. */
const heard: Readonly<Record<DifficultyName, 'succeeded' | 'running' | 'failed'>> = {
  'VMs meet stockouts': 'succeeded',
  'spot VMs are taken away': 'succeeded',
  'there are few CPUs': 'failed',
  'more CPUs come late': 'failed',
  'the organization forbids much': 'failed',
  'grants spread slowly': 'succeeded',
  'services spread slowly': 'succeeded',
  'services are never there': 'running',
  'machines come slowly': 'succeeded',
  'projects come late': 'succeeded',
  'searches lag behind': 'succeeded',
};

describe('whole bootstraps, whoever goes on, dies or fails at every moment', () => {
  it(`come to their end under ${seeds} seeds, and nothing is left (PLINTH_TEST_SEED=${firstSeed})`, async function () {
    this.timeout(900_000);
    const hunted = await hunt(bootstraps, { from: firstSeed, goesOn: (played) => played < seeds });
    if (hunted.found !== undefined) expect.fail(inWords(bootstraps, hunted.found));
  });

  it('tells what happened, in words', async () => {
    const { timeline, faults } = await playBootstraps(7, [begin('first', 0, 0)]);
    expect(faults).to.deep.equal([]);
    expect(timeline[0]).to.equal('00:00:00.000 alice: asks to begin first (0)');
    expect(timeline.join('\n')).to.match(
      /run-cloud-step: b\w+ project: done\n(.|\n)*cloud: project first-\w+ is deleted\n/,
    );
  }).timeout(60_000);

  const mishap = (machine: string, atSeconds: number, how: Mishap['how']): BootstrapsItem => ({
    kind: 'mishap',
    machine,
    atSeconds,
    how,
  });
  const installs: readonly (readonly [what: string, state: string, mishaps: readonly BootstrapsItem[]])[] = [
    [
      'machines restart and cannot be reached',
      'succeeded',
      [mishap('jumpbox', 500, 'restarts'), mishap('k0s-2', 280, 'is away')],
    ],
    ['a machine shows the key of another', 'failed', [mishap('k0s-2', 240, 'is another')]],
    ['a job fails', 'failed', [mishap('jumpbox', 240, 'fails')]],
  ];
  for (const [what, state, mishaps] of installs) {
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

  for (const [is, state] of Object.entries(heard) as [DifficultyName, string][]) {
    it(`${state === 'succeeded' ? 'succeed' : `are ${state}`} after half an hour where ${is}, and end`, async () => {
      const share = { kind: 'do', what: 'share', name: 'first', atSeconds: 1800, variant: 0 } as const;
      const variant = is === 'spot VMs are taken away' ? 3 : 0;
      const { timeline, faults } = await playBootstraps(8, [begin('first', 0, variant), share, { kind: 'cloud', is }]);
      expect(faults).to.deep.equal([]);
      expect(timeline.join('\n')).to.include(`alice: hears that first is ${state} until`);
    }).timeout(60_000);
  }
});
