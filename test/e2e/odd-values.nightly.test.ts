/** Odd values that only the command line itself may change: of files, odd-spellings.test.ts sends them, too. */
import { playOddValues } from './odd-values-played.js';

describe('odd values of flags', function () {
  this.timeout(240_000);
  playOddValues(['dash', 'equals', 'comma', 'spaces']);
});
