/**
 * Whose a membership or a bootstrap is. People are named by e-mail, and an address can pass to another account. So the first
 * account that changes something is bound, and another account with that address inherits nothing.
 */

/** An account that calls. */
export interface Account {
  /** Issuer and subject, separated by a blank. Missing for an account that is not bound. */
  readonly identity?: string;
  readonly operator?: boolean;
}

/**
 * The binding to store for an account that makes something or changes it first. Operators are named by a setting and never
 * bound.
 */
export const bindingOf = ({ identity, operator }: Account): string | undefined => (operator ? undefined : identity);

/** `boundTo` undefined: nobody has changed anything yet, so only the e-mail counts. */
export function isAnothers(boundTo: string | undefined, caller: Account): boolean {
  const own = bindingOf(caller);
  return own !== undefined && boundTo !== undefined && boundTo !== own;
}
