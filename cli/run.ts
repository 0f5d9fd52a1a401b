/**
 * `plinth`: arguments in, exit code out. It finds the command, runs it, and prints what it returns. Everything else that it
 * uses of its process is in `io`.
 */
import { flagName, isSecret, optionNames } from '../shared/bootstrap/options.js';
import { refusalOf } from '../shared/bootstrap/rules.js';
import { problemHelp } from '../shared/problem-help.js';
import { type Fault, Problem, problemKinds } from '../shared/problems.js';
import type { SecretRedactor } from '../shared/secret-redactor.js';
import { flagsRelease, programName, version } from '../shared/version.js';
import { commands } from './commands/index.js';
import { problemOfDisk } from './files/files.js';
import { type ArgumentName, bracketed } from './frame/arguments.js';
import { type Argv, readArgv } from './frame/argv.js';
import {
  type Command,
  type CommandContext,
  type CommandName,
  type ListedCommand,
  loadCommand,
} from './frame/command.js';
import { describeCommand } from './frame/describe-command.js';
import { exitCodes } from './frame/exit-codes.js';
import { allFlags, commonFlags, givenFlags, inheritedOptions, ownFlag } from './frame/flags.js';
import { commandHelp, groupHelp } from './frame/help.js';
import type { Io } from './frame/io.js';
import { nextCommand } from './frame/next-command.js';
import { createOutput, type Output } from './frame/output.js';
import { createRegistry, type Match, nearestBeneath, nearestCommands, type Registry } from './frame/registry.js';
import type { ServiceConnection } from './service/connect.js';
import { type Api, endpointOf, readSettings } from './settings.js';

/** The first call of a command makes its connection. */
interface Connected {
  connection?: Promise<ServiceConnection>;
}

/** Returns the exit code once everything is written. */
export async function runPlinth(args: readonly string[], io: Io): Promise<number> {
  const connected: Connected = {};
  const exitCode = await run(args, io, connected);
  await connected.connection?.then(({ end }) => end(exitCode)).catch(() => undefined);
  return exitCode;
}

async function run(args: readonly string[], io: Io, connected: Connected): Promise<number> {
  const { stdout, stderr } = io;
  const settings = readSettings(io);
  const { argv, asksHelp, asksVersion } = readAsked(args);
  const given = givenFlags(argv, settings.env);
  const output = createOutput({
    settings,
    json: ownFlag(argv, 'json'),
    verbose: given.verbose === true,
    stdout,
    stderr,
  });
  guardProcess(io, output);
  for (const option of optionNames.filter(isSecret)) settings.redactor.register(given[option] as string | undefined);
  const registry = createRegistry(commands);
  const listed = registry.match(argv.words);
  let interrupted: AbortSignal | undefined;
  let problem: Problem;
  try {
    if (asksHelp || given.help === true || args.length === 0) {
      await printHelp(io, output, argv, listed, registry);
      return 0;
    }
    if (asksVersion) {
      // With --json it also prints the program's name. The service can then tell plinth from other programs.
      const own = { name: programName, version, flags: flagsRelease };
      output.result(own, 0, { show: () => `${version}\nflags of ${flagsRelease}` });
      return 0;
    }
    if (listed === undefined) throw noCommand(argv, registry);
    const match = { ...listed, command: await loadCommand(listed.command) };
    refuseSlip(argv, match);
    interrupted = interruption(io);
    const call = callOf(match, {
      argv,
      given,
      io: guarded(io, settings.redactor),
      settings,
      output,
      interrupted,
      connected,
    });
    const { data, problem: ended, exitCode, showsFaults = false, ...shown } = await match.command.run(call);
    const code = exitCode ?? ended?.kind.exit ?? 0;
    output.result(
      ended === undefined ? data : { ...data, ...(await asData(ended, output, argv, listed, registry)) },
      code,
      shown,
    );
    if (ended !== undefined) output.problem(ended, showsFaults);
    return code;
  } catch (error) {
    if (error instanceof Problem) problem = error;
    else if (interrupted?.aborted) problem = interruptedProblem(listed?.command);
    else problem = atFault(error, output);
  }
  output.problem(problem);
  output.result(await asData(problem, output, argv, listed, registry), problem.kind.exit, {});
  return problem.kind.exit;
}

/** `plinth help <command>` is `plinth <command> --help`, and `plinth version` is `plinth --version`, as in other programs. */
function readAsked(args: readonly string[]) {
  const argv = readArgv(args, allFlags);
  const [first, ...rest] = argv.words;
  const asksHelp = first === 'help';
  const asksVersion = ownFlag(argv, 'version') || (first === 'version' && rest.length === 0);
  return { argv: asksHelp ? { ...argv, words: rest } : argv, asksHelp, asksVersion };
}

interface CallParts extends Pick<CommandContext, 'given' | 'io' | 'settings' | 'output' | 'interrupted'> {
  readonly argv: Argv;
  readonly connected: Connected;
}

/** What a command receives: its words and flags, and ways to reach the service. */
function callOf(match: Match<Command>, parts: CallParts): CommandContext {
  const { argv, given, io, settings, output, interrupted, connected } = parts;
  const { command } = match;
  const { rest, passed } = parted(argv, match);
  const faults = [...argv.faults, ...misplaced(argv, match, rest)];
  const looksBeforehand = command.flags?.check !== undefined && ownFlag(argv, 'check');
  const endpoint = (api: Api): Promise<string> => {
    const flag = argv.values.get('endpoint');
    return endpointOf(settings, api, typeof flag === 'string' ? flag : undefined);
  };
  const connection = (): Promise<ServiceConnection> => {
    connected.connection ??= import('./service/connect.js').then(({ createConnection }) =>
      createConnection({ words: command.words, settings, output, interrupted }),
    );
    return connected.connection;
  };
  const reach = async (api: Api): Promise<string> => {
    // A command that checks more reports these faults with its own. None calls the service with faults, except to look
    // beforehand: that tells all that is wrong, there as here.
    if (faults.length > 0 && !looksBeforehand) throw refusalOf(faults);
    return endpoint(api);
  };
  return {
    word(name) {
      const { takes, mayTake } = command;
      const argument = rest[[...takes, ...mayTake].indexOf(name as ArgumentName)];
      if (argument !== undefined) return { path: bracketed(name), text: argument };
      const flag = argv.values.get(name);
      return typeof flag === 'string' ? { path: `--${name}`, text: flag } : undefined;
    },
    given,
    faults,
    passed,
    has: (name) => ownFlag(argv, name),
    number(name) {
      const value = argv.values.get(name);
      return typeof value === 'number' ? value : undefined;
    },
    io,
    settings,
    output,
    interrupted,
    endpoint,
    async token() {
      const url = await endpoint('bootstraps');
      return (await connection()).token(url);
    },
    async connect() {
      const url = await reach('bootstraps');
      return (await connection()).bootstraps(url);
    },
    async connectOrganizations() {
      const url = await reach('api');
      return (await connection()).organizations(url);
    },
  };
}

/** How wide help is. */
const columnsOf = ({ stdout }: Io): number => Math.max(40, Math.min(stdout.isTTY ? stdout.columns || 80 : 100, 120));

/** The help of a command, or of all commands that begin with the words: as pages for people, as data for programs. */
async function printHelp(
  io: Io,
  output: Output,
  argv: Argv,
  match: Match<ListedCommand> | undefined,
  registry: Registry<ListedCommand>,
): Promise<void> {
  const group = match === undefined ? registry.group(argv.words) : [match.command];
  // Words that are no command have no help.
  if (group.length === 0) throw noCommand(argv, registry);
  if (output.json) {
    const loaded = await Promise.all(group.map(loadCommand));
    output.result({ commands: loaded.map(describeCommand), exitCodes }, 0, {});
    return;
  }
  const [columns, whole] = [columnsOf(io), ownFlag(argv, 'all')];
  const page =
    match === undefined
      ? groupHelp(group, commands, columns, whole)
      : commandHelp(await loadCommand(match.command), columns, whole);
  output.result({}, 0, { show: () => page });
}

function noCommand({ words, faults }: Argv, { group }: Registry<ListedCommand>): Problem {
  const beneath = group(words);
  if (beneath.length > 0) {
    return new Problem(
      'bad-input',
      words.length === 0 ? 'No command is given.' : `plinth ${words.join(' ')} needs a command after it.`,
      {
        ...(faults.length > 0 && { errors: faults }),
        advice: `There are: ${beneath.map((command) => command.words).join(', ')}.`,
      },
    );
  }
  const meant = nearestCommands(words, commands).map((name) => `plinth ${name}`);
  return new Problem('bad-input', `plinth has no command ${JSON.stringify(words.join(' '))}.`, {
    advice: meant.length === 0 ? 'plinth --help lists the commands.' : `Did you mean ${inSeries(meant)}?`,
  });
}

/** `beta bootstrap-cloud lst` means no bootstrap: what that would need is not told. A flag of its own says otherwise. */
function refuseSlip({ written }: Argv, { command, rest: [word] }: Match<Command>): void {
  const meant = word === undefined ? undefined : nearestBeneath(word, command, commands);
  const own = new Set((command.options ?? []).map((option) => flagName(option).slice(2)));
  if (meant === undefined || written.some((name) => own.has(name))) return;
  throw new Problem('bad-input', `plinth has no command ${JSON.stringify(`${command.words} ${word}`)}.`, {
    advice: `Did you mean plinth ${meant}?`,
  });
}

/** `a, b or c` */
const inSeries = (names: readonly string[]): string =>
  names.length < 2 ? names.join('') : `${names.slice(0, -1).join(', ')} or ${names.at(-1)}`;

/** Splits the command's arguments from the words after `--`, if it passes those on. */
function parted({ words, separatedAt }: Argv, { command, rest }: Match<Command>) {
  if (command.passes === undefined || separatedAt === undefined) return { rest, passed: [] };
  const at = Math.max(0, separatedAt - (words.length - rest.length));
  return { rest: rest.slice(0, at), passed: rest.slice(at) };
}

/** Faults for flags of other commands, stray words and missing arguments. */
function misplaced(argv: Argv, { command, rest: all }: Match<Command>, rest: readonly string[]): Fault[] {
  const own = new Set<string>([
    ...[...(command.options ?? []), ...inheritedOptions].map((option) => flagName(option).slice(2)),
    ...Object.keys(command.flags ?? {}),
    ...commonFlags,
  ]);
  const { takes, mayTake } = command;
  return [
    ...[...new Set(argv.written)]
      .filter((name) => !own.has(name))
      .map((name) => ({ path: `--${name}`, message: `is no flag of plinth ${command.words}` })),
    ...[...rest.entries()].slice(takes.length + mayTake.length).map(([at, word]) => ({
      path: JSON.stringify(word),
      message: strayText(word, command, argv.afterBool.get(argv.words.length - all.length + at)),
    })),
    ...takes.slice(rest.length).map((name) => ({ path: bracketed(name), message: 'is missing' })),
  ];
}

function strayText(word: string, command: Command, flag = 'flag'): string {
  if (['true', 'false'].includes(word)) {
    return `is a stray word; a value of a yes-or-no flag is written --${flag}=${word}`;
  }
  if (command.passes !== undefined) return `is a stray word; a ${command.passes.name} stands after --`;
  const meant = nearestBeneath(word, command, commands);
  return meant === undefined
    ? 'is a stray word; a flag begins with --'
    : `is a stray word; did you mean plinth ${meant}?`;
}

/** On the first Ctrl-C or SIGTERM, the command reports the state. The second one exits at once. */
function interruption({ events, exit }: Io): AbortSignal {
  const controller = new AbortController();
  const interrupt = () => {
    if (controller.signal.aborted) exit(problemKinds.detached.exit);
    controller.abort();
  };
  for (const signal of ['SIGINT', 'SIGTERM'] as const) events.on(signal, interrupt);
  return controller.signal;
}

/** Only these start something that goes on without them. */
const interruptedProblem = (command: CommandName | undefined) =>
  command?.words === 'beta bootstrap-cloud' || command?.words === 'up'
    ? new Problem('detached', 'Interrupted.', {
        advice: 'What was begun goes on: plinth beta bootstrap-cloud list shows it.',
      })
    : new Problem('interrupted', 'Interrupted.', { advice: 'A change that was under way may have been made.' });

/** Questions, passphrases and the progress display write to stderr themselves. */
function guarded(io: Io, { redact }: SecretRedactor): Io {
  const stderr = new Proxy(io.stderr, {
    get(stream, name) {
      if (name === 'write') return (text: string | Uint8Array, ...rest: []) => stream.write(redact(text), ...rest);
      const value: unknown = Reflect.get(stream, name, stream);
      return typeof value === 'function' ? value.bind(stream) : value;
    },
  });
  // Its getters are not touched: standard input is opened by a look at it.
  return Object.create(io, { stderr: { value: stderr } }) as Io;
}

/** Node prints warnings and errors that nobody catches as they are, with lines of whatever was read. */
function guardProcess({ events, exit }: Io, output: Output): void {
  events.removeAllListeners('warning');
  events.on('warning', ({ name, message }: Error) => output.trace(`${name}: ${message}`));
  events.on('uncaughtException', (error: unknown) => {
    const problem = inside(error, output);
    output.problem(problem);
    const { code, kind, detail, advice } = problem;
    output.result(output.json ? { problem: { code, title: kind.title, detail, advice } } : {}, kind.exit, {});
    exit(kind.exit);
  });
}

/** A disk that refuses is no fault of plinth. */
function atFault(error: unknown, output: Output): Problem {
  return problemOfDisk(error) ?? inside(error, output);
}

/** A fault of plinth itself. Its stack shows only with `--verbose`. */
function inside(error: unknown, output: Output): Problem {
  output.trace(error instanceof Error ? (error.stack ?? error.message) : String(error));
  return new Problem(
    'internal',
    `Something went wrong inside plinth: ${error instanceof Error ? error.message : String(error)}`,
    {
      advice: 'Run the command again with --verbose, and report what it prints.',
      cause: error,
    },
  );
}

/** A problem as `--json` shows it. */
async function asData(
  problem: Problem,
  { json }: Output,
  { words }: Argv,
  match: Match<ListedCommand> | undefined,
  registry: Registry<ListedCommand>,
) {
  if (!json) return {};
  const { code, kind, detail, advice, errors, members } = problem;
  const { cause, wayOut } = problemHelp[code];
  const at = match?.command.takes.indexOf('project') ?? -1;
  const next = await nextCommand(problem, {
    command: match?.command,
    group: match === undefined && registry.group(words).length > 0 ? words : [],
    project: at < 0 ? undefined : match?.rest[at],
    async read(args) {
      const named = registry.match(readArgv(args, allFlags).words);
      return named && readCommand(args, createRegistry([await loadCommand(named.command)]));
    },
  });
  return {
    problem: {
      ...members,
      code,
      title: kind.title,
      detail,
      cause,
      advice: advice ?? wayOut,
      ...(errors !== undefined && { errors }),
      ...(next !== undefined && { next }),
    },
  };
}

/** The command that these arguments are, and whether nothing is wrong with them. */
export function readCommand(args: readonly string[], registry: Registry<Command>) {
  const argv = readArgv(args, allFlags);
  const match = registry.match(argv.words);
  if (match === undefined) return;
  const { rest } = parted(argv, match);
  return {
    command: match.command,
    written: argv.written,
    fits: argv.faults.length === 0 && misplaced(argv, match, rest).length === 0,
  };
}
