/** By chance: whatever a document allows at one place of a request, the schemas that the service parses by allow, too. */
import { expect } from 'chai';
import fc from 'fast-check';
import type * as z from 'zod';
import { bootstrapsApi } from '../../functions/http/bootstraps/api.js';
import { type ApiDescription, openApiDocument } from '../../functions/http/openapi/openapi.js';
import { organizationsApi } from '../../functions/http/organizations/api.js';
import { flagOf, isLocal, optionNames } from '../../shared/bootstrap/options.js';
import { type Document, examplesOf, type Json, readDocument } from '../support/api-document.js';
import { bySeed, searchFor } from '../support/search.js';

interface Place {
  readonly name: string;
  /** Undefined: the document allows it. */
  documented(value: unknown): string | undefined;
  parses(value: unknown): boolean;
}

const control = [
  '',
  ' ',
  '  ',
  '\u0000',
  'a\nb',
  'a\u0085',
  'a\u200eb',
  'a\u2066',
  '\udfff',
  'a😀',
  '0',
  '-1',
  '1.5',
  '1e3',
];
const texts = fc.oneof(
  fc.string({ unit: 'binary', maxLength: 40 }),
  fc.string({ maxLength: 20 }),
  fc.constantFrom(...control),
  fc.emailAddress(),
  fc.uuid(),
  fc.stringMatching(/^(?:\d{1,3}(?:\.\d{1,2})?(?:ms|[dhmsx])){1,2}$/),
  fc.integer({ min: 1, max: 5000 }).map((length) => 'x'.repeat(length)),
);
const numbers = fc.oneof(fc.integer({ min: -5, max: 300 }), fc.integer(), fc.double({ noNaN: true }));
const values = fc.oneof(
  { weight: 5, arbitrary: texts },
  { weight: 2, arbitrary: numbers },
  fc.constantFrom<unknown>(null, true, [], {}, undefined),
  fc.array(texts, { maxLength: 2 }),
);

/** What a URL is, no pattern tells whole; what a file is, is not judged before it is there. */
const isApart = (option: (typeof optionNames)[number]): boolean =>
  isLocal(option) || flagOf(option).file === true || /Url$|Uri$|Endpoint$/.test(option);

function placesOf(api: ApiDescription): Place[] {
  const { operation, parameters, resolved, faultsIn } = readDocument(
    JSON.parse(JSON.stringify(openApiDocument(api))) as Document,
  );
  return Object.entries(api.routes).flatMap(([operationId, route]): Place[] => {
    const shapes = { path: route.params, query: route.query, header: route.headers };
    const inUrl = parameters(operation(operationId)).map(({ in: where, name, schema }): Place => {
      const key = where === 'header' ? name.toLowerCase() : name;
      const shape = shapes[where as keyof typeof shapes]?.shape[key] as z.ZodType;
      const { type } = resolved<Json>(schema);
      return {
        name: `${operationId} ${where}.${name}`,
        // A URL has text alone, and what is not there was not sent.
        documented: (value) =>
          value === undefined || (type === 'string' && typeof value !== 'string')
            ? 'no text'
            : faultsIn(operationId, `${where}.${name}`, value),
        parses: (value) => shape.safeParse(String(value)).success,
      };
    });
    const content = operation(operationId).requestBody?.content['application/json'];
    if (route.body === undefined || content === undefined) return inUrl;
    const [example] = examplesOf(content) as [Json];
    const { properties = {} } = resolved<{ properties?: Json }>(content.schema);
    const fields = Object.keys(properties).map(
      (field): Place => ({
        name: `${operationId} ${field}`,
        documented: (value) =>
          faultsIn(operationId, 'body', JSON.parse(JSON.stringify({ ...example, [field]: value }))),
        parses: (value) =>
          (route.body as z.ZodType).safeParse(JSON.parse(JSON.stringify({ ...example, [field]: value }))).success,
      }),
    );
    return [...inUrl, ...fields];
  });
}

function optionPlaces(): Place[] {
  const { operation, faultsIn } = readDocument(JSON.parse(JSON.stringify(openApiDocument(bootstrapsApi))) as Document);
  const content = operation('beginBootstrap').requestBody?.content['application/json'];
  const [example] = examplesOf(content ?? { schema: {} }) as [{ readonly options: Json }];
  return optionNames
    .filter((option) => !isApart(option))
    .map((option) => ({
      name: `beginBootstrap options.${option}`,
      documented: (value) =>
        value === undefined
          ? 'not given'
          : faultsIn('beginBootstrap', 'body', { ...example, options: { ...example.options, [option]: value } }),
      parses: (value) => flagOf(option).schema.safeParse(value).success,
    }));
}

for (const [name, places] of [
  ['organizations', placesOf(organizationsApi)],
  ['bootstraps', [...placesOf(bootstrapsApi), ...optionPlaces()]],
] as const) {
  describe(`the document of ${name}`, () => {
    // Compiled once each, outside the time of the search.
    before(() => places.forEach(({ documented }) => void documented('')));

    it(`allows nothing that the service does not parse ${bySeed}`, async () => {
      await searchFor(
        fc.property(fc.constantFrom(...places), values, (place, value) => {
          if (place.documented(value) !== undefined) return;
          expect(place.parses(value), `${place.name}: ${JSON.stringify(value)}`).to.equal(true);
        }),
      );
    });
  });
}
