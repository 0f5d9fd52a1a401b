/** The reference of both APIs as one page of plain HTML, made from their OpenAPI documents. It has no script. */

/** As much of OpenAPI as the page reads. */
interface Schema {
  readonly $ref?: string;
  readonly description?: string;
  readonly type?: string | readonly string[];
  readonly format?: string;
  readonly pattern?: string;
  readonly const?: unknown;
  readonly enum?: readonly unknown[];
  readonly default?: unknown;
  readonly items?: Schema;
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly additionalProperties?: Schema | boolean;
  readonly required?: readonly string[];
  readonly anyOf?: readonly Schema[];
  readonly oneOf?: readonly Schema[];
  readonly allOf?: readonly Schema[];
  readonly minimum?: number;
  readonly maximum?: number;
  readonly maxLength?: number;
}

interface Content {
  readonly schema?: Schema;
  readonly example?: unknown;
}

interface Parameter {
  readonly $ref?: string;
  readonly name: string;
  readonly in: string;
  readonly required?: boolean;
  readonly description?: string;
  readonly schema?: Schema;
  readonly example?: unknown;
}

interface Reply {
  readonly $ref?: string;
  readonly description: string;
  readonly content?: Readonly<Record<string, Content>>;
}

interface Operation {
  readonly tags: readonly string[];
  readonly summary: string;
  readonly description?: string;
  readonly parameters?: readonly Parameter[];
  readonly requestBody?: { readonly content: Readonly<Record<string, Content>> };
  readonly responses: Readonly<Record<string, Reply>>;
}

export interface ApiDocument {
  readonly info: { readonly title: string; readonly description?: string };
  readonly tags: readonly { readonly name: string; readonly description?: string }[];
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>;
  readonly components: { readonly schemas?: Readonly<Record<string, Schema>> };
}

const escapes: Readonly<Record<string, string>> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;' };
const escaped = (text: string): string => text.replaceAll(/[&<>"]/g, (each) => escapes[each] ?? each);
/** Text of a document: its backticks become code. */
const prose = (text = ''): string => escaped(text).replaceAll(/`([^`]+)`/g, '<code>$1</code>');
const code = (value: unknown): string =>
  `<code>${escaped(typeof value === 'string' ? value : JSON.stringify(value))}</code>`;
const example = (value: unknown): string =>
  value === undefined ? '' : `<pre tabindex="0">${escaped(JSON.stringify(value, null, 2))}</pre>\n`;

const table = (label: string, heads: readonly string[], rows: readonly (readonly string[])[]): string => {
  const cells = rows.map((row) => `<tr>${row.map((cell) => `<td>${cell}`).join('')}`).join('\n');
  return `<table aria-label="${label}">\n<thead><tr>${heads.map((head) => `<th scope="col">${head}`).join('')}\n<tbody>\n${cells}\n</table>\n`;
};

const nameOf = (ref: string): string => ref.split('/').at(-1) ?? ref;
/** What a document calls its part, as the page finds it: the same names are in both documents. */
const idIn = (api: string, ...parts: readonly string[]): string => [api, ...parts].join('-').replaceAll(/[^\w-]/g, '');

function resolved<T extends { readonly $ref?: string }>(document: ApiDocument, part: T): T {
  if (part.$ref === undefined) return part;
  const path = part.$ref.slice(2).split('/');
  return path.reduce((node, key) => (node as Record<string, unknown>)[key], document as unknown) as T;
}

/** A schema in one line; what has a name is a link to it. */
function typeOf(api: string, schema: Schema | undefined): string {
  if (schema === undefined) return '';
  const { $ref, const: only, enum: values, anyOf, oneOf, allOf, type, items, additionalProperties } = schema;
  const several = (parts: readonly Schema[], by: string) => parts.map((part) => typeOf(api, part)).join(by);
  if ($ref !== undefined) return `<a href="#${idIn(api, 'schema', nameOf($ref))}">${escaped(nameOf($ref))}</a>`;
  if (only !== undefined) return code(only);
  if (values !== undefined) return values.map(code).join(', ');
  if (anyOf !== undefined || oneOf !== undefined) return several(anyOf ?? oneOf ?? [], ' or ');
  if (allOf !== undefined && type === undefined) return several(allOf, ' and ');
  if (type === 'array') return `array of ${typeOf(api, items)}`;
  if (typeof additionalProperties === 'object') return `map of ${typeOf(api, additionalProperties)}`;
  return [[type ?? []].flat().join(' or ') || 'any', limitsOf(schema)].filter(Boolean).join(', ');
}

function limitsOf({ format, minimum, maximum, maxLength, pattern }: Schema): string {
  return [
    format === undefined ? '' : escaped(format),
    minimum === undefined ? '' : `at least ${minimum}`,
    maximum === undefined ? '' : `at most ${maximum}`,
    maxLength === undefined ? '' : `at most ${maxLength} characters`,
    pattern === undefined ? '' : code(pattern),
  ]
    .filter(Boolean)
    .join(', ');
}

const parametersOf = (api: string, document: ApiDocument, { parameters = [] }: Operation): string =>
  parameters.length === 0
    ? ''
    : `<h4>Parameters</h4>\n${table(
        'Parameters',
        ['Name', 'In', 'Value', 'Meaning'],
        parameters.map((each) => {
          const { name, in: place, required, description, schema, example: such } = resolved(document, each);
          const value = [typeOf(api, schema), such === undefined ? '' : `such as ${code(such)}`].filter(Boolean);
          return [code(name), place + (required ? ', required' : ''), value.join(', '), prose(description)];
        }),
      )}`;

function bodyOf(api: string, { requestBody }: Operation): string {
  const [type, content] = Object.entries(requestBody?.content ?? {})[0] ?? [];
  if (content === undefined) return '';
  return `<h4>Body</h4>\n<p>${code(type)}: ${typeOf(api, content.schema)}</p>\n${example(content.example)}`;
}

function repliesOf(api: string, document: ApiDocument, { responses }: Operation): string {
  const all = Object.entries(responses).map(([status, each]) => ({ status, ...resolved(document, each) }));
  const isError = ({ status }: { status: string }): boolean => Number(status) >= 400;
  const row = ({ status, description, content }: Reply & { status: string }) => {
    const [type, { schema } = {}] = Object.entries(content ?? {})[0] ?? [];
    return [status, prose(description), type === undefined ? '' : typeOf(api, schema) || code(type)];
  };
  const first = all.find(({ status }) => status.startsWith('2'))?.content;
  return [
    `<h4>Replies</h4>\n${table('Replies', ['Status', 'Meaning', 'Body'], all.filter((each) => !isError(each)).map(row))}`,
    example(Object.values(first ?? {})[0]?.example),
    `<h4>Errors</h4>\n${table('Errors', ['Status', 'Meaning', 'Body'], all.filter(isError).map(row))}`,
  ].join('');
}

const operationOf = (api: string, document: ApiDocument, path: string, method: string, operation: Operation): string =>
  `<details id="${idIn(api, method, path.replaceAll('/', '-'))}">
<summary><code>${method.toUpperCase()} ${escaped(path)}</code> ${prose(operation.summary)}</summary>
<p>${prose(operation.description)}</p>
${parametersOf(api, document, operation)}${bodyOf(api, operation)}${repliesOf(api, document, operation)}</details>`;

function schemaOf(api: string, document: ApiDocument, name: string, schema: Schema): string {
  const parts = [schema, ...(schema.allOf ?? [])].map((part) => resolved(document, part));
  const rows = parts.flatMap(({ properties = {}, required = [] }) =>
    Object.entries(properties).map(([key, each]) => [
      code(key) + (required.includes(key) ? '' : ', optional'),
      typeOf(api, each),
      prose(each.description),
    ]),
  );
  const shape =
    rows.length === 0 ? `<p>${typeOf(api, schema)}</p>\n` : table(name, ['Field', 'Value', 'Meaning'], rows);
  return `<h4 id="${idIn(api, 'schema', name)}"><code>${escaped(name)}</code></h4>
<p>${prose(schema.description)}</p>
${shape}`;
}

function apiOf(api: string, document: ApiDocument): string {
  const { info, tags, paths, components } = document;
  const operations = Object.entries(paths).flatMap(([path, each]) =>
    Object.entries(each).map(([method, operation]) => ({ path, method, operation })),
  );
  const groups = tags.flatMap(({ name, description }) => {
    const own = operations.filter(({ operation }) => operation.tags[0] === name);
    if (own.length === 0) return [];
    const list = own.map(({ path, method, operation }) => operationOf(api, document, path, method, operation));
    return [`<h3 id="${idIn(api, name)}">${escaped(name)}</h3>\n<p>${prose(description)}</p>\n${list.join('\n')}`];
  });
  const schemas = Object.entries(components.schemas ?? {}).map(([name, schema]) =>
    schemaOf(api, document, name, schema),
  );
  return `<section>
<h2 id="${api}">${escaped(info.title)}</h2>
<p>${prose(info.description)}</p>
${groups.join('\n')}
<h3 id="${idIn(api, 'schemas')}">Schemas</h3>
${schemas.join('\n')}
</section>`;
}

const linksOf = (api: string, { info, tags }: ApiDocument): string =>
  `<li><a href="#${api}">${escaped(info.title)}</a>: ${tags
    .map(({ name }) => `<a href="#${idIn(api, name)}">${escaped(name)}</a>`)
    .join(', ')}, <a href="#${idIn(api, 'schemas')}">Schemas</a>`;

/** `styles` and `icon`: where the files of the console are. The names of `apis` begin the addresses within the page. */
export const referencePage = (
  apis: Readonly<Record<string, ApiDocument>>,
  { styles, icon }: { readonly styles: readonly string[]; readonly icon: string },
): string => `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>plinth: APIs</title>
<link rel="icon" href="${icon}">
${styles.map((href) => `<link rel="stylesheet" href="${href}">`).join('\n')}
</head>
<body class="reference">
<header><a class="wordmark" href="/"><img src="${icon}" alt="" width="20" height="20">plinth</a><nav aria-label="Views"><a href="/">Console</a></nav></header>
<main>
<h1>APIs</h1>
<p>Each function serves its own document at <code>/openapi.json</code>. A request bears an ID token, as <code>plinth token</code> prints one: <code>Authorization: Bearer …</code>. An error is a problem, whose <code>type</code> leads to a page that explains it.</p>
<ul>
${Object.entries(apis)
  .map(([api, document]) => linksOf(api, document))
  .join('\n')}
</ul>
${Object.entries(apis)
  .map(([api, document]) => apiOf(api, document))
  .join('\n')}
</main>
</body>
</html>
`;
