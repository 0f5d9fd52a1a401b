/** What a bootstrap makes once and keeps in Secret Manager. Whoever made it again would leave others with the first. */

/** Of two that were at it at once, both may have asked by then. */
const atOnceSeconds = 120;

/** Called for each version that is added. `at` is in milliseconds since 1970. */
export function createSecretsJudge(wrong: (what: string) => void): (secret: string, at: number) => void {
  const firstAt = new Map<string, number>();
  return (secret, at) => {
    // What callers give is written with each of their commands.
    if (secret.endsWith('-caller')) return;
    const first = firstAt.get(secret) ?? at;
    firstAt.set(secret, first);
    const seconds = (at - first) / 1000;
    if (seconds > atOnceSeconds)
      wrong(`the secret ${secret} is made again ${Math.round(seconds)} s after the first time`);
  };
}
