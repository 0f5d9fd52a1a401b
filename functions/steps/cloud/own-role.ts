/** Roles of a project's own: made, restored after a deletion, and kept as they are wanted. */
import { done, type Outcome, type StepCall } from '../../engine/step.js';
import { unlessThere } from './following.js';

type CustomRoles = StepCall['context']['cloud']['customRoles'];
type Role = NonNullable<Awaited<ReturnType<CustomRoles['get']>>>;
export type RoleContent = Parameters<CustomRoles['create']>[2];

type Call = Pick<StepCall, 'context' | 'bootstrap' | 'signal'>;

const nameOf = ({ bootstrap }: Pick<Call, 'bootstrap'>, roleId: string): string =>
  `projects/${bootstrap.projectId}/roles/${roleId}`;

const inForce = ({ deleted, stage }: Role): boolean => deleted !== true && stage === 'GA';

const holds = ({ includedPermissions: held = [] }: Role, { includedPermissions: wanted }: RoleContent): boolean =>
  held.length === wanted.length && wanted.every((each) => held.includes(each));

/** Whether the role is in force, with exactly the wanted permissions. */
export async function ownRoleStands(call: Call, roleId: string, wanted: RoleContent): Promise<boolean> {
  const found = await call.context.cloud.customRoles.get(nameOf(call, roleId));
  return found !== undefined && inForce(found) && holds(found, wanted);
}

export async function makeOwnRole(call: Call, roleId: string, wanted: RoleContent): Promise<Outcome> {
  const { customRoles } = call.context.cloud;
  const found = await customRoles.get(nameOf(call, roleId));
  call.signal.throwIfAborted();
  if (found === undefined) {
    const created = customRoles.create(call.bootstrap.projectId, roleId, wanted).then(() => done);
    return unlessThere(created, 'the role is not known everywhere yet');
  }
  const standing = found.deleted === true ? await customRoles.undelete(found.name) : found;
  if (!inForce(standing) || !holds(standing, wanted)) await customRoles.patch(standing.name, wanted, standing.etag);
  return done;
}
