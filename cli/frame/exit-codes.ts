/**
 * What the exit codes mean: a few words for help, a sentence for the reference page. shared/problems.ts gives each problem its
 * code.
 */
export const exitCodes = [
  { code: 0, meaning: 'done', inFull: 'It worked.' },
  {
    code: 1,
    meaning: 'something went wrong inside plinth',
    inFull: 'Something went wrong inside plinth. The trace id in the message finds the log.',
  },
  {
    code: 2,
    meaning: 'bad input',
    inFull: 'The input is not valid. Every fault is named with its flag. Nothing was made.',
  },
  { code: 3, meaning: 'not allowed', inFull: 'Not allowed: the token, the role, or a permission in Google Cloud.' },
  { code: 4, meaning: 'not found', inFull: 'Not found, or not visible to the caller.' },
  { code: 5, meaning: 'conflict or quota', inFull: 'A conflict with what stands, or a limit or quota.' },
  {
    code: 6,
    meaning: 'cloud unavailable',
    inFull: 'plinth or Google Cloud cannot be reached now. The same command again goes on.',
  },
  {
    code: 7,
    meaning: 'the bootstrap failed',
    inFull: 'The bootstrap failed. What it made is kept, and the same command again resumes it.',
  },
  {
    code: 130,
    meaning: 'detached, the bootstrap goes on; or interrupted',
    inFull:
      'Ended by Ctrl-C. A bootstrap goes on without the caller. Another change that was under way may have been made.',
  },
] as const;
