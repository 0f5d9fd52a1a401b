/** `plinth up`: makes what `plinth.yaml` says, behind a plan that one agrees to. */
import { optionNames } from '../../shared/bootstrap/options.js';
import type { PlanDocument } from '../../shared/bootstrap/plan.js';
import type { PreflightFinding } from '../../shared/bootstrap/preflight.js';
import type { PlanReply } from '../../shared/bootstrap/routes.js';
import { Problem } from '../../shared/problems.js';
import { type Agree, bootstrapProject } from '../bootstrap/bootstrap-project.js';
import { checkBeforehand } from '../bootstrap/checked-flags.js';
import { findingGroups } from '../findings-text.js';
import { lookBeforehand, toldOf } from '../follow/beginning.js';
import { showPlan } from '../follow/plan-text.js';
import { advised } from '../frame/advised.js';
import { type CommandContext, defineCommand } from '../frame/command.js';
import { confirm, unasked } from '../frame/confirm.js';
import { problemOf } from '../preflight.js';
import { projectFileOf, readProjectFile, refuseBroken } from '../project/file.js';
import { givenBy, placedIn } from '../project/given.js';

export const up = defineCommand({
  description: [
    'Reads plinth.yaml in this folder, shows what would be made and what it costs, and asks once. Then it does what beta bootstrap-cloud does. The same command again goes on. It does not ask again if there is nothing new to agree to.',
    'The keys of the file are the flags without dashes. A flag goes before the file. Relative paths in the file begin at its folder. Other folders are not searched for a plinth.yaml.',
    "The file never holds a secret. It says where one is: {env: NAME}, {file: path} or {secretManager: projects/<project>/secrets/<secret>}, read as yourself. The secret's own variable goes before the file, too.",
  ],
  options: optionNames,
  givenElsewhere: true,
  flags: {
    file: 'File that says what the project is made of. (default: plinth.yaml)',
    yes: 'Do not ask. Needed where there is no terminal to ask on.',
    check: 'Look at all that the project needs, and tell at once what stops it. Makes nothing.',
    'dry-run': 'Print what would be made, changed, kept and given up, and what it costs. Makes nothing.',
    strict: 'Refuse what would otherwise be warned about.',
    'max-cost':
      'The most that the project may cost in all, in USD by the estimate, such as 12.50. It is removed as soon as that is spent, if that is before its time to live.',
  },
  examples: [
    'plinth up',
    'plinth up --yes',
    'plinth up --project-ttl 4h',
    'plinth up --file demo/plinth.yaml --dry-run',
  ],

  async run(call) {
    const file = await readProjectFile(projectFileOf(call), call.settings);
    refuseBroken(file, call.faults);
    const { given, faults } = await givenBy(file, call);
    const silence = call.has('check') || call.has('dry-run') ? [] : unasked(call);
    const whole: CommandContext = { ...call, given, faults: [...call.faults, ...faults, ...silence] };
    try {
      if (call.has('check')) return await checkBeforehand(whole);
      return await bootstrapProject(whole, agreeTo(whole, { placedIn: (error) => placedIn(file, call.given, error) }));
    } catch (error) {
      throw changedMeanwhile(placedIn(file, call.given, error));
    }
  },
});

interface Places {
  /** The same problem, whose faults name line and key of the file. */
  readonly placedIn: (problem: Problem) => unknown;
}

/** Shows the plan, and asks unless the caller has agreed to all of it before. */
const agreeTo =
  (call: CommandContext, { placedIn }: Places): Agree =>
  async (client, request) => {
    const { given, output } = call;
    const reply = await client.plan(request);
    const findings =
      reply.plan.bootstrap === null ? toldOf((await lookBeforehand(call, client, request)).findings) : [];
    if (output.json) output.event({ type: 'plan', plan: reply.plan, cost: reply.cost, findings });
    else
      showNew(
        call,
        reply,
        findings.map((each) => placed(each, placedIn)),
      );
    // What stops it is no matter of agreeing.
    const stopped = problemOf(findings, 'It cannot be made');
    // People have read the faults among the findings.
    if (stopped !== undefined)
      throw output.json ? stopped : new Problem(stopped.code, stopped.detail, advising(stopped));
    if (!call.has('yes') && isNew(reply)) {
      const question = reply.plan.bootstrap === null ? 'Make it?' : 'Go on with it?';
      if (!(await confirm(question, call))) throw new Problem('bad-input', 'You did not agree; nothing was made.');
    }
    // What is recovered is no part of a plan.
    return given.recoverConfig === true ? undefined : reply.plan;
  };

/** Names line and key of the file where that is at fault. */
function placed(finding: PreflightFinding, placedIn: Places['placedIn']): PreflightFinding {
  if (finding.errors === undefined) return finding;
  const problem = placedIn(new Problem('bad-input', finding.what, { errors: finding.errors }));
  if (!(problem instanceof Problem) || problem.errors === undefined) return finding;
  return { ...finding, what: problem.errors.map(({ path, message }) => `${path} ${message}`).join('; ') };
}

const advising = ({ advice }: Problem) => (advice === undefined ? {} : { advice });

/** What is made anew of a bootstrap that stands was agreed to when it began. */
const isNew = ({ plan, changes = [] }: PlanReply): boolean =>
  plan.bootstrap === null ||
  changes.length > 0 ||
  plan.items.some(({ action }) => action !== 'make' && action !== 'keep');

/** Things that are kept are only counted. */
function showNew(call: CommandContext, reply: PlanReply, findings: readonly PreflightFinding[]): void {
  const { items } = reply.plan;
  const news = items.filter(({ action }) => action !== 'keep');
  const plan: PlanDocument = { ...reply.plan, items: news };
  const kept = items.length - news.length;
  if (news.length > 0 || (reply.changes ?? []).length > 0) {
    call.output.say(showPlan(call, { ...reply, plan }).show(call.output.style));
  }
  for (const line of findingGroups(findings, call.output.style)) call.output.say(line);
  if (kept > 0) call.output.say(`${kept} of ${items.length} steps are done, and are kept.`);
}

/** What was shown is no longer what would be made. */
const changedMeanwhile = (error: unknown): unknown =>
  error instanceof Problem && error.code === 'precondition-failed'
    ? advised(error, 'Run plinth up again: it shows the plan as it is now.')
    : error;
