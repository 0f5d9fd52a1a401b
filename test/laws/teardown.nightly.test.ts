/** The laws of teardown at every moment, with a zone of its own and with one that others have records in. */
import { ownZone, sharedZone, teardownEnds } from './teardown.js';

teardownEnds([ownZone, sharedZone], () => true);
