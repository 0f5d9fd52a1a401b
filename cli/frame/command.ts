/** What a command is: an object that reads like its own help page, and returns data. main runs it, output prints it. */
import type { GivenFlags, Option } from '../../shared/bootstrap/options.js';
import type { Fault, Problem } from '../../shared/problems.js';
import type { Token } from '../identity/token.js';
import type { Client } from '../service/client.js';
import type { OrganizationClient } from '../service/organization-client.js';
import type { Api, Settings } from '../settings.js';
import { type ArgumentName, bracketed } from './arguments.js';
import type { CommandFlag, FlagOfKind } from './flags.js';
import type { Io } from './io.js';
import type { Output, Style } from './output.js';

/** A text from the command line, and where it stood: `<email>`, `--role`. */
interface Word {
  readonly path: string;
  readonly text: string;
}

export interface Call {
  /** An argument, or else a flag with a value. */
  word(name: ArgumentName | FlagOfKind<'string'>): Word | undefined;
  readonly given: GivenFlags;
  /** What is wrong with the command line itself; told together with what else is found wrong. */
  readonly faults: readonly Fault[];
  /** What stands after `--`, for a command that passes it on. */
  readonly passed: readonly string[];
  has(flag: FlagOfKind<'bool'>): boolean;
  number(flag: FlagOfKind<'int'>): number | undefined;
  readonly io: Io;
  readonly settings: Settings;
  readonly output: Output;
  /** Aborted by Ctrl-C. */
  readonly interrupted: AbortSignal;
  /** Where an API is; throws where nobody says so. */
  endpoint(api: Api): Promise<string>;
  /** What calls of plinth bear. */
  token(): Promise<Token>;
  /** To bootstraps. */
  connect(): Promise<Client>;
  /** To organizations and teams. */
  connectOrganizations(): Promise<OrganizationClient>;
}

/** A result is data: `--json` prints it, `show` says it to people. A problem in it is an end that is no success. */
interface CommandResult {
  readonly data: Readonly<Record<string, unknown>>;
  readonly problem?: Problem;
  /** Of a program that was run in our place. */
  readonly exitCode?: number;
}

export interface Command {
  /** `beta bootstrap-cloud status` */
  readonly words: string;
  /** The arguments it takes, all of them required. */
  readonly takes?: readonly ArgumentName[];
  /** Those after them that may be left out. */
  readonly mayTake?: readonly ArgumentName[];
  /** It passes on what stands after `--`: what that is, in a word and in a sentence. */
  readonly passes?: { readonly name: string; readonly help: string };
  /** One line. */
  readonly summary: string;
  readonly description: readonly string[];
  /** Of the flag table. */
  readonly options?: readonly Option[];
  /** plinth's own, and what each means here. */
  readonly flags?: Readonly<Partial<Record<CommandFlag, string>>>;
  readonly examples: readonly string[];
  /** What people read on stdout. */
  run(call: Call): Promise<CommandResult & { readonly show?: (style: Style) => string }>;
}

export const defineCommand = (command: Command): Command => command;

/** `org add-member <organization> <email>` */
export const usageOf = ({ words, takes = [], mayTake = [], passes }: Command): string =>
  [
    words,
    ...takes.map(bracketed),
    ...mayTake.map((name) => `[${name}]`),
    ...(passes === undefined ? [] : [passedText(passes)]),
  ].join(' ');

export const passedText = ({ name }: NonNullable<Command['passes']>): string => `[-- ${name}…]`;
