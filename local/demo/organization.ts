/** An organization's story, told by the real command line: each command, and the first line of its answer. */
import { type PlinthOptions, runPlinth } from './plinth-process.js';
import type { Stage } from './stage.js';

interface Line {
  readonly args: readonly string[];
  /** What must be in the answer. */
  readonly told: RegExp;
  readonly refused?: true;
}

const zoe = 'zoe@example.com';

/** Every member of a team in an organization is a member of that organization: whoever is not, leaves or is refused. */
const story = (team: string): readonly Line[] => [
  { args: ['team', 'add-member', team, zoe], told: /zoe@example\.com/ },
  { args: ['team', 'migrate', team, '--organization', 'acme'], told: /^Error: /, refused: true },
  { args: ['org', 'add-member', 'acme', zoe], told: /zoe@example\.com/ },
  { args: ['team', 'migrate', team, '--organization', 'acme'], told: /acme/ },
  { args: ['org', 'members', 'acme'], told: /zoe@example\.com/ },
];

export async function tellOrganization(stage: Stage, at: PlinthOptions): Promise<readonly string[]> {
  const faults: string[] = [];
  const tell = async ({ args, told, refused }: Line): Promise<string> => {
    const { exitCode, stdout, stderr } = await runPlinth(args, { ...at, show: false });
    const text = `${stdout}${stderr}`;
    const [answer = ''] = text.split('\n').filter((line) => told.test(line));
    stage.command(`plinth ${args.join(' ')}`);
    stage.say(`  ${answer.trim() || text.trim()}`);
    if ((exitCode === 0) !== (refused === undefined) || answer === '')
      faults.push(`plinth ${args.join(' ')} ended with exit code ${exitCode}: ${text.trim()}`);
    return text;
  };
  await tell({ args: ['org', 'create', 'acme'], told: /acme/ });
  const made = await tell({ args: ['team', 'create', 'platform'], told: /platform/ });
  const [team = ''] = /\d{6,}/.exec(made) ?? [];
  for (const line of story(team)) await tell(line);
  return faults;
}
