/**
 * `k0s kubectl`. It answers by itself what plinth and packages need, because machines here may have no kubectl. Everything
 * else goes to the machine's own, with the admin's kubeconfig.
 */
import { spawnSync } from 'node:child_process';
import { stringify } from 'yaml';
import { apiOf, type Kind, kinds, type Thing } from './kinds.js';
import { readKubeConfig } from './kube-config.js';
import { readWriting, write } from './kubectl-write.js';
import { place, readIfThere } from './place.js';
import { type Api, mustAsk, reachApi } from './reach.js';
import { cellsOf } from './table.js';

interface Question {
  readonly kind: Kind;
  readonly name?: string | undefined;
  readonly namespace: string;
  readonly all: boolean;
  readonly output: string;
  readonly selector: string;
  readonly ignoreNotFound: boolean;
}

/** Undefined for questions that this stand-in does not support. */
function readQuestion(argv: readonly string[]): Question | undefined {
  const [verb, ...rest] = argv;
  const words: string[] = [];
  let namespace = 'default';
  let output = '';
  let all = false;
  let selector = '';
  let ignoreNotFound = false;
  for (let word = rest.shift(); word !== undefined; word = rest.shift()) {
    const [flag = '', value] = word.split(/=(.*)/s);
    if (['-n', '--namespace'].includes(flag)) namespace = value ?? rest.shift() ?? '';
    else if (['-o', '--output'].includes(flag)) output = value ?? rest.shift() ?? '';
    else if (['-l', '--selector'].includes(flag)) selector = value ?? rest.shift() ?? '';
    else if (['-A', '--all-namespaces'].includes(flag)) all = true;
    else if (flag === '--ignore-not-found') ignoreNotFound = true;
    else if (word.startsWith('-')) return undefined;
    else words.push(word);
  }
  const [asked = '', name] = words;
  const kind = kinds.find((each) => [each.plural, each.kind.toLowerCase(), ...each.short].includes(asked));
  const isKnown =
    verb === 'get' && kind !== undefined && words.length < 3 && ['', 'json', 'yaml', 'name'].includes(output);
  return isKnown ? { kind, name, namespace, all, output, selector, ignoreNotFound } : undefined;
}

function printed({ kind, output }: Question, found: Readonly<Record<string, unknown>>): string {
  if (output === 'json') return `${JSON.stringify(found, undefined, 4)}\n`;
  if (output === 'yaml') return stringify(found);
  const things = (found['items'] as readonly Thing[] | undefined) ?? [found as Thing];
  if (output === 'name') return things.map(({ metadata }) => `${kind.kind.toLowerCase()}/${metadata.name}\n`).join('');
  if (things.length === 0) return 'No resources found\n';
  const rows = [
    ['Name', ...Object.keys(kind.columns), 'Age'].map((each) => each.toUpperCase()),
    ...things.map((each) => cellsOf(kind, each)),
  ];
  const widths = (rows[0] ?? []).map((_, i) => Math.max(...rows.map((row) => row[i]?.length ?? 0)) + 3);
  return rows
    .map(
      (row) =>
        `${row
          .map((cell, i) => cell.padEnd(widths[i] ?? 0))
          .join('')
          .trimEnd()}\n`,
    )
    .join('');
}

export async function kubectl(argv: readonly string[]): Promise<number> {
  const raw = argv[0] === 'get' && argv[1] === '--raw' ? argv[2] : undefined;
  const config = readIfThere(place.adminConfig);
  if (config === undefined) {
    throw new Error(
      `admin config "${place.adminConfig}" not found, check if the control plane is initialized on this node`,
    );
  }
  const api = reachApi(readKubeConfig(config));
  if (raw !== undefined) return ask(async () => text(await mustAsk(api, 'GET', raw)));
  const writing = readWriting(argv);
  if (writing !== undefined) return ask(() => write(api, writing));
  const question = readQuestion(argv);
  if (question === undefined) {
    const { status, error } = spawnSync('kubectl', [...argv], {
      stdio: 'inherit',
      env: { ...process.env, KUBECONFIG: place.adminConfig },
    });
    if (error !== undefined) throw new Error(`kubectl ${argv.join(' ')} is not stood for here: ${error.message}`);
    return status ?? 1;
  }
  return ask(() => answered(api, question));
}

async function answered(api: Api, question: Question): Promise<string> {
  const { kind, name, namespace, all, selector, ignoreNotFound } = question;
  const words = [apiOf(kind).includes('/') ? 'apis' : 'api', apiOf(kind)];
  if (kind.namespaced && !all) words.push('namespaces', namespace);
  words.push(kind.plural, ...(name === undefined ? [] : [name]));
  const path = `/${words.join('/')}${selector === '' ? '' : `?labelSelector=${encodeURIComponent(selector)}`}`;
  const { status, body } = await api.ask('GET', path);
  if (status === 404 && ignoreNotFound) return '';
  if (status >= 300) throw new Error(String(body['message'] ?? `status ${status}`));
  return printed(question, body);
}

/** Pages that are not JSON come as a message. */
const text = (found: Readonly<Record<string, unknown>>): string =>
  'kind' in found ? JSON.stringify(found) : String(found['message'] ?? JSON.stringify(found));

async function ask(what: () => Promise<string>): Promise<number> {
  try {
    process.stdout.write(await what());
    return 0;
  } catch (error) {
    process.stderr.write(`Error from server: ${(error as Error).message}\n`);
    return 1;
  }
}
