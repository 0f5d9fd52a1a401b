import { upgradesHold } from './upgrades.js';

/** After each commit that is the first to claim, or to end, an instance of a step. */
upgradesHold((firsts) => firsts.some((each) => / (?:running|ended)$/.test(each)));
