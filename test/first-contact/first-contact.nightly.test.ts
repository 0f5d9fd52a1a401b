/** `npm run first-contact` in the worlds, and stopped in the ways, that the test by day leaves out. */
import { goesWhenStopped, holdsIn } from './in-worlds.js';

describe('first contact, by night', function () {
  this.timeout(240_000);

  for (const world of ['fresh', 'hardened'] as const) {
    it(`holds in the world ${world}, removes what it made, and tells in its recording of nobody`, async () => {
      await holdsIn(world);
    });
  }

  for (const [how, way] of [
    ['SIGTERM', { signal: 'SIGTERM' }],
    ['SIGHUP', { signal: 'SIGHUP' }],
    ['Ctrl-C that ends its reader, too', { signal: 'SIGINT', hangUp: true }],
  ] as const) {
    it(`removes what it made when it is stopped by ${how}`, () => goesWhenStopped(way));
  }
});
