/** Many bootstraps past their time, of which all is gone already but the project: what a run of cleanup is measured by, not each removal. */
import { graphOf } from '../../functions/engine/graph.js';
import { planOf } from '../../functions/engine/plan.js';
import { removalPlanOf } from '../../functions/engine/record/removal-plan.js';
import { steps } from '../../functions/steps/index.js';
import { grantAtOnce } from '../../local/cloud/iam/policies.js';
import type { SimulatedCloud } from '../../local/cloud/index.js';
import type { ProjectRecord } from '../../local/cloud/kernel/api.js';
import { functionAccount, local, people } from '../../local/stack/deployment.js';
import type { Stack } from '../../local/stack/stack.js';
import { type BootstrapOptions, flags } from '../../shared/bootstrap/options.js';
import { collections, functionNames } from '../../shared/names.js';

export const options = {
  ...Object.fromEntries(
    Object.entries(flags).flatMap(([name, flag]) => ('default' in flag ? [[name, flag.default]] : [])),
  ),
  projectName: 'expired',
} as unknown as BootstrapOptions;

const undone = [...removalPlanOf(planOf(graphOf(steps), { options, machineAccess: 'direct' }, true)).keys()];

/** Instances of a record of which nothing is left but its project. */
export const instancesOf = (output: Readonly<Record<string, string>> | undefined) => ({
  ...Object.fromEntries(undone.map((id) => [id, { state: 'gone', attempt: 0 }])),
  project: { state: 'done', attempt: 0, ...(output === undefined ? {} : { output }) },
});

/** As the cloud keeps it. */
export function projectOf(
  projectId: string,
  number: string,
  {
    parent,
    labels,
    active,
  }: { readonly parent: string; readonly labels: Record<string, string>; readonly active: boolean },
): ProjectRecord {
  const at = new Date().toISOString();
  return {
    projectId,
    projectNumber: number,
    displayName: projectId,
    parent,
    state: active ? 'ACTIVE' : 'DELETE_REQUESTED',
    labels,
    etag: `W/"${number}"`,
    createTime: at,
    updateTime: at,
    ...(active ? {} : { deleteTime: at }),
    creator: functionAccount(functionNames.runCloudStep),
    services: {},
  };
}

/** Whoever makes a project owns it. plinth made none of these. */
export function ownFolder({ world }: Pick<SimulatedCloud, 'world'>): void {
  const members = [`serviceAccount:${functionAccount(functionNames.runCloudStep)}`];
  grantAtOnce(world, local.folder, [{ role: 'roles/owner', members }]);
}

let nextNumber = 800_000_000_000;

/** Of the bootstrap of the i-th project. */
export const expiredId = (name: string, i = 0): string => `b${name}${String(i).padStart(15 - name.length, '0')}`;

/** Ids of the projects. `known`: the number that their records know, where it is not their own. */
export async function addExpired(stack: Stack, name: string, count: number, known?: string): Promise<string[]> {
  const { cloudHalf, functionsHalf } = stack;
  if (cloudHalf === undefined || functionsHalf === undefined) throw new Error('a whole stack is needed');
  const past = new Date(Date.now() - 60_000).toISOString();
  const ids: string[] = [];
  for (let i = 0; i < count; i++) {
    const projectId = `${name}-${String(i).padStart(5, '0')}`;
    const number = String(nextNumber++);
    const place = { parent: local.folder, labels: {}, active: true };
    cloudHalf.cloud.world.table<ProjectRecord>('projects')[projectId] = projectOf(projectId, number, place);
    const data = {
      schema: 1,
      name: projectId,
      projectId,
      owner: people.alice,
      ownerMember: `user:${people.alice}`,
      state: 'succeeded',
      generation: 1,
      options: { ...options },
      given: {},
      sshPublicKey: '',
      base: {},
      createdAt: past,
      deadlineAt: past,
      removeAt: past,
      warnings: [],
      events: 0,
      instances: instancesOf({ projectId, projectNumber: known ?? number }),
    };
    const id = expiredId(name, i);
    await functionsHalf.store.commit([{ kind: 'create', collection: collections.bootstraps, id, data }]);
    ids.push(projectId);
  }
  return ids;
}
