/**
 * Finds the jumpbox of a project that this deployment made and has no record of. Only projects with our own proof count. One
 * with a record belongs to its people.
 */
import type { LostJumpbox } from '../../../shared/bootstrap/lost-jumpbox.js';
import { labels } from '../../../shared/names.js';
import { Problem } from '../../../shared/problems.js';
import type { SeenVm } from '../../cloud/vm-lookup.js';
import type { Context } from '../../context.js';
import { findProofKey, isProof, projectsOf } from '../../engine/proof.js';
import { isBootstrapId } from '../../engine/record/ids.js';
import { bootstrapOf, numberOf } from '../../engine/record/removal-rule.js';
import { getBootstrap } from '../../engine/record/update.js';
import type { SeenProject } from '../../engine/step.js';
import { jumpboxName, tunnelTo } from '../../steps/topology.js';
import { findByName } from '../find.js';

type FoundProject = Awaited<ReturnType<Context['cloud']['projects']['search']>>[number];

interface Lost {
  readonly project: FoundProject;
  readonly jumpbox: SeenVm;
  readonly zone: string;
}

/** By the project's name or id. `zone`: the jumpbox must be there, because a resume in another zone would make other machines. */
export async function findLost(context: Context, project: string, zone?: string): Promise<Lost> {
  const { cloud } = context;
  const lost = await findLostProject(context, project);
  const where = zone ?? (await cloud.vmLookup.list(lost.projectId)).find(({ name }) => name === jumpboxName)?.zone;
  const jumpbox = where === undefined ? undefined : await cloud.vmLookup.find(lost.projectId, where, jumpboxName);
  if (where === undefined || jumpbox === undefined) {
    throw new Problem(
      'not-found',
      `The project ${lost.projectId} has no jumpbox${zone === undefined ? '' : ` in the zone ${zone}`}.`,
      zone === undefined ? {} : { advice: 'Give the --zone that it was made in.' },
    );
  }
  return { project: lost, jumpbox, zone: where };
}

async function findLostProject(context: Context, project: string): Promise<FoundProject> {
  const { cloud, config } = context;
  const notFound = (): Problem =>
    new Problem(
      'not-found',
      `No project ${JSON.stringify(project)} can be recovered: you have none of that name, and no project of this deployment bears it.`,
      {
        advice: 'plinth beta bootstrap-cloud list shows those that you have.',
      },
    );
  if ((await findByName(context, project)) !== undefined) throw notFound();
  const named = (await cloud.projects.search(projectsOf(config.deployment))).filter(
    ({ displayName, projectId }) => displayName === project || projectId === project,
  );
  const proofKey = named.length === 0 ? undefined : await findProofKey(context);
  const ours = named.filter((each) => isOurs(each, proofKey));
  const records = await Promise.all(ours.map((each) => getBootstrap(context, bootstrapOf(each))));
  const [lost, ...others] = ours.filter((_, index) => records[index] === undefined);
  if (lost === undefined) throw notFound();
  if (others.length > 0) {
    const ids = [lost, ...others].map(({ projectId }) => projectId).join(', ');
    throw new Problem('conflict', `Several projects are named ${project}: ${ids}.`, {
      advice: 'Give the id of the one that you mean in place of the name.',
    });
  }
  return lost;
}

/** Wherever it is: what it holds says which zone the bootstrap has. */
export async function findLostJumpbox(context: Context, name: string): Promise<LostJumpbox> {
  const { project, jumpbox, zone } = await findLost(context, name);
  const { hostKeys, isPublic, usesOsLogin, ...addresses } = jumpbox;
  const { projectId } = project;
  return {
    id: bootstrapOf(project),
    name: project.displayName ?? name,
    projectId,
    zone,
    machineLogin: usesOsLogin ? 'os-login' : 'keys',
    jumpbox: {
      ...addresses,
      ...(isPublic ? {} : { tunnel: tunnelTo(projectId, { name: jumpboxName, zone }) }),
      hostKeys: [...hostKeys],
    },
  };
}

/** Labels alone prove nothing: everybody who may write to the project may write them. */
function isOurs(project: SeenProject, key: string | undefined): boolean {
  const { state, labels: found = {} } = project;
  if (key === undefined || state !== 'ACTIVE') return false;
  const proven = {
    projectNumber: numberOf(project),
    bootstrapId: bootstrapOf(project),
    owner: found[labels.owner] ?? '',
    expiry: found[labels.deleteAfter] ?? '',
  };
  return isBootstrapId(proven.bootstrapId) && isProof(key, found[labels.proof], proven);
}
