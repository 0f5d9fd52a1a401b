/** Whole bootstraps with their removal, in one process, each with one difficulty. */
import { expect } from 'chai';
import { playBootstraps } from './bootstraps.js';
import type { BootstrapsItem, DifficultyName } from './bootstraps-plan.js';

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

describe('whole bootstraps in a cloud that makes it hard', () => {
  it('tells what happened, in words', async () => {
    const { timeline, faults } = await playBootstraps(7, [begin('first', 0, 0)]);
    expect(faults).to.deep.equal([]);
    expect(timeline[0]).to.equal('00:00:00.000 alice: asks to begin first (0)');
    expect(timeline.join('\n')).to.match(
      /run-cloud-step: b\w+ project: done\n(.|\n)*cloud: project first-\w+ is deleted\n/,
    );
  }).timeout(60_000);

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
