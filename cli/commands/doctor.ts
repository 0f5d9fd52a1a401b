/** `plinth doctor`: checks this computer and the service, and says how to fix what is wrong. */
import type { PreflightFinding } from '../../shared/bootstrap/preflight.js';
import { refusalOf } from '../../shared/bootstrap/rules.js';
import { Problem } from '../../shared/problems.js';
import { allChecks } from '../doctor/all.js';
import type { Check } from '../doctor/check.js';
import { doorFindings } from '../doctor/doors.js';
import { findingsText } from '../findings-text.js';
import { type CommandContext, defineCommand } from '../frame/command.js';
import { printable, type Style } from '../frame/output.js';
import { listing } from '../frame/table.js';
import { problemOf as problemIn } from '../preflight.js';

export const doctor = defineCommand({
  description: [
    'Checks the config file, the environment, the endpoints with their certificates, and the versions and clocks of both sides. Checks who you are to the service, what you may do there, and your SSH client and key. It changes nothing.',
    'Where machines are reached through IAP, it checks your Google access token. With a project, it also connects to its jumpbox and sends nothing.',
    'The exit code is 0 if nothing has failed, also with warnings. Otherwise it is that of the first failure, such as 6 for a service that cannot be reached.',
  ],
  options: ['sshPrivateKeyPath', 'sshPublicKeyPath'],
  flags: {
    deployment:
      'Check the deployment instead, as an operator: functions, audiences, lanes, APIs, grants, indexes, schedules, parents, billing accounts, DNS zones and buckets.',
  },
  examples: ['plinth doctor', 'plinth doctor demo', 'plinth doctor --deployment', 'plinth doctor --json'],

  async run(call) {
    if (call.faults.length > 0) {
      throw refusalOf(call.faults);
    }
    if (call.has('deployment')) return deploymentOf(call);
    const checks = await allChecks(call);
    const problem = problemOf(checks);
    return {
      data: { checks },
      ...(problem !== undefined && { problem }),
      show: (style) => {
        const rows = checks.map(({ name, state, detail }) => [
          { text: state, paint: paintOf(state, style) },
          name,
          detail,
        ]);
        const advised = checks.filter(({ advice }) => advice !== undefined);
        return [
          listing(['state', 'check', 'what was found'], rows, style),
          ...advised.flatMap(({ name, advice }) => ['', `${style.bold(name)}: ${printable(advice ?? '')}`]),
        ].join('\n');
      },
    };
  },
});

/** Each function of the deployment asks for itself. Whether both APIs answer and take the caller's token is seen from here. */
async function deploymentOf(call: CommandContext) {
  const looking = call.connect().then((service) => service.deployment());
  const [[deployed], doors] = await Promise.all([Promise.allSettled([looking]), doorFindings(call)]);
  const findings = [
    ...doors,
    ...(deployed.status === 'fulfilled' ? deployed.value.findings : [unseen(deployed.reason)]),
  ];
  // What is seen from here says more than a refusal does, if it says why.
  const isExplained = doors.some(({ state }) => state === 'stop');
  if (deployed.status === 'rejected' && !isExplained) throw deployed.reason;
  const go = findings.every(({ state }) => state !== 'stop');
  const problem = problemIn(findings, 'The deployment is not as it must be');
  return {
    data: { deployment: { go, findings } },
    ...(problem !== undefined && { problem }),
    show: (style: Style) => findingsText(findings, style),
  };
}

function unseen(reason: unknown): PreflightFinding {
  if (!(reason instanceof Problem)) throw reason;
  return {
    code: 'deployment',
    title: 'What its functions hold',
    state: 'unknown',
    what: reason.detail,
    why: 'The function bootstraps looks at the rest, and cannot be asked.',
    mend: 'Mend what stops it first, then: plinth doctor --deployment',
  };
}

const paintOf = (state: Check['state'], style: Style) =>
  ({ ok: style.green, warning: style.yellow, failed: style.red, skipped: style.dim })[state];

function problemOf(checks: readonly Check[]): Problem | undefined {
  const bad = checks.filter(({ state }) => state === 'failed');
  const [first] = bad;
  if (first === undefined) return undefined;
  const named = bad.map(({ name }) => name).join(', ');
  return new Problem(first.code ?? 'internal', `${bad.length} of ${checks.length} checks failed: ${named}.`, {
    advice: 'What to do about each is said above; then: plinth doctor.',
  });
}
