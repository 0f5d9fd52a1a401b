/** Slow keys hold up nobody: fifty bootstraps at once. */
import { describeSlowKeys } from './slow-keys.js';

describeSlowKeys(50);
