/** Removes a project: shows what goes, asks for its name, and follows the removal if the caller waits for it. */
import type { BootstrapView } from '../../shared/bootstrap/bootstrap.js';
import type { PlanDocument } from '../../shared/bootstrap/plan.js';
import { calledBy } from '../../shared/command-words.js';
import { Problem } from '../../shared/problems.js';
import { differing } from '../files/plan-file.js';
import { followToEnd, problemOfEnd } from '../follow/follow.js';
import { planEnd } from '../follow/plan-text.js';
import type { CommandContext } from '../frame/command.js';
import { confirmByName } from '../frame/confirm.js';
import { printable } from '../frame/output.js';
import { forgetSessions } from '../machines/kept-session.js';
import type { Client } from '../service/client.js';

interface RemovalChoices {
  /** The caller agreed beforehand, so nothing is asked. */
  readonly agreed: boolean;
  /** The removal keeps to this plan, or is refused. */
  readonly plan?: PlanDocument | undefined;
  /** Follows the removal until the project is gone. */
  readonly wait: boolean;
}

export async function removeProject(
  call: Pick<CommandContext, 'io' | 'interrupted' | 'settings' | 'output' | 'given'>,
  client: Client,
  found: BootstrapView,
  { agreed, plan, wait }: RemovalChoices,
) {
  if (!agreed) {
    const { items } = await client.planRemoval(found.id);
    call.output.say([`This removes ${whichOf(found)}:`, ...linesOf(goesBy(items))].join('\n'));
    if (!(await confirmByName('Type the name of the project to remove it:', found.name, call))) {
      throw new Problem('bad-input', 'That is not its name; nothing was removed.');
    }
  }
  const begun = await client.remove(found.id, plan?.hash).catch((error: unknown) => {
    throw differing(error, plan);
  });
  forgetSessions(call.settings.configFolder, found.id);
  const view = wait ? (await followToEnd(call, client, begun, false)).view : begun;
  const problem = wait ? problemOfEnd(view) : undefined;
  const follow = `Watch it: plinth beta bootstrap-cloud status ${calledBy(view)} --follow`;
  return {
    data: { bootstrap: view },
    ...(problem !== undefined && { problem }),
    show: () => (view.state === 'removed' ? `${view.name} is removed.` : `${view.name} is being removed.\n${follow}`),
  };
}

/** Only shows what would be removed. `write` keeps the plan in a file, and returns its path. */
export async function previewRemoval(
  client: Client,
  found: BootstrapView,
  write: (plan: PlanDocument) => string | undefined = () => undefined,
) {
  const plan = await client.planRemoval(found.id);
  const file = write(plan);
  const remove = goesBy(plan.items);
  return {
    data: { dryRun: true, bootstrap: found, remove, plan, ...(file !== undefined && { file }) },
    show: () => [`Would remove ${whichOf(found)}:`, ...linesOf(remove), '', planEnd(plan, file)].join('\n'),
  };
}

const whichOf = ({ name, projectId, owner }: BootstrapView): string =>
  `${printable(name)} (${projectId}) of ${printable(owner)}`;

const goesBy = (items: PlanDocument['items']): string[] => items.flatMap(({ what }) => what);

const linesOf = (things: readonly string[]): string[] => things.map((thing) => `  ${printable(thing)}`);
