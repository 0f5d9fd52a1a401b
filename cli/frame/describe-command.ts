/** A command as data, for programs that read `plinth --help --json`: the same tables as the help pages. */
import * as z from 'zod';
import { flagOf, isSecret, type Option, type SecretOption, variableOf } from '../../shared/bootstrap/options.js';
import { argumentHelp } from './arguments.js';
import type { Command } from './command.js';
import { allFlags, bareName, commonFlags, inheritedOptions, optionOf, sharedFlags } from './flags.js';
import { defaultText, typeName } from './help.js';

interface DescribedFlag {
  /** `--registry-type` */
  readonly name: string;
  /** `-s` */
  readonly short?: string;
  readonly type: (typeof typeName)[keyof typeof typeName];
  readonly help: string;
  readonly required: boolean;
  readonly default?: string;
  /** All values that it takes, where there are a few. */
  readonly values?: readonly string[];
  /** The environment variable that may hold it. Only secrets have one. */
  readonly variable?: string;
}

interface DescribedCommand {
  /** `beta bootstrap-cloud status` */
  readonly command: string;
  readonly usage: string;
  readonly summary: string;
  readonly description: readonly string[];
  readonly arguments: readonly { readonly name: string; readonly required: boolean; readonly help: string }[];
  /** What it takes after `--`. */
  readonly passes?: { readonly name: string; readonly help: string };
  readonly flags: readonly DescribedFlag[];
  readonly examples: readonly string[];
}

export function describeCommand(command: Command): DescribedCommand {
  const { words, usage, summary, description, takes, mayTake, passes, options = [], flags = {}, examples } = command;
  const argument = (required: boolean) => (name: keyof typeof argumentHelp) => ({
    name,
    required,
    help: argumentHelp[name],
  });
  const described = [
    ...[...new Set<Option>([...options, ...inheritedOptions])].map((option) =>
      describeFlag(bareName(option), flagOf(option).help, command),
    ),
    ...Object.entries(flags).map(([name, help]) => describeFlag(name, help, command)),
    ...commonFlags.map((name) => describeFlag(name, sharedFlags[name], command)),
  ];
  return {
    command: words,
    usage: `plinth ${usage} [flags]`,
    summary,
    description,
    arguments: [...takes.map(argument(true)), ...mayTake.map(argument(false))],
    ...(passes !== undefined && { passes }),
    flags: described,
    examples,
  };
}

function describeFlag(name: string, help: string, { givenElsewhere }: Command): DescribedFlag {
  const { kind = 'bool', short } = allFlags[name] ?? {};
  const option = optionOf(name);
  return {
    name: `--${name}`,
    ...(short !== undefined && { short: `-${short}` }),
    type: typeName[kind],
    help,
    // The commands' own flags say it in their help.
    required:
      option === undefined ? help.includes('(required)') : flagOf(option).required === true && givenElsewhere !== true,
    ...(option !== undefined && describeOption(option)),
  };
}

function describeOption(option: Option): Pick<DescribedFlag, 'default' | 'values' | 'variable'> {
  const { schema } = flagOf(option);
  const fallback = defaultText(option);
  return {
    ...(fallback !== undefined && { default: fallback }),
    ...(schema instanceof z.ZodEnum && { values: schema.options.map(String) }),
    ...(isSecret(option) && { variable: variableOf(option as SecretOption) }),
  };
}
