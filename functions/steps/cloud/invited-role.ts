/**
 * The custom role of the people a project is shared with. It holds only what the owner's role holds too, so that nobody shares
 * more than they have.
 */
import { invitedPermissions, invitedRole, invitedRoleId } from '../../../shared/bootstrap/invited.js';
import { Problem } from '../../../shared/problems.js';
import { done, type Outcome, type StepCall } from '../../engine/step.js';
import { unlessThere } from './following.js';

type Call = Pick<StepCall, 'context' | 'bootstrap' | 'signal'>;

type Role = NonNullable<Awaited<ReturnType<typeof readRole>>>;

const title = 'Invited by the owner';
const description = 'Looks, logs in, starts and stops machines, reads logs. plinth keeps it as it is.';

const inForce = ({ deleted, stage }: Role): boolean => deleted !== true && stage !== 'DISABLED';

const holds = ({ includedPermissions = [] }: Role, wanted: readonly string[]): boolean =>
  includedPermissions.length === wanted.length && wanted.every((each) => includedPermissions.includes(each));

/** Whether the role stands as it should. */
export async function invitedRoleStands(call: Call): Promise<boolean> {
  const [wanted, found] = await Promise.all([wantedOf(call), readRole(call)]);
  return found !== undefined && inForce(found) && holds(found, wanted);
}

export async function makeInvitedRole(call: Call): Promise<Outcome> {
  const { customRoles } = call.context.cloud;
  const { projectId } = call.bootstrap;
  const [wanted, found] = await Promise.all([wantedOf(call), readRole(call)]);
  const content = { title, description, includedPermissions: wanted };
  call.signal.throwIfAborted();
  if (found === undefined) {
    const created = customRoles.create(projectId, invitedRoleId, content).then(() => done);
    return unlessThere(created, 'the role is not known everywhere yet');
  }
  const standing = found.deleted === true ? await customRoles.undelete(found.name) : found;
  if (!inForce(standing) || !holds(standing, wanted)) {
    await customRoles.patch(standing.name, content, standing.etag);
  }
  return done;
}

const readRole = ({ context, bootstrap }: Call) => context.cloud.customRoles.get(invitedRole(bootstrap.projectId));

/** What the owner's role holds of what the invited may get. */
async function wantedOf({ context: { cloud, config } }: Call): Promise<string[]> {
  try {
    const owners = await cloud.customRoles.get(config.callerRole);
    const held = new Set(owners?.includedPermissions);
    return invitedPermissions.filter((each) => held.has(each)).sort();
  } catch (error) {
    if (!(error instanceof Problem) || error.code !== 'cloud-permission') throw error;
    throw new Problem('cloud-conflict', error.detail, {
      advice: `Nobody is invited before plinth knows what the owner's role holds. Your operator gives roles/iam.roleViewer, where that role was made, to the service account ${config.serviceAccount}.`,
      cause: error,
    });
  }
}
