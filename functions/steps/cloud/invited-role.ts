/**
 * The custom role of the people a project is shared with. It holds only what the owner's role holds too, so that nobody shares
 * more than they have.
 */
import { invitedPermissions, invitedRoleId } from '../../../shared/bootstrap/invited.js';
import { Problem } from '../../../shared/problems.js';
import type { Outcome, StepCall } from '../../engine/step.js';
import { makeOwnRole, ownRoleStands, type RoleContent } from './own-role.js';

type Call = Pick<StepCall, 'context' | 'bootstrap' | 'signal'>;

/** Whether the role stands as it should. `ownersMore`: what the owner holds besides the role that is a setting. */
export const invitedRoleStands = async (call: Call, ownersMore: readonly string[]): Promise<boolean> =>
  ownRoleStands(call, invitedRoleId, await wantedOf(call, ownersMore));

export const makeInvitedRole = async (call: Call, ownersMore: readonly string[]): Promise<Outcome> =>
  makeOwnRole(call, invitedRoleId, await wantedOf(call, ownersMore));

/** What the owner's role holds of what the invited may get. */
async function wantedOf({ context: { cloud, config } }: Call, ownersMore: readonly string[]): Promise<RoleContent> {
  try {
    const owners = await cloud.customRoles.get(config.callerRole);
    const held = new Set([...(owners?.includedPermissions ?? []), ...ownersMore]);
    return {
      title: 'Invited by the owner',
      description: 'Looks, logs in, starts and stops machines, reads logs. plinth keeps it as it is.',
      includedPermissions: invitedPermissions.filter((each) => held.has(each)).sort(),
    };
  } catch (error) {
    if (!(error instanceof Problem) || error.code !== 'cloud-permission') throw error;
    throw new Problem('cloud-conflict', error.detail, {
      advice: `Nobody is invited before plinth knows what the owner's role holds. Your operator gives roles/iam.roleViewer, where that role was made, to the service account ${config.serviceAccount}.`,
      cause: error,
    });
  }
}
