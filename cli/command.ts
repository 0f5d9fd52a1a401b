/** What a command is: an object that reads like its own help page, and returns data. main runs it, output prints it. */
import type { GivenFlags, Option } from '../shared/bootstrap/options.js';
import type { Fault, Problem } from '../shared/problems.js';
import type { Client } from './client.js';
import type { OwnFlagName } from './flags.js';
import type { Output, Style } from './output.js';
import type { Settings } from './settings.js';

export interface Call {
  /** The words after the command's own: its arguments. */
  readonly words: readonly string[];
  readonly given: GivenFlags;
  /** What is wrong with the command line itself; told together with what else is found wrong. */
  readonly faults: readonly Fault[];
  has(flag: Exclude<OwnFlagName, 'endpoint'>): boolean;
  readonly settings: Settings;
  readonly output: Output;
  /** Aborted by Ctrl-C. */
  readonly interrupted: AbortSignal;
  connect(): Promise<Client>;
}

/** A result is data: `--json` prints it, `show` says it to people. A problem in it is an end that is no success. */
interface CommandResult {
  readonly data: Readonly<Record<string, unknown>>;
  readonly problem?: Problem;
}

export interface Command {
  /** `beta bootstrap-cloud status` */
  readonly words: string;
  /** `<project>`: the one argument it takes. */
  readonly argument?: string;
  /** One line. */
  readonly summary: string;
  readonly description: readonly string[];
  /** Of the flag table. */
  readonly options: readonly Option[];
  /** plinth's own. */
  readonly flags: readonly OwnFlagName[];
  readonly examples: readonly string[];
  /** What people read on stdout. */
  run(call: Call): Promise<CommandResult & { readonly show?: (style: Style) => string }>;
}

export const defineCommand = (command: Command): Command => command;
