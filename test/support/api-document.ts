/** An OpenAPI document as a program reads it: references followed, its schemas compiled by a validator that is none of ours. */
import { Ajv2020 } from 'ajv/dist/2020.js';
import formats from 'ajv-formats';

export type Json = Readonly<Record<string, unknown>>;

export interface MediaType {
  readonly schema: Json;
  readonly example?: unknown;
  readonly examples?: Readonly<Record<string, { readonly value: unknown }>>;
}

export const examplesOf = ({ example, examples = {} }: MediaType): unknown[] => [
  ...(example === undefined ? [] : [example]),
  ...Object.values(examples).map(({ value }) => value),
];

export interface Parameter {
  readonly name: string;
  readonly in: string;
  readonly description?: string;
  readonly required?: boolean;
  readonly schema: Json;
  readonly example?: unknown;
}

export interface Response {
  readonly description: string;
  readonly headers?: Readonly<Record<string, Json>>;
  readonly content?: Readonly<Record<string, MediaType>>;
}

export interface Operation {
  readonly operationId: string;
  readonly summary: string;
  readonly description?: string;
  readonly tags?: readonly string[];
  readonly security?: readonly unknown[];
  readonly parameters: readonly Json[];
  readonly requestBody?: { readonly content: Readonly<Record<string, MediaType>> };
  readonly responses: Readonly<Record<string, Json>>;
}

export interface Document {
  readonly openapi: string;
  readonly info: Json;
  readonly servers?: readonly { readonly url: string }[];
  readonly tags?: readonly { readonly name: string; readonly description?: string }[];
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>;
  readonly components: Readonly<Record<string, Readonly<Record<string, Json>>>>;
}

export interface ReadDocument {
  readonly document: Document;
  readonly operations: readonly Operation[];
  operation(operationId: string): Operation;
  parameters(operation: Operation): readonly Parameter[];
  response(operation: Operation, status: number | string): Response | undefined;
  /** What a reference leads to; anything else as it is. */
  resolved<T>(found: Json): T;
  /** What is wrong with a value by a schema of the document; undefined: nothing. */
  faults(schema: Json, value: unknown): string | undefined;
  /** Of a value at a place of a request: `body`, `path.teamId`, `query.limit`, `header.If-Match`. */
  faultsIn(operationId: string, place: string, value: unknown): string | undefined;
}

const documentId = 'https://api.invalid/openapi.json';

export function readDocument(document: Document): ReadDocument {
  const ajv = new Ajv2020({ strict: false, validateSchema: false, allErrors: true });
  formats.default(ajv);
  ajv.addFormat('yaml', true);
  ajv.addSchema({ ...structuredClone(document), $id: documentId });
  const compiled = new Map<string, ReturnType<typeof ajv.compile>>();
  const operations = Object.values(document.paths).flatMap((path) => Object.values(path));

  function resolved<T>(found: Json): T {
    const { $ref } = found;
    if (typeof $ref !== 'string') return found as T;
    let node: unknown = document;
    for (const part of $ref.slice(2).split('/'))
      node = (node as Json)[part.replaceAll('~1', '/').replaceAll('~0', '~')];
    if (node === undefined) throw new Error(`${$ref} leads nowhere`);
    return resolved<T>(node as Json);
  }

  const operation = (operationId: string): Operation => {
    const found = operations.find((each) => each.operationId === operationId);
    if (found === undefined) throw new Error(`no operation ${operationId}`);
    return found;
  };
  const parameters = (of: Operation) => of.parameters.map((each) => resolved<Parameter>(each));

  function schemaAt(operationId: string, place: string): Json {
    const found = operation(operationId);
    if (place === 'body') return found.requestBody?.content['application/json']?.schema ?? {};
    const [where, name] = place.split('.');
    const parameter = parameters(found).find(
      (each) => each.in === where && each.name.toLowerCase() === name?.toLowerCase(),
    );
    if (parameter === undefined) throw new Error(`${operationId} has no ${place}`);
    return parameter.schema;
  }

  function faults(schema: Json, value: unknown): string | undefined {
    const text = JSON.stringify(schema).replaceAll('"#/', `"${documentId}#/`);
    const validate = compiled.get(text) ?? ajv.compile(JSON.parse(text) as Json);
    compiled.set(text, validate);
    return validate(value) ? undefined : ajv.errorsText(validate.errors);
  }

  return {
    document,
    operations,
    operation,
    parameters,
    response: (of, status) => {
      const found = of.responses[String(status)];
      return found === undefined ? undefined : resolved<Response>(found);
    },
    resolved,
    faults,
    faultsIn: (operationId, place, value) => faults(schemaAt(operationId, place), value),
  };
}
