import { upgradesHold } from './upgrades.js';

upgradesHold(() => true);
