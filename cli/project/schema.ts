/** The form of `plinth.yaml`: its keys are the flags of the flag table, and a secret is a reference. Editors read it as a JSON schema. */
import * as z from 'zod';
import { flagOf, isSecret, type Option, optionNames } from '../../shared/bootstrap/options.js';
import { bareName, inheritedOptions, optionOf } from '../frame/flags.js';

const isKey = (option: Option): boolean => !(inheritedOptions as readonly Option[]).includes(option);
/** The options that the file may hold, in the order of the table. */
export const keyOptions: readonly Option[] = optionNames.filter(isKey);

export const keyOf = bareName;
export const optionOfKey = (key: string): Option | undefined => {
  const option = optionOf(key);
  return option !== undefined && isKey(option) ? option : undefined;
};

const secretManagerName =
  /^projects\/[a-z0-9][a-z0-9:.-]*[a-z0-9]\/secrets\/[A-Za-z0-9_-]{1,255}(?:\/versions\/[A-Za-z0-9_-]{1,63})?$/;

/** Where a secret is. The secret itself never stands in the file. */
export const SecretReference = z.union([
  z.strictObject({
    env: z
      .string()
      .regex(/^[A-Za-z_][A-Za-z0-9_]*$/)
      .meta({ description: 'Environment variable that holds it' }),
  }),
  z.strictObject({
    file: z.string().min(1).meta({ description: 'File that holds it and nothing else' }),
  }),
  z.strictObject({
    secretManager: z.string().regex(secretManagerName).meta({
      description:
        'Secret in Secret Manager, read as yourself: projects/<project>/secrets/<secret>[/versions/<version>]',
    }),
  }),
]);
export type SecretReference = z.infer<typeof SecretReference>;

export const schemaFile = 'plinth.schema.json';
export const schemaId = 'https://plinth.invalid/plinth.schema.json';

/** No key is required, as flags may give it. */
export function projectSchema(): Readonly<Record<string, unknown>> {
  return {
    $schema: 'https://json-schema.org/draft/2020-12/schema',
    $id: schemaId,
    title: 'plinth.yaml',
    description: 'A project that plinth up makes and plinth down removes',
    type: 'object',
    additionalProperties: false,
    properties: Object.fromEntries(keyOptions.map((option) => [keyOf(option), propertyOf(option)])),
  };
}

function propertyOf(option: Option) {
  const { help: description, schema, default: fallback } = flagOf(option);
  const { $schema: _, ...form } = z.toJSONSchema(isSecret(option) ? SecretReference : schema, { io: 'input' });
  return { ...form, description, ...(fallback !== undefined && { default: fallback }) };
}
