/** The Google Cloud project that everything else is made in. */
import { labels } from '../../../shared/names.js';
import { Problem } from '../../../shared/problems.js';
import { again, defineStep, done, type Outcome, type StepCall } from '../../engine/step.js';
import { follow, resume } from './following.js';
import { ProjectOutput } from './outputs.js';
import { findProofKey, isProof, labelsOf, labelValue, proofKey, proofOf } from './proof.js';

type Call = Pick<StepCall, 'context' | 'bootstrap'>;
type Project = NonNullable<Awaited<ReturnType<typeof read>>>;

export const project = defineStep({
  name: 'project',
  title: 'Project',
  lane: 'cloud',
  needs: {},
  describe: ({ projectName, folderId, projectTtl }) => [
    `project "${projectName}" ${folderId === undefined ? 'in the default parent' : `in folder ${folderId}`}, removed after ${projectTtl}`,
  ],
  output: ProjectOutput,

  async observe(call) {
    const found = await read(call);
    if (found === undefined || found.state !== 'ACTIVE') return undefined;
    const key = await findProofKey(call.context);
    if (key === undefined) return undefined;
    const wanted = wantedLabels(call, found, key);
    if (Object.entries(wanted).some(([name, value]) => found.labels?.[name] !== value)) return undefined;
    return { projectId: found.projectId, projectNumber: numberOf(found) };
  },

  async run(call) {
    const { projects } = call.context.cloud;
    const { projectId } = call.bootstrap;
    const making = await create(call, await read(call));
    if (making !== undefined) return making;
    const found = await read(call);
    if (found === undefined) return again(1, 'the project is being made');
    if (found.state !== 'ACTIVE') {
      throw new Problem('cloud-conflict', `The project ${projectId} is being deleted.`, {
        advice: 'Bootstrap under another project name, or restore the project in the console within 30 days.',
      });
    }
    await refuseStrangers(call, found);
    // The API replaces labels as a whole, so those of others travel along.
    const wanted = { ...found.labels, ...wantedLabels(call, found, await proofKey(call.context)) };
    return follow(await projects.setLabels(projectId, wanted, found.etag), 'the labels are being written', 1);
  },

  goes: 'undo',
  async undo(call) {
    const { projects, billing } = call.context.cloud;
    const { projectId } = call.bootstrap;
    const found = await read(call);
    if (found === undefined || found.state === 'DELETE_REQUESTED') return done;
    await refuseStrangers(call, found);
    const number = numberOf(found);
    if (call.output !== undefined && call.output.projectNumber !== number) {
      throw new Problem(
        'cloud-conflict',
        `The project ${projectId} has the number ${number}, not ${call.output.projectNumber}: it is not deleted.`,
      );
    }
    const liens = await projects.liens(number);
    if (liens.length > 0) {
      throw new Problem('cloud-conflict', `The project ${projectId} is protected from deletion: ${liens.join('; ')}.`, {
        advice: 'Remove the lien, then run the same command again.',
      });
    }
    // A deleted project would keep counting against the billing account's quota.
    if (((await billing.get(projectId)).billingAccountName ?? '') !== '') await billing.link(projectId, '');
    const removal = await projects.remove(projectId);
    if (removal.failure !== undefined) throw removal.failure;
    return again(1, 'the project is being deleted');
  },
  summary: ({ projectId, projectNumber }) => `${projectId} (${projectNumber})`,
});

const numberOf = ({ name }: { readonly name: string }): string => name.replace(/^projects\//, '');

/** Google answers PERMISSION_DENIED for a project that does not exist. */
async function read({ context, bootstrap }: Call) {
  try {
    return await context.cloud.projects.get(bootstrap.projectId);
  } catch (error) {
    if (error instanceof Problem && error.code === 'cloud-permission') return undefined;
    throw error;
  }
}

const operationFile = 'operation-project';

/** Undefined once the project stands and its creation is over: before that only reading it is safe. */
async function create(
  call: StepCall<Record<never, never>, undefined>,
  found: Project | undefined,
): Promise<Outcome | undefined> {
  const { context, bootstrap, files } = call;
  const { projects } = context.cloud;
  const { projectId } = bootstrap;
  const known = await files.read(operationFile);
  if (found !== undefined && (known === undefined || known === '')) return undefined;
  try {
    const begun = await resume(
      files,
      operationFile,
      () =>
        projects.create({
          projectId,
          displayName: bootstrap.name,
          parent: parentOf(call),
          labels: labelsOf(bootstrap, context.config.deployment),
        }),
      projects.operation,
    );
    const isNew = known === undefined || known === '';
    const outcome = follow(begun, 'the project is being made', isNew ? 6 : 1);
    return outcome.kind === 'done' ? undefined : outcome;
  } catch (error) {
    if (!(error instanceof Problem)) throw error;
    if (error.code === 'cloud-conflict') {
      // Ids are never free again, and a project of our own, begun in a run that was cut short, shows itself soon.
      throw new Problem(
        'cloud-propagation',
        `The project id ${projectId} is taken, and nothing of it can be seen yet.`,
        {
          advice: 'If it lasts, somebody else has a project of that id: bootstrap under another project name.',
          cause: error,
        },
      );
    }
    if (error.code === 'cloud-permission') {
      throw new Problem('cloud-permission', error.detail, {
        advice: `Ask an administrator to grant plinth's service account roles/resourcemanager.projectCreator on ${parentOf(call)}, then run the same command again.`,
        cause: error,
      });
    }
    throw error;
  }
}

/** A service account cannot make a project without a parent. */
function parentOf({ context, bootstrap }: Call): string {
  const { folderId } = bootstrap.options;
  const parent = folderId === undefined ? context.config.defaultParent : `folders/${folderId}`;
  if (parent === undefined) {
    throw new Problem(
      'bad-input',
      'There is no folder to make the project in, and this deployment has no default one.',
      {
        errors: [{ path: '--folder-id', message: 'is needed' }],
        advice: 'Give --folder-id.',
      },
    );
  }
  return parent;
}

function wantedLabels(call: Call, found: Project, key: string): Readonly<Record<string, string>> {
  const wanted = labelsOf(call.bootstrap, call.context.config.deployment);
  return { ...wanted, [labels.proof]: proofOf(key, provenBy(call, found, wanted[labels.deleteAfter] ?? '')) };
}

const provenBy = ({ bootstrap }: Call, found: Project, expiry: string) => ({
  projectNumber: numberOf(found),
  bootstrapId: bootstrap.id,
  owner: bootstrap.owner,
  expiry,
});

/** A project that is not provably of this bootstrap must never be relabelled, and then deleted. */
async function refuseStrangers(call: Call, found: Project): Promise<void> {
  const { bootstrap, context } = call;
  const standing = found.labels ?? {};
  const isNamed =
    standing[labels.bootstrap] === labelValue(bootstrap.id) &&
    standing[labels.deployment] === labelValue(context.config.deployment);
  if (isNamed) return;
  const proven = provenBy(call, found, standing[labels.deleteAfter] ?? '');
  if (isProof(await proofKey(context), standing[labels.proof], proven)) return;
  throw new Problem(
    'cloud-conflict',
    `The project ${bootstrap.projectId} exists, and nothing proves that this bootstrap made it.`,
    {
      advice: `If it is yours, put the label ${labels.bootstrap}=${labelValue(bootstrap.id)} and ${labels.deployment}=${labelValue(context.config.deployment)} back; else bootstrap under another project name.`,
    },
  );
}
