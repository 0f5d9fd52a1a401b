/** Tells whether a visible resource can be used. Compute Engine shows a resource while it is still being made. */
import type { StepCall } from '../../engine/step.js';

type Compute = StepCall['context']['cloud']['compute'];
type Scope = Parameters<Compute['underWay']>[1];

/** Whether no operation is under way on any of the resources. */
export async function areSettled(
  compute: Compute,
  projectId: string,
  scope: Scope,
  ...resources: readonly { readonly id?: string }[]
): Promise<boolean> {
  const busy = await compute.underWay(projectId, scope);
  return resources.every(({ id }) => id === undefined || !busy.has(id));
}
