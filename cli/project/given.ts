/** What `plinth.yaml` and the command line say together. Flags go before the file, and so does a secret's own variable. */
import type { GivenFlags, Option, SecretOption } from '../../shared/bootstrap/options.js';
import { type Fault, Problem } from '../../shared/problems.js';
import type { CommandContext } from '../frame/command.js';
import { optionOf } from '../frame/flags.js';
import { correct, type ProjectFile } from './file.js';
import { keyOf } from './schema.js';
import { readSecret } from './secrets.js';

export interface ProjectGiven {
  readonly given: GivenFlags;
  readonly faults: readonly Fault[];
}

/** Reads the secrets that the file refers to and nothing else gives. */
export async function givenBy(file: ProjectFile, call: CommandContext): Promise<ProjectGiven> {
  const secrets: Partial<Record<SecretOption, string>> = {};
  const faults: Fault[] = [...file.faults];
  for (const [option, reference] of file.references) {
    if (call.given[option] !== undefined) continue;
    const read = await readSecret(reference, call);
    if ('value' in read) secrets[option] = read.value;
    else faults.push({ path: placeOfOption(file, option), message: read.why });
  }
  return { given: { ...file.given, ...secrets, ...call.given }, faults };
}

/** A key that is missing has no line. */
const placeOfOption = ({ name, places }: ProjectFile, option: Option): string =>
  places.get(option) ?? `${name}: ${keyOf(option)}`;

/** The same problem, whose faults name line and key where the file is at fault. `flagged`: what the command line gave. */
export function placedIn(file: ProjectFile, flagged: GivenFlags, error: unknown): unknown {
  if (!(error instanceof Problem) || error.errors === undefined) return error;
  const { code, detail, errors, members, advice } = error;
  const unread = new Set(file.faults.map(({ path }) => path));
  const placed = errors.flatMap(({ path, message }) => {
    const option = path.startsWith('--') ? optionOf(path.slice(2)) : undefined;
    if (option === undefined || flagged[option] !== undefined) return [{ path, message }];
    const place = placeOfOption(file, option);
    // A key that could not be read has a fault already.
    return unread.has(place) ? [] : [{ path: place, message }];
  });
  if (!placed.some(({ path }) => path.startsWith(`${file.name}:`))) return error;
  const joined = (faults: readonly Fault[]) => faults.map(({ path, message }) => `${path} ${message}`).join('; ');
  return new Problem(code, detail === joined(errors) ? joined(placed) : detail, {
    errors: placed,
    ...(advice !== undefined && { advice }),
    ...(code === 'bad-input' && { advice: correct(file.name) }),
    ...(members !== undefined && { members }),
    cause: error,
  });
}
