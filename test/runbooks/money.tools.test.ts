/** The page of what costs too much, walked at a bootstrap whose VMs were stopped for it. */
import { expect } from 'chai';
import { functionNames } from '../../shared/names.js';
import { succeeded } from '../support/scene.js';
import { type Desk, openDesk } from './desk.js';

describe('runbooks of money', function () {
  this.timeout(300_000);
  let desk: Desk;
  before(async () => {
    desk = await openDesk({ settings: { PLINTH_BEYOND_CEILING: 'stop', PLINTH_USD_PER_HOUR: '50' } });
  });
  after(() => desk?.close());

  /** As an operator who deploys another ceiling. */
  function ceiling(usd: number): void {
    for (const name of Object.values(functionNames)) {
      const { ceilings } = desk.scene.stack.functionsHalf?.contextOf(name).config ?? {};
      Object.assign(ceilings ?? {}, { microsAnHour: usd * 1_000_000 });
    }
  }

  it('costs-too-much: its price is told, its VMs start beneath a higher ceiling, and it is removed', async () => {
    // Standard VMs come in the place of spot ones.
    desk.scene.cloud.faults.stockout({ name: '*', provisioning: 'SPOT' });
    const { id, projectId } = succeeded(await desk.alice.bootstrap('dear', { 'spot-vms': true, 'project-ttl': '8h' }));
    ceiling(1.5);
    await desk.life.change(id, { fuseAt: new Date().toISOString() });
    await desk.life.swept();
    await desk.life.swept();
    let restarted: unknown;
    const { said, asked } = await desk.walk(
      'costs-too-much',
      { NAME: projectId },
      {
        1: () => ceiling(3),
        2: async () => {
          restarted = (await desk.find(projectId)).vmsStopped;
        },
      },
    );
    expect(said[0])
      .to.contain('VMs stopped')
      .and.to.contain('1.50 is the most here')
      .and.to.contain(`restart-vms ${projectId}`);
    expect(restarted).to.equal(undefined);
    expect(asked).to.deep.equal(['POST logging.googleapis.com/v2/entries:list']);
    await desk.until('it is removed', async () => (await desk.find(projectId)).state === 'removed');
  });
});
