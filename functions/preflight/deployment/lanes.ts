/** Whether the lanes answer. An answer proves topic, trigger, function, identity and store at once. */
import { type FunctionName, functionAccountId, functionNames, type Lane } from '../../../shared/names.js';
import { Problem } from '../../../shared/problems.js';
import { defineFinding, ok, stop } from '../finding.js';
import { applyTerraform, triggersOf } from './mends.js';

/** The function that answers for each lane. */
export const functionsOf: Readonly<Record<Lane, FunctionName>> = {
  cloud: functionNames.runCloudStep,
  host: functionNames.runHostStep,
};

const laneOf = (lane: Lane, why: string) =>
  defineFinding({
    code: `${lane}-lane`,
    title: lane === 'cloud' ? 'Cloud lane' : 'Host lane',
    why,
    by: lane === 'cloud' ? 'lane' : 'host-lane',
    about: [],
    /** Only whoever answers knows who that is. */
    ask: async ({ context: { config } }) => ({
      identity: config.serviceAccount.split('@')[0] ?? '',
      advice: `${applyTerraform}, and look at what each trigger calls: ${triggersOf(config)}`,
    }),
    judge({ identity, advice }) {
      const expected = functionsOf[lane];
      if (identity === 'default' || identity === functionAccountId(expected)) return ok('it answers');
      const other = Object.values(functionNames).find((name) => functionAccountId(name) === identity) ?? identity;
      const what = `Messages of the ${lane} lane reach the function ${other}, not ${expected}.`;
      return stop(new Problem('unavailable', what, { advice }));
    },
  });

export const cloudLane = laneOf(
  'cloud',
  'Without its trigger (Eventarc), topic and identity no step that calls Google runs.',
);
export const hostLane = laneOf('host', 'Without its trigger (Eventarc), topic and identity no step on machines runs.');
