/** `plinth down`: removes the project that `plinth.yaml` names, and waits until it is gone. */
import { noBootstrapOf } from '../bootstrap/named.js';
import { previewRemoval, removeProject } from '../bootstrap/remove-project.js';
import { type CommandContext, defineCommand } from '../frame/command.js';
import { unasked } from '../frame/confirm.js';
import { printable } from '../frame/output.js';
import { refusal } from '../frame/required.js';
import { projectFileOf, readProjectFile, refuseBroken } from '../project/file.js';

export const down = defineCommand({
  description: [
    'Removes the project that plinth.yaml names, as beta bootstrap-cloud cleanup does, and waits until it is gone. It asks you to type the name. Of the file it reads only that name.',
  ],
  options: ['projectName'],
  givenElsewhere: true,
  flags: {
    file: 'File that names the project. (default: plinth.yaml)',
    yes: 'Do not ask. Needed where there is no terminal to ask on.',
    'dry-run': 'Only show what would be removed.',
  },
  examples: ['plinth down', 'plinth down --yes', 'plinth down --dry-run'],

  async run(call) {
    const name = await projectOf(call);
    const client = await call.connect();
    const found = await client.find(name);
    if (found === undefined) throw noBootstrapOf(name);
    if (found.state === 'removed') {
      return { data: { bootstrap: found }, show: () => `${printable(found.name)} is removed already.` };
    }
    const dryRun = call.has('dry-run');
    const silence = dryRun ? [] : unasked(call);
    if (silence.length > 0) throw refusal(silence);
    const view = await client.get(found.id);
    return dryRun
      ? previewRemoval(client, view)
      : removeProject(call, client, view, { agreed: call.has('yes'), wait: true });
  },
});

async function projectOf(call: CommandContext): Promise<string> {
  const { given, settings, faults } = call;
  if (given.projectName !== undefined) return given.projectName;
  const file = await readProjectFile(projectFileOf(call), settings);
  refuseBroken(file, faults);
  const place = file.places.get('projectName');
  const name = file.given.projectName;
  if (place !== undefined && name !== undefined && name !== '') return name;
  const own = file.faults.filter(({ path }) => place === undefined || path === place);
  throw refusal([
    ...faults,
    ...(own.length > 0 ? own : [{ path: place ?? `${file.name}: project-name`, message: 'is needed' }]),
  ]);
}
