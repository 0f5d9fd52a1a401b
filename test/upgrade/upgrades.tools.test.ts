import { onMachines, upgradesHoldOnMachines } from './upgrades.js';

/** Of the places where a step on machines begins or ends, or a job of one has just begun: some. */
upgradesHoldOnMachines(onMachines, 7);
