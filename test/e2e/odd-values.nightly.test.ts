/** Odd values that only the command line itself may change: of files, odd-spellings.test.ts sends them, too. */
import { describeOddValues } from './odd-values-played.js';

describeOddValues(['dash', 'equals', 'comma', 'spaces']);
