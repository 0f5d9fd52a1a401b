/** One turn of an instance: observe, and run once if something is missing. */
import { Problem } from '../../../shared/problems.js';
import { type Instance, titleOf } from '../plan.js';
import type { BootstrapRecord } from '../record/documents.js';
import type { Resolution } from '../record/transition.js';
import type { StepCall } from '../step.js';

/** The step has not finished and wants another turn. */
interface Again {
  readonly state: 'again';
  readonly seconds: number;
  readonly note: string;
  readonly patienceSeconds?: number | undefined;
  readonly ended?: (() => Promise<void>) | undefined;
}
export type Turn = Resolution | Again;

export interface TurnParts {
  readonly instance: Instance;
  readonly call: StepCall;
  readonly record: BootstrapRecord;
}

/** How often in one generation an instance may send back what it needs. */
const maxRechecks = 5;

/** Errors of the step come out unchanged. */
export async function makeTurn(parts: TurnParts): Promise<Turn> {
  const { instance, call } = parts;
  const standing = await look(parts);
  if (standing !== undefined) return standing;
  const outcome = await instance.step.run(call);
  if (outcome.kind === 'again') return comeBack(outcome);
  if (outcome.kind === 'needsClient') return { state: 'client', note: outcome.what };
  if (outcome.kind === 'recheck') return recheck(parts, outcome.needs, outcome.problem);
  const made = await look(parts);
  if (made !== undefined) return made;
  throw new Problem('cloud-propagation', `${titleOf(instance)} was made, but cannot be seen yet.`);
}

/** Undefined: something is missing. */
async function look({ instance: { step }, call }: TurnParts): Promise<Resolution | undefined> {
  const seen = await step.observe(call);
  if (seen === undefined) return undefined;
  const output = step.output.parse(seen);
  const [note, warning] = [step.summary?.(output), step.warning?.(output)];
  return {
    state: 'done',
    output,
    ...(note === undefined ? {} : { note }),
    ...(warning === undefined ? {} : { warning }),
  };
}

const comeBack = ({ seconds, note, patienceSeconds, ended }: Omit<Again, 'state'>): Again => ({
  state: 'again',
  seconds,
  note,
  patienceSeconds,
  ended,
});

/**
 * Limited: what comes and goes again and again is a failure that a person must see. It is the step's own failure, with as many
 * retries as that gets.
 */
function recheck(
  { instance: { id, fillings }, record }: TurnParts,
  needs: readonly string[],
  problem: Problem,
): Resolution {
  if ((record.instances[id]?.rechecks ?? 0) >= maxRechecks) {
    const { code, detail, advice, retryAfterSeconds, members } = problem;
    const often = `${detail} What it needs was looked at ${maxRechecks} times, and it was the same each time.`;
    throw new Problem(code, often, {
      cause: problem,
      ...(advice === undefined ? {} : { advice }),
      ...(retryAfterSeconds === undefined ? {} : { retryAfterSeconds }),
      ...(members === undefined ? {} : { members }),
    });
  }
  const ids = needs.flatMap((need) => {
    const filling = fillings[need];
    if (filling?.kind === 'one') return [filling.id];
    return filling?.kind === 'byKey' ? Object.values(filling.ids) : [];
  });
  return { state: 'waiting', recheck: ids, note: problem.detail };
}

/** Removes what the instance made. */
export async function makeUndoTurn({ instance: { id, step }, call, record }: TurnParts): Promise<Turn> {
  const output = step.output.safeParse(record.instances[id]?.output).data;
  const outcome = await step.undo?.({ ...call, output });
  if (outcome?.kind === 'again') return comeBack(outcome);
  const note = outcome?.kind === 'done' ? outcome.note : undefined;
  return { state: 'gone', ...(note === undefined ? {} : { note }) };
}
