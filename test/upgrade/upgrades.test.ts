import { upgradesHold } from './upgrades.js';

/** Of the commits that are the first to claim, or to end, an instance of a step: some. Nights play from all places. */
upgradesHold({ chosen: (firsts) => firsts.some((each) => / (?:running|ended)$/.test(each)), most: 5 });
