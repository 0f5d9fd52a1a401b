/** `plinth init`: asks a few questions and writes a `plinth.yaml`, and beside it the JSON schema that editors check it by. */
import { existsSync } from 'node:fs';
import { dirname, join } from 'node:path';
import {
  flagName,
  flagOf,
  type GivenFlags,
  isSecret,
  optionNames,
  type SecretOption,
  variableOf,
} from '../../shared/bootstrap/options.js';
import { checkOptions } from '../../shared/bootstrap/rules.js';
import type { Fault } from '../../shared/problems.js';
import { homePlaceOf, openMode, readIfThere, whyUnwritable, writeWhole } from '../files/files.js';
import { type CommandContext, defineCommand } from '../frame/command.js';
import { unasked } from '../frame/confirm.js';
import { refusal } from '../frame/required.js';
import { type Answers, askedOptions } from '../project/asked-options.js';
import { projectFileOf } from '../project/file.js';
import { askForOffers } from '../project/offers.js';
import { answersTo } from '../project/questions.js';
import { projectSchema, schemaFile, schemaId } from '../project/schema.js';
import { projectText } from '../project/text.js';

export const init = defineCommand({
  description: [
    'Asks what the project is made of and writes plinth.yaml, with all other keys as comments. Billing accounts, folders and DNS zones that this deployment names are offered, and what your newest bootstrap was given. What a flag gives is not asked.',
    'Beside it comes plinth.schema.json, by which editors complete and check the file. --schema writes that one alone, as after an update of plinth. No secret is asked for: the file says which environment variable holds it.',
  ],
  options: askedOptions,
  givenElsewhere: true,
  flags: {
    file: 'File to write. (default: plinth.yaml)',
    yes: 'Do not ask: take the flags and the defaults. Needed where there is no terminal to ask on.',
    force: 'Write over a file that stands there.',
    schema: 'Write plinth.schema.json alone.',
  },
  examples: ['plinth init', 'plinth init --project-name demo --base-domain demo.example.com', 'plinth init --schema'],

  async run(call) {
    const { settings } = call;
    const name = projectFileOf(call);
    const schema = join(dirname(name), schemaFile);
    const at = { file: homePlaceOf(name, settings), schema: homePlaceOf(schema, settings) };
    const faults = [...call.faults, ...faultsOf(call, name, schema, at)];
    if (faults.length > 0) throw refusal(faults);
    if (call.has('schema')) {
      writeSchema(at.schema);
      return { data: { files: [schema] }, show: () => `Written: ${schema}` };
    }
    const answers = await answersTo(call, await askForOffers(call), givenAnswers(call.given));
    checkWhole(answers);
    writeWhole(at.file, projectText(answers, requiredSecrets), openMode);
    writeSchema(at.schema);
    const variables = requiredSecrets.map(variableOf);
    const unset = variables.filter((variable) => !settings.env[variable]);
    const next = unset.length === 0 ? 'plinth up' : `set ${unset.join(', ')}, then plinth up`;
    return {
      data: { files: [name, schema], secrets: variables },
      show: () => `Written: ${name}, ${schema}. Next: ${next}.`,
    };
  },
});

const givenAnswers = (given: GivenFlags): Answers =>
  Object.fromEntries(askedOptions.flatMap((option) => (given[option] === undefined ? [] : [[option, given[option]]])));

/** The file says of each that it is in its own variable. */
const requiredSecrets: readonly SecretOption[] = optionNames
  .filter(isSecret)
  .filter((option) => flagOf(option).required === true);

/** What stops it before anything is asked. */
function faultsOf(
  call: CommandContext,
  name: string,
  schema: string,
  at: { readonly file: string; readonly schema: string },
): Fault[] {
  const onlySchema = call.has('schema');
  const wanted = [...(onlySchema ? [] : [[name, at.file] as const]), [schema, at.schema] as const];
  const faults: Fault[] = onlySchema ? [] : [...unasked(call), ...valueFaults(call.given)];
  for (const [shown, path] of wanted) {
    const stands = existsSync(path) && (path !== at.schema || !isOurs(path));
    if (stands && !call.has('force')) faults.push({ path: shown, message: 'stands already. --force writes over it' });
    const why = whyUnwritable(path);
    if (why !== undefined) faults.push({ path: shown, message: `cannot be written: ${why}` });
  }
  return faults;
}

/** A schema that plinth wrote may be written again. */
function isOurs(path: string): boolean {
  try {
    return readIfThere(path)?.includes(JSON.stringify(schemaId)) === true;
  } catch {
    return false;
  }
}

/** Of what flags gave. Rules between flags are judged with the answers. */
function valueFaults(given: GivenFlags): Fault[] {
  const flagged = new Set(
    askedOptions.filter((option) => given[option] !== undefined).map((option) => flagName(option)),
  );
  return checkOptions(given).faults.filter(({ path }) => (flagged as ReadonlySet<string>).has(path));
}

function checkWhole(answers: Answers): void {
  const there = Object.fromEntries(requiredSecrets.map((option) => [option, 'kept elsewhere']));
  const { faults } = checkOptions({ ...answers, ...there });
  if (faults.length > 0) throw refusal(faults);
}

function writeSchema(path: string): void {
  writeWhole(path, `${JSON.stringify(projectSchema(), undefined, 2)}\n`, openMode);
}
