/** The laws of teardown at every moment. */
import { teardownEnds } from './teardown.js';

teardownEnds(() => true);
