/** What the exit codes mean, for help and the reference page; which problem has which is in shared/problems.ts. */
export const exitCodes = [
  { code: 0, meaning: 'done' },
  { code: 1, meaning: 'something went wrong inside plinth' },
  { code: 2, meaning: 'bad input' },
  { code: 3, meaning: 'not allowed' },
  { code: 4, meaning: 'not found' },
  { code: 5, meaning: 'conflict or quota' },
  { code: 6, meaning: 'cloud unavailable' },
  { code: 7, meaning: 'the bootstrap failed' },
  { code: 130, meaning: 'detached, the bootstrap goes on; or interrupted' },
] as const;
