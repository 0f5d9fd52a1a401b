/** What functions have reported of their rights, as the findings of `plinth doctor --deployment`. */
import { schedulerJobs } from '../../../shared/names.js';
import { Problem } from '../../../shared/problems.js';
import type { Asking, Finding, Reporter, Verdict } from '../../engine/finding.js';
import { type Found, foundAs } from '../look.js';
import { fromWire } from '../wire.js';
import { hear } from './lanes.js';
import { applyTerraform, logsOf } from './mends.js';
import { reportOf, restMs } from './reports.js';

/** What was reported is old after this. */
const freshMs = 3_600_000;

/** What a function reported of these findings. */
export async function reported(
  name: Reporter,
  findings: readonly Finding[],
  asking: Asking,
): Promise<readonly Found[]> {
  if (findings.length === 0) return [];
  const verdictOf = name === 'run-host-step' ? await ofHostLane(asking) : await ofSchedule(name, asking);
  return findings.map((finding) => foundAs(finding, verdictOf(finding)));
}

/** It reports with the first message after a while, and one is on its way to it. */
async function ofHostLane(asking: Asking): Promise<(finding: Finding) => Verdict> {
  const { why } = await hear(asking, 'host');
  const report = await reportOf(asking.context, 'run-host-step');
  return ({ code }) => {
    const verdict = report?.verdicts[code];
    if (why !== undefined || verdict === undefined) {
      return { state: 'unknown', what: why ?? 'run-host-step has not looked at it yet' };
    }
    return fromWire(verdict);
  };
}

/** Only Cloud Scheduler calls it. */
async function ofSchedule(
  name: Exclude<Reporter, 'run-host-step'>,
  { context }: Asking,
): Promise<(finding: Finding) => Verdict> {
  const { cloud, config, clock } = context;
  const [report, job] = await Promise.all([
    reportOf(context, name),
    // Not known where the job cannot be looked at. Its own finding tells that.
    cloud.scheduler.status(schedulerJobs[name]).catch(() => undefined),
  ]);
  const calledAt = job?.state === 'enabled' ? job.lastRunAt : undefined;
  const mend = `Look at its schedule: gcloud scheduler jobs describe ${schedulerJobs[name]} --project=${config.project}`;
  return ({ code }) => {
    const verdict = report?.verdicts[code];
    if (report === undefined || verdict === undefined) {
      return { state: 'unknown', what: `${name} has not looked at them yet`, mend };
    }
    const { at } = report;
    const isOld = clock.now().getTime() - Date.parse(at) > freshMs;
    const wasCalled = calledAt !== undefined && Date.parse(calledAt) - Date.parse(at) > restMs;
    if (isOld && wasCalled) {
      const what = `${name} was called at ${calledAt}, and has not come to look at them since ${at}.`;
      const advice = `${applyTerraform}. If it stays so: ${logsOf(name, config)}`;
      return { state: 'stop', problem: new Problem('unavailable', what, { advice }) };
    }
    if (isOld) return { state: 'unknown', what: `${name} has not looked at them since ${at}`, mend };
    return verdict.state === 'ok' ? { ...verdict, what: `${verdict.what}, at ${at}` } : fromWire(verdict);
  };
}
