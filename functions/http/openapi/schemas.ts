/**
 * Turns zod schemas into the JSON Schemas of an OpenAPI document, and makes examples of them. A schema with an id appears
 * once, among the components.
 */
import * as z from 'zod';
import { ruled } from '../../../shared/api.js';

export type JsonSchema = Readonly<Record<string, unknown>>;

export interface Schemas {
  /** By name. References point here. */
  readonly components: Readonly<Record<string, JsonSchema>>;
  add(name: string, schema: JsonSchema): { readonly $ref: string };
  /** `io` is `input` for what is sent, `output` for what parsing yields. */
  of(schema: z.ZodType, io: 'input' | 'output'): JsonSchema;
  /** The schema that a reference points to, merged with the fields beside the reference. */
  resolved(schema: JsonSchema): JsonSchema;
  /** An example value. It includes an optional field only if the field has an example or a default. */
  exampleOf(schema: JsonSchema): unknown;
}

const prefix = '#/components/schemas/';

function jsonSchemaOf(schema: z.ZodType, io: 'input' | 'output'): JsonSchema {
  const { $schema: _, ...rest } = z.toJSONSchema(schema, {
    io,
    unrepresentable: 'any',
    target: 'draft-2020-12',
    override({ zodSchema, jsonSchema }) {
      // A later release may add fields.
      if (io === 'output' && jsonSchema.additionalProperties === false) delete jsonSchema.additionalProperties;
      if (io === 'output' && jsonSchema.format?.startsWith('date')) delete jsonSchema.pattern;
      // JavaScript's limits on integers are no rule of plinth.
      if (jsonSchema.minimum === Number.MIN_SAFE_INTEGER) delete jsonSchema.minimum;
      if (jsonSchema.maximum === Number.MAX_SAFE_INTEGER) delete jsonSchema.maximum;
      const by = ruled.get(zodSchema);
      if (by === undefined) return;
      for (const key of Object.keys(jsonSchema)) delete jsonSchema[key];
      Object.assign(jsonSchema, jsonSchemaOf(by, 'input'));
    },
  });
  return rest as JsonSchema;
}

/** A fixed time, so that the document never varies. */
const aMoment = '2026-11-23T09:00:00.000Z';

function plainExample({ type, format, minimum }: JsonSchema): unknown {
  if (type === 'boolean') return true;
  if (type === 'integer' || type === 'number') return minimum ?? 1;
  if (format === 'date-time') return aMoment;
  return type === 'string' ? '…' : {};
}

export function createSchemas(): Schemas {
  const components: Record<string, JsonSchema> = {};

  function add(name: string, schema: JsonSchema) {
    const known = components[name];
    if (known !== undefined && JSON.stringify(known) !== JSON.stringify(schema)) {
      throw new Error(`Two schemas are named ${name}.`);
    }
    components[name] = schema;
    return { $ref: prefix + name };
  }

  function of(schema: z.ZodType, io: 'input' | 'output'): JsonSchema {
    const text = JSON.stringify(jsonSchemaOf(schema, io)).replaceAll('"#/$defs/', `"${prefix}`);
    const { $defs = {}, ...rest } = JSON.parse(text) as JsonSchema & { readonly $defs?: Record<string, JsonSchema> };
    for (const [name, { id: _, ...definition }] of Object.entries($defs)) add(name, definition);
    return rest;
  }

  function resolved(schema: JsonSchema): JsonSchema {
    const { $ref, ...beside } = schema;
    if (typeof $ref !== 'string') return schema;
    return { ...resolved(components[$ref.slice(prefix.length)] ?? {}), ...beside };
  }

  function exampleOf(schema: JsonSchema): unknown {
    const whole = resolved(schema);
    const [example] = (whole['examples'] as unknown[] | undefined) ?? [];
    if (example !== undefined) return example;
    if ('const' in whole) return whole['const'];
    if ('default' in whole) return whole['default'];
    const first = ['enum', 'oneOf', 'anyOf'].flatMap((key) => (whole[key] as unknown[] | undefined)?.[0] ?? [])[0];
    if (first !== undefined) return 'enum' in whole ? first : exampleOf(first as JsonSchema);
    if (Array.isArray(whole['allOf'])) {
      return Object.assign({}, ...(whole['allOf'] as JsonSchema[]).map(exampleOf));
    }
    if (whole['type'] === 'array') return [exampleOf(whole['items'] as JsonSchema)];
    if (whole['properties'] === undefined) return plainExample(whole);
    const { properties, required = [] } = whole as {
      readonly properties: Record<string, JsonSchema>;
      readonly required?: readonly string[];
    };
    const shown = Object.entries(properties).filter(
      ([name, each]) => required.includes(name) || 'examples' in each || 'default' in each,
    );
    return Object.fromEntries(shown.map(([name, each]) => [name, exampleOf(each)]));
  }

  return { components, add, of, resolved, exampleOf };
}
