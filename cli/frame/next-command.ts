/**
 * The command to run next after a problem, for programs that read `--json`. It is the one that the advice names, or else the
 * one that shows what is wrong. It never changes a project, an organization or a team: that is for a person to decide.
 * Undefined: only a person can go on, and the advice says how.
 */
import { shellWord } from '../../shared/command-words.js';
import { type Problem, type ProblemCode, problemKinds } from '../../shared/problems.js';
import type { Command, CommandName } from './command.js';
import { describeCommand } from './describe-command.js';

export interface RanCommand {
  /** Undefined: the words were no command. */
  readonly command: CommandName | undefined;
  /** The words that were typed, where several commands begin with them. */
  readonly group: readonly string[];
  /** The argument of that name, as it was given. */
  readonly project: string | undefined;
  /** The command that these arguments are, the flags among them, and whether nothing is wrong with them. */
  read(args: readonly string[]): Promise<ReadCommand | undefined>;
}

interface ReadCommand {
  readonly command: Command;
  readonly written: readonly string[];
  readonly fits: boolean;
}

const isWhole = ({ command, written, fits }: ReadCommand): boolean =>
  fits && describeCommand(command).flags.every(({ name, required }) => !required || written.includes(name.slice(2)));

export async function nextCommand(problem: Problem, ran: RanCommand): Promise<string | undefined> {
  const isAway = problem.code === 'unavailable';
  const args = (isAway ? undefined : await inAdvice(problem.advice ?? '', ran)) ?? byKind(problem, ran);
  return args === undefined || args.join(' ') === ran.command?.words
    ? undefined
    : ['plinth', ...args].map(shellWord).join(' ');
}

/** The first command that the advice names and that only looks. Of one that is not whole, the help. */
async function inAdvice(advice: string, { read: readArgs }: RanCommand): Promise<readonly string[] | undefined> {
  for (const [, after = ''] of advice.matchAll(/\bplinth ((?:[^\n](?!\bplinth ))*)/g)) {
    const words = after.split(' ').map((word) => word.replace(/^[“"']|[.,;:?!”"']+$/g, ''));
    // Where a command ends in a sentence, its own words tell: the longest that fits is meant.
    const tries = words.map((_, at) => words.slice(0, words.length - at));
    const readable = tries.filter((args) => !args.some((word) => /^$|[<>…[\]]/.test(word)));
    const read = await Promise.all(readable.map(async (args) => ({ args, one: await readArgs(args) })));
    const found = read.flatMap(({ args, one }) => (one === undefined ? [] : [{ ...one, args }]));
    const [named] = found;
    const whole = found.find(isWhole);
    if (whole !== undefined && looks.has(whole.command.words)) return whole.args;
    if (whole === undefined && named !== undefined) return helpOf(named.command);
  }
  return;
}

const helpOf = ({ words }: CommandName): readonly string[] => ['help', ...words.split(' ')];
const base = ['beta', 'bootstrap-cloud'];

/** Commands that only look, or tell again what was told. */
const looks: ReadonlySet<string> = new Set([
  ...['status', 'list', 'logs'].map((word) => [...base, word].join(' ')),
  ...['beta cleanup list', 'beta cleanup schedule status', 'beta bootstraps status'],
  ...['doctor', 'whoami', 'costs', 'pool status'],
  ...['list', 'members', 'teams', 'events', 'invitations'].map((word) => `org ${word}`),
  ...['list', 'members', 'events', 'transfers'].map((word) => `team ${word}`),
]);

function byKind(problem: Problem, { command, project, group }: RanCommand): readonly string[] | undefined {
  const { code, kind } = problem;
  // A login needs a person.
  if (code === 'unauthenticated') return;
  if (asksForHelp.has(code)) return command === undefined ? ['help', ...group] : helpOf(command);
  if (code === 'not-found') return lists.get(command?.words.split(' ')[0] ?? '') ?? [...base, 'list'];
  if (kind.exit === problemKinds.detached.exit) return [...base, 'list'];
  if (project !== undefined && looksAtProject.has(code)) return [...base, 'status', project];
  return ['doctor'];
}

const asksForHelp: ReadonlySet<ProblemCode> = new Set([
  'bad-input',
  'cloud-input',
  'method-not-allowed',
  'payload-too-large',
  'unsupported-media-type',
  'key-reused',
]);

const looksAtProject: ReadonlySet<ProblemCode> = new Set([
  'conflict',
  'precondition-failed',
  'over-ceiling',
  'bootstrap-failed',
  'install-failed',
  'host-unreachable',
  'host-login',
  'host-changed',
  'host-full',
  'host-failed',
]);

/** By the first word of a command: what lists the things that it takes. */
const lists = new Map([
  ['org', ['org', 'list']],
  ['team', ['team', 'list']],
]);
