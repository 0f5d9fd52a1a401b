/** The bootstrap of the project that a command names. */
import type { BootstrapSummary } from '../../shared/bootstrap/bootstrap.js';
import { Problem } from '../../shared/problems.js';
import type { CommandContext } from '../frame/command.js';
import type { Client } from '../service/client.js';

/** The id of the newest bootstrap of the project that the command names. */
export const idOf = async (call: Pick<CommandContext, 'word'>, client: Client): Promise<string> =>
  (await standingOf(call, client)).id;

/** The newest bootstrap of that project. */
export async function standingOf(call: Pick<CommandContext, 'word'>, client: Client): Promise<BootstrapSummary> {
  const project = call.word('project')?.text ?? '';
  const found = await client.find(project);
  if (found !== undefined) return found;
  throw noBootstrapOf(project);
}

export const noBootstrapOf = (project: string): Problem =>
  new Problem('not-found', `You have no bootstrap of a project ${JSON.stringify(project)}.`, {
    advice: 'plinth beta bootstrap-cloud list shows those that you have.',
  });
