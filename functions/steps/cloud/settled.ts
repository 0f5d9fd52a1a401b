/** Whether what can be seen can also be used: Compute shows a resource while it is still being made. */
import type { StepCall } from '../../engine/step.js';

type Compute = StepCall['context']['cloud']['compute'];
type Scope = Parameters<Compute['operationsOn']>[1];

export async function isSettled(
  compute: Compute,
  projectId: string,
  scope: Scope,
  resource: { readonly id?: string },
): Promise<boolean> {
  if (resource.id === undefined) return true;
  const operations = await compute.operationsOn(projectId, scope, resource.id);
  return operations.every(({ done }) => done);
}
