/**
 * Grants to all at once. Where Google refuses a member, it goes one by one, so that an address unknown to Google keeps nobody
 * else out.
 */
import { calledBy } from '../../../shared/command-words.js';
import { Problem } from '../../../shared/problems.js';
import type { StepCall } from '../../engine/step.js';
import { isNewRole } from './settling.js';

/** Tries all, then throws the first refusal of a member, with what to do about it. */
export async function grantToPeople<T extends { readonly member: string }>(
  { bootstrap }: Pick<StepCall, 'bootstrap'>,
  people: readonly T[],
  grant: (people: readonly T[]) => Promise<void>,
): Promise<void> {
  try {
    return await grant(people);
  } catch (error) {
    if (!isOfMember(error)) throw error;
  }
  const refused: Problem[] = [];
  for (const person of people) {
    try {
      await grant([person]);
    } catch (error) {
      if (!isOfMember(error)) throw error;
      refused.push(refusal(bootstrap, person.member, error));
    }
  }
  const [first] = refused;
  if (first !== undefined) throw first;
}

/** Google refuses the member: it knows no such account, or the organization lets none of its domain in. */
const isOfMember = (error: unknown): error is Problem =>
  error instanceof Problem && (error.code === 'cloud-policy' || (error.code === 'cloud-input' && !isNewRole(error)));

const refusal = ({ ownerMember, name, projectId }: StepCall['bootstrap'], member: string, error: Problem): Problem =>
  new Problem(error.code === 'cloud-policy' ? 'cloud-policy' : 'cloud-conflict', error.detail, {
    advice:
      member === ownerMember
        ? `Check that ${member} is a Google account that may be given roles in this organization.`
        : `Check that ${member} is a Google account that may be given roles in this organization, or share it no more: plinth beta bootstrap-cloud share ${calledBy({ name, projectId })} --with ${member.replace(/^\w+:/, '')} --remove`,
    // A domain that is refused here is told before the next bootstrap begins.
    members: { member },
    cause: error,
  });
