/** Whoever writes whatever labels, and mangles whatever records: what must not be deleted is not, and what must be is. */
import { itNeverDeletesTheWrongOne } from './tampered-property.js';

itNeverDeletesTheWrongOne(20);
