/**
 * The laws of teardown at chosen moments: where the project is made, and some of the others. The project is the one that leaves
 * most elsewhere.
 */
import { sharedZone, teardownEnds } from './teardown.js';

teardownEnds([sharedZone], (nth, of) => (nth >= 4 && nth <= 9) || (nth * 7919) % of < 3);
