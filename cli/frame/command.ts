/** What a command is: an object that reads like its own help page, and returns data. */
import type { GivenFlags, Option } from '../../shared/bootstrap/options.js';
import type { Fault, Problem } from '../../shared/problems.js';
import type { Token } from '../identity/token.js';
import type { Client } from '../service/client.js';
import type { OrganizationClient } from '../service/organization-client.js';
import type { Api, Settings } from '../settings.js';
import type { ArgumentName } from './arguments.js';
import type { CommandFlag, FlagOfKind } from './flags.js';
import type { Io } from './io.js';
import type { Output, Shown } from './output.js';

/** A text from the command line and its place: `<email>`, `--role`. */
interface Word {
  readonly path: string;
  readonly text: string;
}

export interface CommandContext {
  /** Returns an argument, or else a flag with a value. */
  word(name: ArgumentName | FlagOfKind<'string'>): Word | undefined;
  readonly given: GivenFlags;
  /** Faults of the command line itself. They are reported together with faults that are found later. */
  readonly faults: readonly Fault[];
  /** What follows `--`, for a command that passes it on. */
  readonly passed: readonly string[];
  has(flag: FlagOfKind<'bool'>): boolean;
  number(flag: FlagOfKind<'int'>): number | undefined;
  readonly io: Io;
  readonly settings: Settings;
  readonly output: Output;
  /** Aborted by Ctrl-C. */
  readonly interrupted: AbortSignal;
  /** The URL of an API. Throws if it is not configured. */
  endpoint(api: Api): Promise<string>;
  /** The token that calls of plinth carry. */
  token(): Promise<Token>;
  /** A client for bootstraps. */
  connect(): Promise<Client>;
  /** A client for organizations and teams. */
  connectOrganizations(): Promise<OrganizationClient>;
}

/** A result is data: `--json` prints it, `show` formats it for people. With a problem in it, the command has not succeeded. */
interface CommandResult {
  readonly data: Readonly<Record<string, unknown>>;
  readonly problem?: Problem;
  /** What `show` returns names the faults of the problem, so they are not printed a second time. */
  readonly showsFaults?: true;
  /** The exit code of a program that ran in our place. */
  readonly exitCode?: number;
}

/** What a command's module says of it, and what it does. It reads like its own help page. */
export interface CommandDefinition {
  /** It passes on what follows `--`. The name and help describe that. */
  readonly passes?: { readonly name: string; readonly help: string };
  readonly description: readonly string[];
  /** Options from the flag table. */
  readonly options?: readonly Option[];
  /** The options may come from a file, so none is required as a flag. */
  readonly givenElsewhere?: true;
  /** plinth's own flags, and what each means here. */
  readonly flags?: Readonly<Partial<Record<CommandFlag, string>>>;
  readonly examples: readonly string[];
  /** `show` returns what people read on stdout. */
  run(call: CommandContext): Promise<CommandResult & Shown>;
}

export const defineCommand = (definition: CommandDefinition): CommandDefinition => definition;

/** What the list of all commands says of each. */
export interface CommandName {
  /** As cac reads it: `org invite <organization> [email]`. */
  readonly usage: string;
  /** `org invite` */
  readonly words: string;
  /** Required arguments. */
  readonly takes: readonly ArgumentName[];
  /** Optional arguments, after the required ones. */
  readonly mayTake: readonly ArgumentName[];
  /** One line. */
  readonly summary: string;
}

export interface ListedCommand extends CommandName {
  load(): Promise<CommandDefinition>;
}

export type Command = CommandName & CommandDefinition;

/** `name`: under which the module exports the command. */
export const entry = <N extends string>(
  usage: string,
  summary: string,
  module: () => Promise<Readonly<Record<N, CommandDefinition>>>,
  name: N,
): ListedCommand => ({
  usage,
  words: usage.replace(/ [<[].*$/, ''),
  takes: argumentsIn(usage, /<(\w+)>/g),
  mayTake: argumentsIn(usage, /\[(\w+)\]/g),
  summary,
  load: async () => (await module())[name],
});

const argumentsIn = (usage: string, form: RegExp): ArgumentName[] =>
  [...usage.matchAll(form)].map(([, name]) => name as ArgumentName);

export const loadCommand = async (command: ListedCommand): Promise<Command> => ({
  ...command,
  ...(await command.load()),
});

export const passedText = ({ name }: NonNullable<CommandDefinition['passes']>): string => `[-- ${name}…]`;
