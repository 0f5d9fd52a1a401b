/** Each bad value alone, in the worlds in which preflight.test.ts tries none. */
import { worldNames } from '../../local/cloud/worlds/table.js';
import { describeBadInstalls, describeBadValues } from './bad-values-in-world.js';

for (const world of worldNames.filter((each) => each !== 'seasoned')) {
  describeBadValues(world);
  describeBadInstalls(world);
}
