/** Why a request got no answer, in one word or sentence. */

/** `fetch failed` explains nothing. Its cause does. */
export function reasonOf(error: unknown): string {
  for (let at: unknown = error; at instanceof Error; at = at.cause) {
    const { code } = at as Error & { readonly code?: unknown };
    if (typeof code === 'string') return code;
    if (at.name === 'TimeoutError') return 'no answer in time';
    if (at.cause === undefined) return at.message;
  }
  return String(error);
}
