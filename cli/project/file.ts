/** Reads `plinth.yaml`: what one project is made of, by the names of the flags. Every fault is told with its line and key. */
import { dirname, isAbsolute, join } from 'node:path';
import type { Document, Node, Pair } from 'yaml';
import {
  flagOf,
  type GivenFlags,
  isPath,
  isSecret,
  type Option,
  type SecretOption,
} from '../../shared/bootstrap/options.js';
import { nearest } from '../../shared/nearest.js';
import { type Fault, Problem } from '../../shared/problems.js';
import { homePlaceOf, reason } from '../files/files.js';
import { isTextFault } from '../files/given-text.js';
import { readSecretText, registerUnreadable } from '../files/secret-text.js';
import type { CommandContext } from '../frame/command.js';
import { refusal } from '../frame/required.js';
import type { Settings } from '../settings.js';
import { keyOf, keyOptions, optionOfKey, SecretReference } from './schema.js';

const projectFileName = 'plinth.yaml';

export interface ProjectFile {
  /** As people named it. */
  readonly name: string;
  /** All but secrets. Relative paths begin at the folder of the file. */
  readonly given: GivenFlags;
  readonly references: ReadonlyMap<SecretOption, SecretReference>;
  /** `plinth.yaml:3:zone`, by option. Keys with a fault are among them. */
  readonly places: ReadonlyMap<Option, string>;
  readonly faults: readonly Fault[];
  /** What the file says is not known, so nothing may be said to be missing. */
  readonly isBroken: boolean;
}

export const projectFileOf = (call: CommandContext): string => call.word('file')?.text ?? projectFileName;

/** Throws `bad-input` if it cannot be read at all. */
export async function readProjectFile(name: string, settings: Settings): Promise<ProjectFile> {
  const { text, fault } = textOf(name, settings);
  if (text === undefined) return { ...broken, name, faults: [fault] };
  const [{ isMap }, { readYamlDocument }] = await Promise.all([import('yaml'), import('../../shared/yaml-text.js')]);
  const { document, errors, warnings, lineOf } = readYamlDocument(text);
  const { contents } = document;
  if (errors.length + warnings.length > 0) {
    registerUnreadable(text, settings);
    // What follows a mistake of syntax is read in another way than it was meant.
    const faults = [...errors, ...warnings].map(({ why, line, column }) => ({
      path: `${name}:${line}`,
      message: `is not YAML: ${why}, at column ${column}`,
    }));
    return { ...broken, name, faults };
  }
  if (contents !== null && !isMap(contents)) {
    return { ...broken, name, faults: [{ path: `${name}:1`, message: 'must hold keys and their values' }] };
  }
  const reading: Reading = { name, document, lineOf, given: {}, references: new Map(), places: new Map(), faults: [] };
  for (const pair of contents?.items ?? []) readPair(reading, pair as Pair<Node, Node | null>);
  const { given, references, places, faults } = reading;
  return { name, given: given as GivenFlags, references, places, faults, isBroken: false };
}

const broken = { given: {}, references: new Map(), places: new Map(), isBroken: true } as const;

type TextOf = { readonly text: string; readonly fault?: never } | { readonly text?: never; readonly fault: Fault };

function textOf(name: string, settings: Settings): TextOf {
  try {
    return { text: readSecretText(homePlaceOf(name, settings), 'project file', settings) };
  } catch (error) {
    if (isTextFault(error)) {
      const { line, column, why, remedy } = error;
      return { fault: { path: `${name}:${line}`, message: `${why}, at column ${column}${remedy}` } };
    }
    throw new Problem('bad-input', `${name} cannot be read: ${reason(error)}.`, {
      errors: [{ path: '--file', message: `${name}: ${reason(error)}` }],
      advice: 'plinth init writes one. --file names another.',
    });
  }
}

/** Throws what is wrong with a file of which nothing is known, beside the faults of the command line. */
export function refuseBroken({ name, faults, isBroken }: ProjectFile, flagged: readonly Fault[]): void {
  if (isBroken) throw refusal([...flagged, ...faults], correct(name));
}

export const correct = (name: string): string => `Correct ${name} and run the command again.`;

/** What was read so far. */
interface Reading {
  readonly name: string;
  readonly document: Document;
  lineOf(offset: number): number;
  readonly given: Partial<Record<Option, unknown>>;
  readonly references: Map<SecretOption, SecretReference>;
  readonly places: Map<Option, string>;
  readonly faults: Fault[];
}

function readPair(reading: Reading, { key, value }: Pair<Node, Node | null>): void {
  const { name, document, lineOf, faults, places } = reading;
  // Any other key, such as an alias, is none that the file has.
  const written: unknown = 'value' in key ? key.value : '';
  const place = `${name}:${lineOf(key.range?.[0] ?? 0)}:${String(written)}`;
  const option = typeof written === 'string' ? optionOfKey(written) : undefined;
  if (option === undefined) {
    const meant = nearest(String(written), keyOptions.map(keyOf));
    const hint = meant === undefined ? '' : `; did you mean ${meant}?`;
    faults.push({ path: place, message: `is no key of this file${hint}` });
    return;
  }
  places.set(option, place);
  let found: unknown;
  try {
    found = value?.toJS(document) ?? null;
  } catch {
    faults.push({ path: place, message: 'has aliases that multiply' });
    return;
  }
  const message = isSecret(option)
    ? readReference(reading, option, found)
    : (whyOtherType(option, found, value) ?? readValue(reading, option, found));
  if (message !== undefined) faults.push({ path: place, message });
}

function readValue({ name, given }: Reading, option: Option, value: unknown): undefined {
  const fromFile = (path: unknown) => (typeof path === 'string' ? beneath(dirname(name), path) : path);
  given[option] = !isPath(option) ? value : Array.isArray(value) ? value.map(fromFile) : fromFile(value);
}

const beneath = (folder: string, path: string): string =>
  folder === '.' || path === '' || isAbsolute(path) || path === '~' || path.startsWith('~/')
    ? path
    : join(folder, path);

/** The fault never shows the value: it may be the secret itself. */
function readReference({ name, references }: Reading, option: SecretOption, value: unknown): string | undefined {
  const read = SecretReference.safeParse(value);
  if (!read.success) {
    return 'is a secret and never stands in this file. Write where it is: {env: NAME}, {file: path} or {secretManager: projects/<project>/secrets/<secret>}';
  }
  const { data } = read;
  references.set(option, 'file' in data ? { file: beneath(dirname(name), data.file) } : data);
  return undefined;
}

/** `1.10` without quotes is a number, and would lose its zero. */
function whyOtherType(option: Option, value: unknown, node: Node | null): string | undefined {
  if (value === null) return 'has no value. Give it one, or take the key away';
  const { kind } = flagOf(option);
  const source = node !== null && 'source' in node && typeof node.source === 'string' ? node.source : undefined;
  switch (kind) {
    case 'string': {
      if (typeof value === 'string') return undefined;
      const quoted =
        source !== undefined && typeof value !== 'object' ? `: put it in quotes, ${JSON.stringify(source)}` : '';
      return `must be text${quoted}`;
    }
    case 'int':
      return Number.isSafeInteger(value) ? undefined : 'must be a whole number, without quotes';
    case 'bool':
      return typeof value === 'boolean' ? undefined : 'must be true or false, without quotes';
    case 'list': {
      const isList = Array.isArray(value) && value.every((each) => typeof each === 'string');
      return isList ? undefined : 'must be a list of texts. Numbers need quotes';
    }
  }
}
