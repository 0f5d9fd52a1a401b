/** The laws of teardown at chosen moments: where the project is made, and some of the others. */
import { teardownEnds } from './teardown.js';

teardownEnds((nth, of) => (nth >= 4 && nth <= 9) || (nth * 7919) % of < 3);
