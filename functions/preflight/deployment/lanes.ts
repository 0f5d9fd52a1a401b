/**
 * Whether the messages of both topics reach their functions. Each function writes down when it took one. Where none came of
 * late, one that names no bootstrap is sent: it proves topic, trigger, function, identity and store at once.
 */
import { type FunctionName, functionNames, type Lane, topics } from '../../../shared/names.js';
import { Problem } from '../../../shared/problems.js';
import { type Asking, defineFinding, ok, stop } from '../../engine/finding.js';
import { applyTerraform, logsOf, triggersOf } from './mends.js';
import { handledMs, reportOf } from './reports.js';

/** The function that takes the messages of each lane. */
const functionsOf: Readonly<Record<Lane, FunctionName>> = {
  cloud: functionNames.runCloudStep,
  host: functionNames.runHostStep,
};

/** The function may have to start. */
const answerSeconds = 15;
const pauseSeconds = 0.1;

interface Heard {
  /** The function that took the last message. Undefined: none has taken one. */
  readonly by?: FunctionName;
  readonly at: string;
  /** Why nothing was heard of late. */
  readonly why?: string;
}

/** Asked once for all findings that need it. */
export const hear = (asking: Asking, lane: Lane): Promise<Heard> =>
  asking.once(`${lane} lane`, () => listen(asking.context, lane));

async function listen(context: Asking['context'], lane: Lane): Promise<Heard> {
  try {
    return await lastAfterOne(context, lane);
  } catch (error) {
    if (error instanceof Problem) return { at: '', why: error.detail };
    throw error;
  }
}

async function lastAfterOne(context: Asking['context'], lane: Lane): Promise<Heard> {
  const { clock, publisher } = context;
  const before = await lastOf(context, lane);
  // Twice as long as a function says nothing new, as clocks differ.
  if (clock.now().getTime() - Date.parse(before.at) < 2 * handledMs) return before;
  await publisher.publish(lane, [{ schema: 1, bootstrapId: 'nobody', instance: 'nothing', generation: 1 }]);
  for (let waited = 0; waited < answerSeconds; waited += pauseSeconds) {
    await clock.pause(pauseSeconds);
    const now = await lastOf(context, lane);
    if (now.at > before.at) return now;
  }
  return { ...before, why: `the ${lane} lane has not answered within ${answerSeconds} s` };
}

/** Whichever function took it. */
async function lastOf(context: Asking['context'], lane: Lane): Promise<Heard> {
  const reports = await Promise.all(
    Object.values(functionsOf).map(async (by) => ({
      by,
      at: (await reportOf(context, by))?.handled[topics[lane]] ?? '',
    })),
  );
  return reports.reduce((last, each) => (each.at > last.at ? each : last), { at: '' } as Heard);
}

const laneOf = (lane: Lane, why: string) =>
  defineFinding({
    code: `${lane}-lane`,
    title: lane === 'cloud' ? 'Cloud lane' : 'Host lane',
    why,
    by: 'bootstraps',
    about: [],
    // Without machines nothing is sent to the host lane, and its function may not be there.
    when: ({ intent: { machines } }) => lane === 'cloud' || machines,
    async ask(asking) {
      const { config } = asking.context;
      return { heard: await hear(asking, lane), triggers: triggersOf(config), logs: logsOf(functionsOf[lane], config) };
    },
    judge({ heard: { by, why: silent }, triggers, logs }) {
      const expected = functionsOf[lane];
      if (silent !== undefined) {
        const advice = `See whether its trigger (Eventarc) is there: ${triggers}\nThen look at the log of its function: ${logs}`;
        return stop(new Problem('unavailable', `${silent}.`, { advice }));
      }
      if (by === expected) return ok('it answers');
      const advice = `${applyTerraform}, and look at what each trigger calls: ${triggers}`;
      const what = `Messages of the ${lane} lane reach the function ${by}, not ${expected}.`;
      return stop(new Problem('unavailable', what, { advice }));
    },
  });

export const cloudLane = laneOf(
  'cloud',
  'Without its trigger (Eventarc), topic and identity no step that calls Google runs.',
);
export const hostLane = laneOf('host', 'Without its trigger (Eventarc), topic and identity no step on machines runs.');
