/** Slow keys hold up nobody: three bootstraps at once, nightly fifty. */
import { describeSlowKeys } from './slow-keys.js';

describeSlowKeys(3);
