/** Describes problems in an OpenAPI document: a schema for each, and a response for each set of problems with one status. */
import { type ProblemCode, problemKinds } from '../../../shared/problems.js';
import type { JsonSchema, Schemas } from './schemas.js';

/** `members-outside` → `MembersOutside`. */
export const pascal = (text: string): string =>
  text.replaceAll(/(?:^|[^A-Za-z0-9]+)([A-Za-z0-9])/g, (_, letter: string) => letter.toUpperCase());

const string = (description: string, example: string): JsonSchema => ({
  type: 'string',
  description,
  examples: [example],
});

const problem: JsonSchema = {
  type: 'object',
  description: 'Why something was refused or failed (RFC 9457); further members depend on the `code`',
  required: ['type', 'title', 'status', 'code', 'detail'],
  properties: {
    type: string('Path of the page that explains it', '/problems/conflict'),
    title: string('What it is, the same for all of this code', 'That conflicts with what stands'),
    status: { type: 'integer', description: 'The HTTP status', examples: [409] },
    code: string('What it is, for programs; releases may add some', 'conflict'),
    detail: { type: 'string', description: 'What happened and why, for people' },
    instance: string('The trace id: the log has more under it', '78e2c42d869b518e5a0a93de156ded66'),
    advice: { type: 'string', description: 'What to do next' },
    errors: {
      type: 'array',
      description: 'Each fault of the input, all at once',
      items: { $ref: '#/components/schemas/Fault' },
    },
  },
};

const fault: JsonSchema = {
  type: 'object',
  description: 'One fault of the input',
  required: ['path', 'message'],
  properties: {
    path: string('Where: a field, `query.…`, `path.…`, `header.…`, or a flag', 'query.limit'),
    message: string('What is wrong there', 'must be a whole number from 1 to 200'),
  },
};

/** Members of one kind of problem. Those in `always` are never absent. */
const further: { readonly [K in ProblemCode]?: { properties: JsonSchema; always?: readonly string[] } } = {
  'members-outside': {
    properties: {
      members: {
        type: 'array',
        description: 'E-mails of the members who are not in the organization, sorted',
        items: { type: 'string' },
        examples: [['bob@example.com', 'zoe@example.org']],
      },
    },
    always: ['members'],
  },
  'method-not-allowed': {
    properties: {
      allow: {
        type: 'array',
        description: 'The methods that the path takes',
        items: { type: 'string' },
        examples: [['GET', 'POST']],
      },
    },
    always: ['allow'],
  },
  conflict: {
    properties: {
      teams: {
        type: 'array',
        description: 'The teams that still hold a member who is to be removed',
        items: {
          type: 'object',
          required: ['teamId', 'name'],
          properties: {
            teamId: { type: 'integer', description: 'Number of the team' },
            name: { type: 'string', description: 'What people call it' },
          },
        },
      },
    },
  },
  forbidden: { properties: { option: { type: 'string', description: 'The flag whose value is not allowed here' } } },
  stopped: {
    properties: {
      reason: { type: 'string', description: 'Why new bootstraps are stopped' },
      by: { type: 'string', description: 'Who stopped them' },
      at: { type: 'string', format: 'date-time', description: 'When' },
    },
  },
  'too-many': {
    properties: {
      limit: {
        type: 'string',
        description: '`livingPerOwner`, `livingInAll`, `livingPerTeam`, `livingPerOrganization` or `changesPerMinute`',
      },
      value: { type: 'integer', description: 'How many there may be' },
    },
  },
  'precondition-failed': {
    properties: { plan: { type: 'object', description: 'Of a bootstrap: the plan as it is now' } },
  },
  'over-ceiling': {
    properties: {
      limit: {
        type: 'string',
        description:
          '`hour`, `monthOfOwner`, `month`, `monthOfTeam`, `monthOfOrganization`, or `price` where one is missing',
      },
      month: { type: 'string', description: 'Which month, such as 2026-11' },
      ceiling: { type: 'string', description: 'The most that may be spent, in USD, such as 40.00' },
      asked: { type: 'string', description: 'What it would come to, in USD' },
      missing: { type: 'array', items: { type: 'string' }, description: 'What has no price' },
    },
  },
};

/** Headers of replies by name, all optional. Filled as replies refer to them. */
export interface Headers {
  refer(name: string, description: string, type?: 'integer'): Readonly<Record<string, { readonly $ref: string }>>;
}

const headersOf = (status: number, { refer }: Headers): object => ({
  ...(status === 401 && refer('WWW-Authenticate', 'The scheme to authenticate by: `Bearer`')),
  ...(status === 405 && refer('Allow', 'The methods that the path takes')),
  ...([409, 429, 503].includes(status) &&
    refer('Retry-After', 'Seconds after which it is worth asking again', 'integer')),
});

function schemaOf(schemas: Schemas, code: ProblemCode) {
  const { title, status } = problemKinds[code];
  schemas.add('Fault', fault);
  schemas.add('Problem', problem);
  const { properties = {}, always = [] } = further[code] ?? {};
  return schemas.add(`${pascal(code)}Problem`, {
    description: title,
    allOf: [
      { $ref: '#/components/schemas/Problem' },
      {
        type: 'object',
        required: ['code', 'status', ...always],
        properties: {
          type: { type: 'string', examples: [`/problems/${code}`] },
          title: { type: 'string', examples: [title] },
          detail: { type: 'string', examples: [`${title}.`] },
          status: { type: 'integer', const: status },
          code: { type: 'string', const: code },
          ...properties,
        },
      },
    ],
  });
}

/** The response for problems of one status, and a name for it. */
export function problemResponse(
  schemas: Schemas,
  headers: Headers,
  codes: readonly ProblemCode[],
): [name: string, response: object] {
  const status = problemKinds[codes[0] as ProblemCode].status;
  const each = codes.map((code) => schemaOf(schemas, code));
  const found = headersOf(status, headers);
  const [only] = each;
  const content =
    only !== undefined && each.length === 1
      ? { schema: only, example: schemas.exampleOf(only) }
      : {
          schema: { oneOf: each },
          examples: Object.fromEntries(codes.map((code, i) => [code, { value: schemas.exampleOf(each[i] ?? {}) }])),
        };
  return [
    codes.map(pascal).join('Or'),
    {
      description: codes.map((code) => problemKinds[code].title).join(', or: '),
      ...(Object.keys(found).length > 0 && { headers: found }),
      content: { 'application/problem+json': content },
    },
  ];
}

/** Node's own server refuses it before plinth sees the request. */
export const headersTooLarge = {
  description: 'The URL and the headers take more than 16 KiB; the HTTP server itself refuses that, without a body',
};
