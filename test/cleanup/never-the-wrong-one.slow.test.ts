/** The property of cleanup over the whole function, in many tampered worlds. */
import { itNeverDeletesTheWrongOne } from './tampered-property.js';

itNeverDeletesTheWrongOne(500);
