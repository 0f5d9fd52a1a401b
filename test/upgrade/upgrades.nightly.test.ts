import { onMachines, upgradesHold, upgradesHoldOnMachines } from './upgrades.js';

upgradesHold({ chosen: () => true, most: Number.POSITIVE_INFINITY });
upgradesHoldOnMachines(onMachines, 100);
