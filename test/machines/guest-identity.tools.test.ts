import { itKnowsItself } from './guest-identity.js';
import { type MachineWorld, machineWorld } from './machine-world.js';

describe('the metadata server of a simulated VM', function () {
  this.timeout(240_000);
  let world: MachineWorld;
  before(async () => {
    world = await machineWorld();
  });
  after(() => world?.close());

  itKnowsItself(() => world);
});
