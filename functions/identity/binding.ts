/**
 * Whose a membership or a bootstrap is. People are named by e-mail, and an address can come to be another account's: the first
 * account that changes something is bound to what it acts by, and another one with that address inherits nothing.
 */

/** An account that calls. */
export interface Account {
  /** Issuer and subject, with a blank in between; missing: of what is not bound. */
  readonly identity?: string;
  readonly operator?: boolean;
}

/** What is kept of who makes something, or is the first to change it. Operators are named by a setting, and never bound. */
export const bindingOf = ({ identity, operator }: Account): string | undefined => (operator ? undefined : identity);

/** `boundTo` undefined: nobody has changed anything yet, and the e-mail alone counts. */
export function isAnothers(boundTo: string | undefined, caller: Account): boolean {
  const own = bindingOf(caller);
  return own !== undefined && boundTo !== undefined && boundTo !== own;
}
