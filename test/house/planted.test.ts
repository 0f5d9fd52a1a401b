/** Faults that are planted each night: each finds its place in the sources, so that a change elsewhere cannot disarm it. */
import { resolve } from 'node:path';
import { expect } from 'chai';
import { faults } from '../planted/faults.js';
import { guards } from '../planted/guards.js';
import { schedules } from '../planted/schedules.js';
import { placesOf, sourcesIn } from '../planted/sources.js';

describe('a planted fault', () => {
  const sources = sourcesIn(resolve(import.meta.dirname, '../../..'));
  for (const { name, edits } of [...faults, ...guards, ...schedules]) {
    it(`has its place: ${name}`, () => {
      for (const { find } of edits) expect(placesOf(sources, find), find).to.have.length(1);
    });
  }
});
