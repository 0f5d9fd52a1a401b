/** The reference page of problems and exit codes, from the one table in shared/problems.ts. Called by docs/generate.ts. */
import { type ProblemCode, problemKinds } from '../shared/problems.js';

const exitMeanings: readonly (readonly [exit: number, meaning: string])[] = [
  [0, 'It worked.'],
  [1, 'Something went wrong inside plinth. The trace id in the message finds the log.'],
  [2, 'The input is not valid; every fault is named with its flag. Nothing was made.'],
  [3, 'Not allowed: the token, the role, or a permission in Google Cloud.'],
  [4, 'Not found, or not visible to the caller.'],
  [5, 'A conflict with what stands, or a limit or quota.'],
  [6, 'plinth or Google Cloud cannot be reached now. The same command again goes on.'],
  [7, 'The bootstrap failed. What stands is kept; the same command again resumes it.'],
  [130, 'Detached by Ctrl-C. The bootstrap goes on without the caller.'],
];

export function problemsReference(): string {
  const codesOf = (exit: number) =>
    (Object.keys(problemKinds) as ProblemCode[])
      .filter((code) => problemKinds[code].exit === exit)
      .map((code) => `\`${code}\``)
      .join(', ');
  return [
    '# Problems and exit codes',
    '',
    'HTTP errors are `application/problem+json` (RFC 9457): `type` is `/problems/<code>`, `detail` says what happened and why, `advice` what to do, `errors` lists every fault of the input, `instance` is the trace id.',
    '',
    '## Exit codes of `plinth`',
    '',
    '| exit code | meaning | problems |',
    '| --- | --- | --- |',
    ...exitMeanings.map(([exit, meaning]) => `| ${exit} | ${meaning} | ${codesOf(exit)} |`),
    '',
    '## Problems',
    '',
    'Retry: what the engine does when a step ends so. `transient` backs off, `rate` waits as long as asked, `propagation` waits up to ten minutes for what was made just now, `capacity` is left to the step’s own fallback, `none` fails the instance.',
    '',
    '| code | HTTP status | retry | title |',
    '| --- | --- | --- | --- |',
    ...(Object.keys(problemKinds) as ProblemCode[]).map(
      (code) =>
        `| <a id="${code}"></a>\`${code}\` | ${problemKinds[code].status} | ${problemKinds[code].retry} | ${problemKinds[code].title} |`,
    ),
    '',
  ].join('\n');
}
