/** Lists operations on resources, under way or ended. */
import { type ComputeAnswer, readCompute } from '../operations.js';
import type { ComputeCalls } from './calls.js';
import type { Scope } from './resources.js';

function listIn({ call }: ComputeCalls, project: string, scope: Scope, filter: string) {
  const [name, place] =
    scope === 'global'
      ? (['globalOperations', {}] as const)
      : 'zone' in scope
        ? (['zoneOperations', scope] as const)
        : (['regionOperations', scope] as const);
  return call<readonly ComputeAnswer[]>(name, 'list', `list operations in ${project}`, { project, ...place, filter });
}

export const createOperations = (calls: ComputeCalls) => ({
  /** Ids of the resources with an operation under way. */
  async underWay(project: string, scope: Scope): Promise<ReadonlySet<string>> {
    const answers = await listIn(calls, project, scope, 'status != "DONE"');
    return new Set(answers.flatMap(({ targetId }) => targetId ?? []));
  },

  /** Operations on one resource. Ended ones are kept for some weeks. `targetId` is the resource's numeric id. */
  async operationsOn(project: string, scope: Scope, targetId: string) {
    const answers = await listIn(calls, project, scope, `targetId = ${targetId}`);
    return answers.map((answer) => ({ ...readCompute(answer, 'change it'), type: answer.operationType }));
  },
});
