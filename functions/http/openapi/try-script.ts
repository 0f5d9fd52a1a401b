/**
 * The script of the page to try an API, as the browser gets it. It keeps the token in memory alone, and shows every reply as
 * text. Where this API has a console, the session of the console serves here, too.
 */
export const tryScript = String.raw`
const make = (tag, properties, ...children) => {
  const element = Object.assign(document.createElement(tag), properties);
  element.append(...children);
  return element;
};
const [who, token, groups, main] = ['who', 'token', 'groups', 'main'].map((id) => document.getElementById(id));
const description = await (await fetch('/openapi.json')).json();
document.title = document.querySelector('h1').textContent = description.info.title;

let session;
/** Whom the forms were filled in for. */
let speaker;
/** What was asked before the last change counts no more. */
let turn = 0;
const showWho = (status) => {
  if (session) who.textContent = 'You are signed in as ' + session.email + '.';
  else if (status === 401) who.replaceChildren(make('a', { href: '/console/sign-in?to=/docs' }, 'Sign in'), ' to call it as yourself.');
  else who.textContent = 'Nobody can sign in on this page. Give a token to call it as yourself.';
};
const askSession = async () => {
  const mine = ++turn;
  const reply = await fetch('/console/session', { method: 'POST' }).catch(() => undefined);
  const found = reply?.ok ? await reply.json().catch(() => undefined) : undefined;
  if (mine !== turn) return;
  session = found;
  speaker ??= session?.email;
  showWho(reply?.status);
};
const bearer = async () => {
  const given = token.value.trim();
  if (given !== '') return given;
  if (session && Date.parse(session.expiresAt) - Date.now() < 60_000) await askSession();
  if (session && session.email !== speaker) {
    speaker = session.email;
    throw 'You are signed in as ' + speaker + ' by now. Nothing was sent. Send it again to call as ' + speaker + '.';
  }
  return session?.idToken;
};
new BroadcastChannel('plinth-session').onmessage = ({ data }) => {
  if (data === 'in') return askSession();
  turn++;
  session = undefined;
  showWho(401);
};

const resolved = (part) => {
  if (!part.$ref) return part;
  const found = part.$ref.slice(2).split('/').reduce((node, key) => node[key], description);
  return { ...resolved(found), ...part, $ref: undefined };
};
const json = (value) => JSON.stringify(value, null, 2);
const quoted = (text) => "'" + text.replaceAll("'", "'\\''") + "'";

const inputOf = (each) => {
  const parameter = resolved(each);
  const example = parameter.example === undefined ? '' : 'such as ' + parameter.example;
  const placeholder = [parameter.required ? '' : 'optional', example].filter(Boolean).join(', ');
  const input = make('input', { required: parameter.required, placeholder, autocomplete: 'off' });
  return { parameter, input, label: make('label', { title: parameter.description ?? '' }, make('span', {}, parameter.name), input) };
};

/** What the form says, without who asks. */
const requestOf = (path, inputs, body) => {
  let url = path;
  const query = new URLSearchParams();
  const headers = body ? { 'Content-Type': 'application/json' } : {};
  for (const { parameter, input } of inputs) {
    if (input.value === '') continue;
    if (parameter.in === 'path') url = url.replace('{' + parameter.name + '}', () => encodeURIComponent(input.value));
    else if (parameter.in === 'query') query.set(parameter.name, input.value);
    else headers[parameter.name] = input.value;
  }
  return { target: query.size ? url + '?' + query : url, headers, ...(body && { body: body.value }) };
};

/** Without a token: the command asks for one. */
const curlOf = (method, { target, headers, body }) =>
  [
    'curl --request ' + method + ' ' + quoted(location.origin + target),
    '--header "Authorization: Bearer $(plinth token)"',
    ...Object.entries(headers).map(([name, value]) => '--header ' + quoted(name + ': ' + value)),
    ...(body === undefined ? [] : ['--data ' + quoted(body)]),
  ].join(' \\\n  ');

const send = async (method, { target, headers, body }) => {
  const given = await bearer();
  const reply = await fetch(target, { method, body, headers: { ...headers, ...(given && { authorization: 'Bearer ' + given }) } });
  const text = await reply.text();
  const shown = /json/.test(reply.headers.get('content-type') ?? '') ? json(JSON.parse(text)) : text;
  const named = ['location', 'etag', 'link', 'retry-after', 'allow'].flatMap((name) => reply.headers.has(name) ? [name + ': ' + reply.headers.get(name)] : []);
  return [method + ' ' + target, reply.status + ' ' + reply.statusText, ...named, '', shown].join('\n');
};

const exampleOf = ({ responses }) => {
  const [status, reply] = Object.entries(responses).find(([each]) => each.startsWith('2')) ?? [];
  const example = reply && resolved(reply).content?.['application/json']?.example;
  return example === undefined ? [] : [make('details', {}, make('summary', {}, 'An answer, such as'), make('pre', {}, status + '\n' + json(example)))];
};

const formOf = (path, method, operation) => {
  const inputs = (operation.parameters ?? []).map(inputOf);
  const content = operation.requestBody?.content['application/json'];
  const body = content && make('textarea', { rows: 5, spellcheck: false, value: json(content.example ?? {}) });
  const output = make('pre', { hidden: true });
  const button = make('button', {}, 'Send');
  const copy = make('button', { type: 'button' }, 'Copy as curl');
  const said = make('span', { role: 'status' });
  const form = make('form', {}, ...inputs.map(({ label }) => label), ...(body ? [make('label', {}, 'Body', body)] : []), make('p', {}, button, ' ', copy, ' ', said), output);
  const show = (text) => {
    output.hidden = false;
    output.textContent = text;
  };
  copy.addEventListener('click', async () => {
    const command = curlOf(method, requestOf(path, inputs, body));
    show(command);
    said.textContent = await navigator.clipboard.writeText(command).then(() => 'Copied.', () => 'Copy it from below.');
  });
  form.addEventListener('submit', async (event) => {
    event.preventDefault();
    said.textContent = '';
    button.disabled = true;
    await send(method, requestOf(path, inputs, body)).then(show, (error) => show(String(error)));
    button.disabled = false;
  });
  return form;
};

const operations = Object.entries(description.paths).flatMap(([path, each]) =>
  Object.entries(each).map(([method, operation]) => ({ path, method: method.toUpperCase(), operation })));
for (const { name, description: about } of description.tags) {
  const own = operations.filter(({ operation }) => operation.tags[0] === name);
  if (own.length === 0) continue;
  groups.append(make('a', { href: '#' + name }, name), ' ');
  main.append(make('section', { id: name }, make('h2', {}, name), make('p', {}, about ?? ''), ...own.map(({ path, method, operation }) =>
    make('details', {}, make('summary', {}, make('b', {}, method + ' ' + path), ' — ' + operation.summary), make('p', {}, operation.description ?? ''), ...exampleOf(operation), formOf(path, method, operation)))));
}
await askSession();
`;
