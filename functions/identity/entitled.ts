/** Who may be given a bootstrap, or a role on its project. */
import type { Config } from '../config.js';

/**
 * Their token is not available, so the domain of their e-mail stands in for the `hd` claim. Their own token is checked for it
 * whenever they begin or resume a bootstrap.
 */
export const mayBeGivenTo = (
  { bootstrappers: { emails, domains }, auth }: Pick<Config, 'bootstrappers' | 'auth'>,
  email: string,
): boolean => emails.includes(email) || auth.operators.includes(email) || domains.includes(email.replace(/^.*@/, ''));
