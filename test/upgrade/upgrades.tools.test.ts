import { upgradesHoldOnMachines } from './upgrades.js';

/** Where a step on machines begins or ends, or a job of one has just begun: some of these places. */
upgradesHoldOnMachines((firsts) => firsts.some((each) => / (?:running|ended|begun)$/.test(each)), 8);
