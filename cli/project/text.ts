/** Writes a `plinth.yaml` for people: what was answered, each key with its help, and all other keys as comments. */
import { stringify } from 'yaml';
import {
  type FlagGroup,
  flagGroups,
  flagOf,
  isSecret,
  type Option,
  type SecretOption,
  variableOf,
} from '../../shared/bootstrap/options.js';
import type { Answers } from './asked-options.js';
import { keyOf, keyOptions, schemaFile } from './schema.js';

type Values = Readonly<Partial<Record<Option, unknown>>>;

const head = [
  `# yaml-language-server: $schema=./${schemaFile}`,
  '# plinth up makes what stands here, and plinth down removes it.',
  '# Each key is a flag of plinth without its dashes. A flag goes before this file.',
  '# No secret stands here, only where it is: {env: NAME}, {file: path} or',
  '# {secretManager: projects/<project>/secrets/<secret>}.',
];

/** `secrets`: those that are in their own environment variables. */
export function projectText(answers: Readonly<Answers>, secrets: readonly SecretOption[]): string {
  const isAnswered = (option: Option) =>
    (answers as Values)[option] !== undefined || (secrets as readonly Option[]).includes(option);
  const groups = Object.keys(flagGroups) as FlagGroup[];
  const others = keyOptions.filter((option) => !isAnswered(option));
  return [
    ...head,
    ...keyOptions
      .filter(isAnswered)
      .flatMap((option) => [
        '',
        `# ${flagOf(option).help}`,
        lineOf(option, (answers as Values)[option] ?? fallbackOf(option)),
      ]),
    '',
    '# All other keys with their defaults. To use one, take away its first #.',
    ...groups.flatMap((group) => {
      const those = others.filter((option) => flagOf(option).group === group);
      return those.length === 0 ? [] : ['', `# ${flagGroups[group]}:`, ...those.map(commentOf)];
    }),
    '',
  ].join('\n');
}

const fallbackOf = (option: Option): unknown =>
  isSecret(option) ? { env: variableOf(option) } : flagOf(option).default;

function lineOf(option: Option, value: unknown): string {
  if (value === undefined) return `${keyOf(option)}:`;
  return `${keyOf(option)}: ${stringify(value, { collectionStyle: 'flow', lineWidth: 0 }).trimEnd()}`;
}

const commentOf = (option: Option): string => {
  const [first = ''] = flagOf(option).help.split(/(?<=\.) /);
  return `#${lineOf(option, fallbackOf(option))}  # ${first}`;
};
