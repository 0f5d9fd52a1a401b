/**
 * Where plinth is and who is asking: environment, config file. The only reader of process.env in the command line.
 * Called by main and by what it hands on.
 */
import { readFileSync } from 'node:fs';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { Problem } from '../shared/problems.js';

export interface Settings {
  /** Where secret flags may come from. */
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly home: string;
  /** `$XDG_CONFIG_HOME/plinth`: config file, age identities, keys that plinth made. */
  readonly configFolder: string;
  /** `PLINTH_TOKEN`. */
  readonly token: string | undefined;
  readonly noColor: boolean;
  /** A terminal that cannot move its cursor. */
  readonly dumbTerminal: boolean;
}

export function readSettings(): Settings {
  const env = process.env;
  const home = env['HOME'] ?? homedir();
  const xdg = env['XDG_CONFIG_HOME'];
  return {
    env,
    home,
    // Relative paths are to be ignored, says the XDG specification.
    configFolder: join(xdg?.startsWith('/') ? xdg : join(home, '.config'), 'plinth'),
    token: env['PLINTH_TOKEN'] || undefined,
    noColor: (env['NO_COLOR'] ?? '') !== '',
    dumbTerminal: env['TERM'] === 'dumb',
  };
}

/** Each has an endpoint of its own in the config file. */
export type Api = 'bootstraps' | 'api';

/** The first of: `--endpoint`, `PLINTH_ENDPOINT`, `endpoints.<api>` in the config file. Without a slash at its end. */
export async function endpointOf(settings: Settings, api: Api, flag: string | undefined): Promise<string> {
  if (flag !== undefined) return checked(flag, '--endpoint');
  const variable = settings.env['PLINTH_ENDPOINT'];
  if (variable !== undefined && variable !== '') return checked(variable, 'PLINTH_ENDPOINT');
  const file = join(settings.configFolder, 'config.yaml');
  const endpoints = await endpointsIn(file);
  const found = endpoints[api];
  if (found !== undefined) return checked(found, `endpoints.${api} in ${file}`);
  throw new Problem('bad-input', 'Where plinth runs is not known.', {
    errors: [{ path: '--endpoint', message: 'is not given' }],
    advice: `Give --endpoint, set PLINTH_ENDPOINT, or write endpoints.${api} into ${file}.`,
  });
}

async function endpointsIn(file: string): Promise<Readonly<Partial<Record<Api, string>>>> {
  let text: string;
  try {
    text = readFileSync(file, 'utf8');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return {};
    throw unreadable(file, (error as Error).message);
  }
  const [{ parse }, { z }] = await Promise.all([import('yaml'), import('zod')]);
  const form = z.strictObject({
    endpoints: z.strictObject({ bootstraps: z.string().optional(), api: z.string().optional() }).optional(),
  });
  let content: unknown;
  try {
    content = parse(text) ?? {};
  } catch (error) {
    throw unreadable(file, (error as Error).message.split('\n')[0] ?? '');
  }
  const read = form.safeParse(content);
  if (!read.success) {
    const [issue] = read.error.issues;
    throw unreadable(file, `${issue?.path.join('.') ?? ''} ${issue?.message ?? ''}`.trim());
  }
  const { bootstraps, api } = read.data.endpoints ?? {};
  return { ...(bootstraps !== undefined && { bootstraps }), ...(api !== undefined && { api }) };
}

const unreadable = (file: string, why: string) =>
  new Problem('bad-input', `${file} cannot be read: ${why}.`, {
    advice: 'Correct the file; it may hold endpoints: {bootstraps, api}.',
  });

/** A token is sent there, so plain http is for loopback only. */
function checked(url: string, from: string): string {
  const refuse = (message: string) =>
    new Problem('bad-input', `${from} ${message}.`, { errors: [{ path: from, message }] });
  if (!URL.canParse(url)) throw refuse('must be a URL');
  const { protocol, hostname, username, search, hash } = new URL(url);
  const loopback = hostname === 'localhost' || hostname === '[::1]' || /^127(?:\.\d+){3}$/.test(hostname);
  if (protocol !== 'https:' && !(protocol === 'http:' && loopback)) {
    throw refuse('must begin with https:// (plain http is for loopback only)');
  }
  if (username !== '' || search !== '' || hash !== '') throw refuse('must have no user, query or fragment');
  return url.replace(/\/+$/, '');
}
