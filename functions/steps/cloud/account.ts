/** Observes and creates service accounts, the same way for all of them. */
import { done, type Outcome, type StepCall } from '../../engine/step.js';
import { accountEmail } from '../topology.js';
import { unlessThere } from './following.js';

type Call = Pick<StepCall, 'context' | 'bootstrap'>;

export async function observeAccount({ context, bootstrap }: Call, accountId: string) {
  const email = accountEmail(accountId, bootstrap.projectId);
  const found = await context.cloud.iam.get(bootstrap.projectId, email);
  return found === undefined ? undefined : { email };
}

export const makeAccount = ({ context, bootstrap }: Call, accountId: string, displayName: string): Promise<Outcome> =>
  unlessThere(
    context.cloud.iam.create(bootstrap.projectId, accountId, displayName).then(() => done),
    'the service account is not known everywhere yet',
  );
