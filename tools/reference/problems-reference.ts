/** The reference page of problems and exit codes, from the tables in shared/problems.ts and cli/frame/exit-codes.ts. */
import { exitCodes } from '../../cli/frame/exit-codes.js';
import { type ProblemCode, problemKinds } from '../../shared/problems.js';

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
    ...exitCodes.map(({ code, inFull }) => `| ${code} | ${inFull} | ${codesOf(code)} |`),
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
