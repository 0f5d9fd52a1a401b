/** `plinth beta bootstrap-cloud extend|protect|unprotect|cleanup`: how long a project lives. For its owner and operators. */
import type { BootstrapView } from '../../shared/bootstrap/bootstrap.js';
import { timeForm, timeOf } from '../../shared/bootstrap/duration.js';
import { ttlFault } from '../../shared/bootstrap/lifetime.js';
import type { Problem } from '../../shared/problems.js';
import { idOf, standingOf } from '../bootstrap/named.js';
import { previewRemoval, removeProject } from '../bootstrap/remove-project.js';
import { planFaults, readPlan, writePlan } from '../files/plan-file.js';
import { removeAtOf } from '../follow/life-text.js';
import { defineCommand } from '../frame/command.js';
import { unasked } from '../frame/confirm.js';
import { printable } from '../frame/output.js';
import { atFlag, refusal, required } from '../frame/required.js';
import { time } from '../frame/table.js';

/** When it is removed: by its own time, or by a protection that is later. */
function endText(view: BootstrapView): string {
  const end = removeAtOf(view);
  return end === view.deadlineAt
    ? `is removed at ${time(end)}`
    : `is removed at ${time(end)}, when its protection ends; its own time is over at ${time(view.deadlineAt)}`;
}

const shown = (view: BootstrapView, said: string) => ({ data: { bootstrap: view }, show: () => said });

export const extend = defineCommand({
  description: [
    'Moves the time at which a project is removed to --ttl from now. It is never moved to an earlier time, nor beyond the longest time to live that this deployment allows, 366 days at most, counted from when the bootstrap began.',
  ],
  flags: { ttl: 'How long it should live from now on, such as 4h, 1h30m or 2d. (required)' },
  examples: ['plinth beta bootstrap-cloud extend demo --ttl 4h'],

  async run(call) {
    const { ttl } = required(call, 'ttl');
    const fault = ttlFault(ttl);
    if (fault !== undefined) throw refusal([...call.faults, { path: '--ttl', message: fault }]);
    const client = await call.connect();
    const before = await standingOf(call, client);
    const view = await client.extend(before.id, ttl).catch(atFlag('ttl'));
    const said = `${view.name} ${endText(view)}.`;
    return shown(
      view,
      view.deadlineAt === before.deadlineAt
        ? `Nothing has changed: ${said} ${ttl} from now is not later than its time.`
        : said,
    );
  },
});

export const protect = defineCommand({
  description: [
    'A protected project is not removed before --until, whatever its time to live. Who protected it and why is shown wherever it is listed, and the reason stands in a label of the project.',
    '--until is at most 366 days after the bootstrap began. Where the deployment limits how long a project lives, it keeps to that limit, too, and only operators pass that one.',
  ],
  flags: {
    until: 'How long from now, such as 2d, or a time with its zone such as 2030-01-31T18:00:00Z. (required)',
    reason: 'Why. Everybody who sees the project sees it. (required)',
  },
  examples: ['plinth beta bootstrap-cloud protect demo --until 2d --reason "debugging the storage"'],

  async run(call) {
    const { until, reason } = required(call, 'until', 'reason');
    const end = timeOf(until, 'ahead', new Date());
    if (end === undefined) throw refusal([{ path: '--until', message: timeForm }]);
    const client = await call.connect();
    const view = await client.protect(await idOf(call, client), { until: end, reason }).catch(atFlag('until'));
    const protectedUntil = view.protection?.until ?? end;
    return shown(
      view,
      view.deadlineAt > protectedUntil
        ? `${view.name} is not removed before ${time(view.deadlineAt)}: its own time is later than the protection until ${time(protectedUntil)}.`
        : `${view.name} is not removed before ${time(protectedUntil)}.`,
    );
  },
});

export const unprotect = defineCommand({
  description: ['Takes the protection of a project away. Only its time to live counts again.'],
  examples: ['plinth beta bootstrap-cloud unprotect demo'],

  async run(call) {
    const client = await call.connect();
    const view = await client.unprotect(await idOf(call, client));
    return shown(view, `${view.name} is not protected; it is removed at ${time(view.deadlineAt)}.`);
  },
});

export const cleanup = defineCommand({
  description: [
    "Removes a project and all that belongs to it: the project itself, its billing link, and roles outside the project. Also DNS records that are still as plinth wrote them, and the bootstrap's secrets and files. Google keeps a deleted project for 30 days. What plinth held of it is gone at once.",
    'Asks you to type the name of the project. It refuses a protected project, and tries again where a removal failed.',
  ],
  flags: {
    'dry-run': 'Only show what would be removed.',
    plan: 'Write that plan to this file, and remove nothing.',
    apply: 'Remove exactly what the plan in this file says, without a question. If it differs by now, nothing is done.',
    yes: 'Do not ask. Needed where there is no terminal to ask on.',
    wait: 'Follow the removal until the project is gone.',
  },
  examples: [
    'plinth beta bootstrap-cloud cleanup demo',
    'plinth beta bootstrap-cloud cleanup demo --yes --wait',
    'plinth beta bootstrap-cloud cleanup demo --plan removal.json',
  ],

  async run(call) {
    const dryRun = call.has('dry-run') || call.word('plan') !== undefined;
    const planned = readPlan(call, 'removal');
    const unwritable = planFaults(call);
    if (unwritable.length > 0) throw refusal([...call.faults, ...unwritable]);
    const silence = dryRun || planned !== undefined ? [] : unasked(call);
    if (silence.length > 0) throw refusal([...call.faults, ...silence]);
    const client = await call.connect();
    const found = await client.get(await idOf(call, client));
    if (planned !== undefined && planned.bootstrap !== found.id) throw otherPlan(planned.name);
    if (dryRun) return previewRemoval(client, found, (plan) => writePlan(call, plan));
    const agreed = call.has('yes') || planned !== undefined;
    return removeProject(call, client, found, { agreed, plan: planned, wait: call.has('wait') });
  },
});

const otherPlan = (name: string): Problem =>
  refusal([{ path: '--apply', message: `is a plan of another bootstrap: ${printable(name)}` }]);
