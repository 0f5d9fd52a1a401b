/**
 * The property of cleanup over the whole function, briefly. PLINTH_CLEANUP_SEED and PLINTH_CLEANUP_RUNS choose what it tries,
 * PLINTH_CLEANUP_SHRINK=1 looks for the smallest world that fails.
 */
import { itNeverDeletesTheWrongOne } from './tampered-property.js';

itNeverDeletesTheWrongOne(40);
