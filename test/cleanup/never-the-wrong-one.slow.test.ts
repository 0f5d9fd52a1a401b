/** The same as the short test, many times. */
import { itNeverDeletesTheWrongOne } from './tampered-property.js';

itNeverDeletesTheWrongOne(500);
