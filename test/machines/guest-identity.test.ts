import { itKnowsItself } from './guest-identity.js';
import { type MachineWorld, machineWorld } from './machine-world.js';

describe('the metadata server of a simulated VM', function () {
  this.timeout(120_000);
  let world: MachineWorld;
  before(async function () {
    world = await machineWorld(this);
  });
  after(() => world?.close());

  itKnowsItself(() => world);
});
