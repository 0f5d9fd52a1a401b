/** The page for whoever meets a problem: each code with its cause and the way out, from the tables in shared/problems.ts and shared/problem-help.ts. */
import { problemHelp } from '../../shared/problem-help.js';
import { type ProblemCode, problemKinds } from '../../shared/problems.js';

const rooms: readonly (readonly [title: string, holds: (code: ProblemCode) => boolean])[] = [
  ['Google Cloud', (code) => code.startsWith('cloud-')],
  ['Machines', (code) => code.startsWith('host-')],
  ['The request', () => true],
];

/** Quotes name members and commands on a page without code; here they are code. */
const inMarkdown = (text: string): string => text.replaceAll(/“([^”]+)”/g, '`$1`');

function sectionOf(code: ProblemCode): string[] {
  const { title, exit, status } = problemKinds[code];
  const { cause, wayOut } = problemHelp[code];
  return [
    `### ${code}`,
    '',
    `*${title}* (exit code ${exit}, HTTP status ${status})`,
    '',
    `- **Cause.** ${inMarkdown(cause)}`,
    `- **Way out.** ${inMarkdown(wayOut)}`,
    '',
  ];
}

export function troubleshooting(): string {
  const left = new Set(Object.keys(problemKinds) as ProblemCode[]);
  const sections = rooms.map(([title, holds]) => {
    const codes = [...left].filter(holds);
    for (const code of codes) left.delete(code);
    return [`## ${title}`, '', ...codes.flatMap(sectionOf)];
  });
  return [
    '# Troubleshooting',
    '',
    'Generated from `shared/problems.ts` and `shared/problem-help.ts`.',
    '',
    '1. Read the message to its end. It says what happened, why, and what to do.',
    '2. Run `plinth doctor`. It checks your config, the service, your token and your SSH key.',
    '3. Run `plinth beta bootstrap-cloud status demo`. It shows which step failed.',
    '4. Read the machine logs: `plinth beta bootstrap-cloud logs demo`.',
    '5. Look up the code below. With `--json` it is `code` of the `problem`.',
    '6. To hand it to somebody else, run `plinth support demo`. It packs all of the above into one archive, without secrets.',
    '',
    'In most cases you heal the cause and run the same command again. It goes on from there. [Problems and exit codes](../reference/problems.md) lists the codes in one table.',
    '',
    ...sections.reverse().flat(),
  ]
    .join('\n')
    .trimEnd()
    .concat('\n');
}
