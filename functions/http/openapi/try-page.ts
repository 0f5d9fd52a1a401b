/**
 * The page to try an API. It reads /openapi.json and makes a form for each operation. It loads nothing from elsewhere, keeps
 * the token in memory only, and shows every reply as text.
 */
import { createHash } from 'node:crypto';

const style = `
body { font: 16px/1.5 system-ui, sans-serif; max-width: 60rem; margin: 2rem auto; padding: 0 1rem; color-scheme: light dark; overflow-wrap: anywhere }
code, pre, textarea, summary b { font-family: ui-monospace, monospace; font-size: .9rem }
details { border: 1px solid #8886; border-radius: .4rem; margin: .5rem 0; padding: .5rem .75rem }
summary { cursor: pointer }
label { display: block; margin: .5rem 0 }
label span { display: inline-block; min-width: 11rem }
input { width: 24rem; max-width: 100% }
textarea { display: block; width: 100%; box-sizing: border-box }
pre { white-space: pre-wrap; overflow-wrap: anywhere; border-left: 3px solid #8886; padding-left: .75rem }
`;

const script = `
const make = (tag, properties, ...children) => {
  const element = Object.assign(document.createElement(tag), properties);
  element.append(...children);
  return element;
};
const token = document.getElementById('token');
const description = await (await fetch('/openapi.json')).json();
document.title = document.querySelector('h1').textContent = description.info.title;

const resolved = (part) => {
  if (!part.$ref) return part;
  const found = part.$ref.slice(2).split('/').reduce((node, key) => node[key], description);
  return { ...resolved(found), ...part, $ref: undefined };
};

const exampleOf = (part) => {
  const schema = resolved(part);
  if ('default' in schema) return schema.default;
  if (schema.enum) return schema.enum[0];
  if (schema.type !== 'object') return { integer: 0, number: 0, boolean: false, array: [] }[schema.type] ?? '';
  const wanted = Object.entries(schema.properties ?? {}).filter(([name, each]) => 'default' in each || (schema.required ?? []).includes(name));
  return Object.fromEntries(wanted.map(([name, each]) => [name, exampleOf(each)]));
};

const formOf = (path, method, operation) => {
  const inputs = (operation.parameters ?? []).map(resolved).map((parameter) => {
    const input = make('input', { required: parameter.required, placeholder: parameter.required ? '' : 'optional' });
    return { parameter, input, label: make('label', { title: parameter.description ?? '' }, make('span', {}, parameter.name), input) };
  });
  const schema = operation.requestBody?.content['application/json'].schema;
  const body = schema && make('textarea', { rows: 5, spellcheck: false, value: JSON.stringify(exampleOf(schema), null, 2) });
  const output = make('pre', { hidden: true });
  const button = make('button', {}, 'Send');
  const form = make('form', {}, ...inputs.map(({ label }) => label), ...(body ? [make('label', {}, 'Body', body)] : []), button, output);

  form.addEventListener('submit', async (event) => {
    event.preventDefault();
    let url = path;
    const query = new URLSearchParams();
    const headers = {};
    for (const { parameter, input } of inputs) {
      if (input.value === '') continue;
      if (parameter.in === 'path') url = url.replace('{' + parameter.name + '}', () => encodeURIComponent(input.value));
      else if (parameter.in === 'query') query.set(parameter.name, input.value);
      else headers[parameter.name] = input.value;
    }
    if (token.value) headers.authorization = 'Bearer ' + token.value.trim();
    if (body) headers['content-type'] = 'application/json';
    const target = query.size ? url + '?' + query : url;
    button.disabled = true;
    output.hidden = false;
    try {
      const reply = await fetch(target, { method: method.toUpperCase(), headers, ...(body ? { body: body.value } : {}) });
      const text = await reply.text();
      const shown = /json/.test(reply.headers.get('content-type') ?? '') ? JSON.stringify(JSON.parse(text), null, 2) : text;
      const named = ['location', 'etag', 'link', 'retry-after', 'allow'].flatMap((name) => reply.headers.has(name) ? [name + ': ' + reply.headers.get(name)] : []);
      output.textContent = [method.toUpperCase() + ' ' + target, reply.status + ' ' + reply.statusText, ...named, '', shown].join('\\n');
    } catch (error) {
      output.textContent = String(error);
    } finally {
      button.disabled = false;
    }
  });
  return form;
};

for (const [path, operations] of Object.entries(description.paths)) {
  for (const [method, operation] of Object.entries(operations)) {
    const title = make('summary', {}, make('b', {}, method.toUpperCase() + ' ' + path), ' — ' + operation.summary);
    const about = make('p', {}, operation.description ?? '');
    document.querySelector('main').append(make('details', {}, title, about, formOf(path, method, operation)));
  }
}
`;

const sourceOf = (text: string): string => `'sha256-${createHash('sha256').update(text).digest('base64')}'`;

export const tryPagePolicy = [
  "default-src 'none'",
  `script-src ${sourceOf(script)}`,
  `style-src ${sourceOf(style)}`,
  "connect-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join('; ');

export const tryPage = `<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width">
<title>API</title>
<style>${style}</style>
<h1>API</h1>
<p>Made from <a href="/openapi.json">/openapi.json</a>. What is sent here is done for real.</p>
<label><span>ID token</span><input id="token" type="password" autocomplete="off"></label>
<main></main>
<script type="module">${script}</script>
</html>
`;
