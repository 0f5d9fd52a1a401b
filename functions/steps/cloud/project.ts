/** Creates and deletes the Google Cloud project that holds everything else. */

import type * as z from 'zod';
import { labels } from '../../../shared/names.js';
import { Problem } from '../../../shared/problems.js';
import {
  findProofKey,
  isProof,
  labelsOf,
  labelValue,
  optionalLabels,
  ownerLabel,
  proofKey,
  proofOf,
  teamLabel,
} from '../../engine/proof.js';
import { again, defineStep, doneWith, type Outcome, type StepCall } from '../../engine/step.js';
import { type Begun, follow, resume } from './following.js';
import { ProjectOutput } from './outputs.js';
import { policies } from './policies.js';
import { refuseLiens } from './project-liens.js';
import { findProject, mayCreateProjects, noProjectsIn, parentOf } from './project-place.js';

type Call = Pick<StepCall, 'context' | 'bootstrap'>;
type Project = NonNullable<Awaited<ReturnType<typeof findProject>>>;

export const project = defineStep({
  name: 'project',
  title: 'Project',
  lane: 'cloud',
  prepares: 'again',
  needs: { policies },
  holds: ['folderId'],
  describe: ({ projectName, folderId, projectTtl }) => [
    `project "${projectName}" ${folderId === undefined ? 'in the default parent' : `in folder ${folderId}`}, removed after ${projectTtl}`,
  ],
  output: ProjectOutput,
  checks: [mayCreateProjects],

  async observe(call) {
    const found = await findProject(call);
    if (found === undefined || found.state !== 'ACTIVE') return undefined;
    const key = await findProofKey(call.context);
    if (key === undefined) return undefined;
    if (!isLabelled(found, wantedLabels(call, found, key)) || isUnnamed(call, found)) return undefined;
    return { projectId: found.projectId, projectNumber: numberOf(found) };
  },

  async run(call) {
    const { projects } = call.context.cloud;
    const { projectId } = call.bootstrap;
    const making = await create(call, await findProject(call));
    if (making !== undefined) return making;
    const found = await findProject(call);
    if (found === undefined) return again(1, 'the project is being made');
    if (found.state !== 'ACTIVE') {
      throw new Problem('cloud-conflict', `The project ${projectId} is being deleted.`, {
        advice: 'Restore it in the console, which is possible for 30 days; then run the same command again.',
      });
    }
    await refuseStrangers(call, found);
    // The API replaces all labels, so send the labels of others too.
    const ours = wantedLabels(call, found, await proofKey(call.context));
    const others = Object.entries(found.labels ?? {}).filter(([name]) => !optionalLabels.includes(name));
    const wanted = { ...Object.fromEntries(others), ...ours };
    const named = isUnnamed(call, found) ? { displayName: call.bootstrap.name } : {};
    const labelled = await projects.setLabels(projectId, wanted, { ...named, ...(found.etag && { etag: found.etag }) });
    return follow(labelled, 'the labels are being written', 1);
  },

  goes: 'undo',
  checkUndo: ({ context, bootstrap }) => refuseLiens(context, bootstrap.projectId),
  removes: ({ projectId }) => [`project ${projectId}, and all that is in it`, `billing link of ${projectId}`],
  async undo(call) {
    const { projects, billing } = call.context.cloud;
    const { projectId } = call.bootstrap;
    const found = await findProject(call);
    if (found === undefined) return unseen(call);
    if (found.state === 'DELETE_REQUESTED') {
      return doneWith(`${projectId} is deleted; it can be restored for 30 days`);
    }
    const number = numberOf(found);
    await refuseOthers(call, found, call.output?.projectNumber);
    await refuseLiens(call.context, projectId);
    // A deleted project would still count against the billing account's quota.
    if (((await billing.get(projectId)).billingAccountName ?? '') !== '') await billing.link(projectId, '');
    // Delete by number, which Google never reuses.
    try {
      const removal = await projects.remove(number);
      if (removal.failure !== undefined) throw removal.failure;
    } catch (error) {
      // Somebody was first: another function, whose lease ended while it deleted the project, or a person.
      if ((await findProject(call))?.state !== 'DELETE_REQUESTED') throw error;
    }
    return again(1, 'the project is being deleted');
  },
  summary: ({ projectId, projectNumber }) => `${projectId} (${projectNumber})`,
});

/** No project is visible. It was never made, is still being made, or plinth may not see it any more. */
async function unseen(
  call: StepCall & { readonly output: z.infer<typeof ProjectOutput> | undefined },
): Promise<Outcome> {
  const { bootstrap, files, output } = call;
  const { projectId } = bootstrap;
  if (output !== undefined) throw hidden(projectId, output.projectNumber);
  const known = await files.read(operationFile);
  const begun = known === undefined || known === '' ? undefined : await operationOf(call, known);
  if (begun?.done === false) return again(5, 'the project is still being made');
  if (begun?.failure !== undefined) return doneWith('there is no project: it could not be made');
  // Its creation ended after the first look.
  if (begun !== undefined && (await findProject(call)) !== undefined) return again(1, 'the project has just been made');
  if (begun === undefined && (await files.read(askedFile)) === undefined) return doneWith('there is no project');
  // It was asked for, but the function died before the answer. That it can't be seen proves nothing yet.
  const looks = Number((await files.read(looksFile)) ?? 0);
  if (looks < looksWanted) {
    await files.write(looksFile, String(looks + 1));
    return again(lookSeconds, 'a project that was asked for may still come');
  }
  if (begun !== undefined) throw hidden(projectId);
  return doneWith('there is no project: it was asked for, and none came; one that comes later goes by its labels');
}

/** How long a creation that nobody follows may take. Ten minutes are many times what Google needs. */
const lookSeconds = 20;
const looksWanted = 30;

const hidden = (projectId: string, number?: string): Problem =>
  new Problem(
    'cloud-permission',
    `The project ${projectId}${number === undefined ? '' : ` (${number})`} cannot be seen: somebody took away the rights of plinth's service account there, or moved it, or it is gone for good.`,
    { advice: `Give plinth's service account roles/owner on ${projectId} again; then the removal goes on.` },
  );

/** Undefined if Google has forgotten it, as it does after some weeks. */
async function operationOf({ context }: Call, name: string): Promise<Begun | undefined> {
  try {
    return await context.cloud.projects.operation(name);
  } catch (error) {
    if (error instanceof Problem && error.code === 'cloud-not-found') return undefined;
    throw error;
  }
}

/**
 * Only the recorded project may be deleted. Without a recorded number, its labels must prove that this bootstrap made it. An
 * orphan's labels must prove that it is plinth's and overdue.
 */
async function refuseOthers(call: Call, found: Project, recorded: string | undefined): Promise<void> {
  const { context, bootstrap } = call;
  const { projectId } = bootstrap;
  const number = numberOf(found);
  if (recorded !== undefined && recorded !== number) {
    throw new Problem(
      'cloud-conflict',
      `The project ${projectId} has the number ${number}, not ${recorded}: it is not deleted.`,
    );
  }
  if (bootstrap.orphan !== undefined) {
    const why = bootstrap.orphan(found, await findProofKey(context));
    if (why !== undefined) throw new Problem('cloud-conflict', `The project ${projectId} is not deleted: ${why}.`);
  } else if (recorded === undefined) await refuseStrangers(call, found);
}

const numberOf = ({ name }: { readonly name: string }): string => name.replace(/^projects\//, '');

/** A prepared project bears its id as its name until somebody claims it. */
const isUnnamed = ({ bootstrap: { name, projectId } }: Call, { displayName }: Project): boolean =>
  displayName === projectId && name !== projectId;

const isLabelled = ({ labels: found = {} }: Project, wanted: Readonly<Record<string, string>>): boolean =>
  Object.entries(wanted).every(([name, value]) => found[name] === value) &&
  optionalLabels.every((name) => found[name] === wanted[name]);

const operationFile = 'operation-project';
/** Written before the request for the project. Without a stored operation, it shows that a creation may be under way. */
const askedFile = 'project-asked';
const looksFile = 'project-looks';

/** Undefined once the project exists and its creation is over. Before that, only reading it is safe. */
async function create(
  call: Pick<StepCall, 'context' | 'bootstrap' | 'files'>,
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
      async () => {
        const parent = parentOf(call);
        if ((await files.read(askedFile)) === undefined) await files.write(askedFile, 'yes');
        const labels = labelsOf(bootstrap, context.config.deployment);
        return projects.create({ projectId, displayName: bootstrap.name, parent, labels });
      },
      projects.operation,
    );
    const isNew = known === undefined || known === '';
    const outcome = follow(begun, 'the project is being made', isNew ? 6 : 1);
    return outcome.kind === 'done' ? undefined : outcome;
  } catch (error) {
    if (!(error instanceof Problem)) throw error;
    if (error.code === 'cloud-conflict') {
      // A project id is never free again. If the project is ours, from an interrupted run, it becomes visible soon.
      throw new Problem(
        'cloud-propagation',
        `The project id ${projectId} is taken, and nothing of it can be seen yet.`,
        {
          advice: 'If it lasts, somebody else has a project of that id: choose another --project-name.',
          cause: error,
        },
      );
    }
    if (error.code === 'cloud-permission') {
      throw Object.assign(noProjectsIn(parentOf(call), bootstrap.options), { cause: error });
    }
    throw error;
  }
}

function wantedLabels(call: Call, found: Project, key: string): Readonly<Record<string, string>> {
  const wanted = labelsOf(call.bootstrap, call.context.config.deployment);
  const proven = provenBy(call, found, wanted[labels.deleteAfter] ?? '');
  const { team } = call.bootstrap;
  return {
    ...wanted,
    ...(team === undefined ? {} : { [labels.team]: teamLabel(key, proven, team) }),
    [labels.proof]: proofOf(key, proven),
  };
}

const provenBy = ({ bootstrap }: Call, found: Project, expiry: string) => ({
  projectNumber: numberOf(found),
  bootstrapId: bootstrap.id,
  owner: ownerLabel(bootstrap.owner),
  expiry,
});

/** plinth must never relabel, and later delete, a project that is not provably this bootstrap's. */
async function refuseStrangers(call: Call, found: Project): Promise<void> {
  const { bootstrap, context } = call;
  const standing = found.labels ?? {};
  const isNamed =
    standing[labels.bootstrap] === labelValue(bootstrap.id) &&
    standing[labels.deployment] === labelValue(context.config.deployment);
  if (isNamed) return;
  // Use the labels as they are. They may be from an earlier owner or deadline.
  const proven = {
    ...provenBy(call, found, standing[labels.deleteAfter] ?? ''),
    owner: standing[labels.owner] ?? '',
  };
  if (isProof(await proofKey(context), standing[labels.proof], proven)) return;
  throw new Problem(
    'cloud-conflict',
    `The project ${bootstrap.projectId} exists, and nothing proves that this bootstrap made it.`,
    {
      advice: `If it is yours, put the label ${labels.bootstrap}=${labelValue(bootstrap.id)} and ${labels.deployment}=${labelValue(context.config.deployment)} back, then run the same command again. If it is not yours, choose another --project-name.`,
    },
  );
}
