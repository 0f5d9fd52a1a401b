import { onMachines, upgradesHold, upgradesHoldOnMachines } from './upgrades.js';

upgradesHold(() => true);
upgradesHoldOnMachines(onMachines, 100);
