/**
 * Settings from the environment and the config file: where plinth is, and who is calling. This file defines what the
 * environment variables mean.
 */
import { existsSync } from 'node:fs';
import { homedir, tmpdir } from 'node:os';
import { join } from 'node:path';
import { isSecret, optionNames, variableOf } from '../shared/bootstrap/options.js';
import { iapTunnelUrl } from '../shared/iap.js';
import { isLoopback } from '../shared/loopback.js';
import type { OAuthClient } from '../shared/oauth.js';
import { Problem } from '../shared/problems.js';
import { proxyVariables } from '../shared/proxy-variables.js';
import { keyForms } from '../shared/secret-forms.js';
import { createSecretRedactor, type SecretRedactor } from '../shared/secret-redactor.js';
import { sshProxyForm, sshProxyRule } from '../shared/ssh-proxy.js';
import { configPath, readConfig, whyNoEndpoint, withoutSlash } from './files/config-file.js';
import type { Io } from './frame/io.js';

export interface Settings {
  /** Secret flags may come from here. Child processes inherit it. */
  readonly env: Io['env'];
  /** Knows every secret that this command has read. All that is printed passes it. */
  readonly redactor: SecretRedactor;
  readonly folder: Io['folder'];
  readonly program: Io['program'];
  readonly home: string;
  /** `$XDG_CONFIG_HOME/plinth`: config file, age identities, keys that plinth made. */
  readonly configFolder: string;
  /** In memory: `$XDG_RUNTIME_DIR`, or Linux's shared memory. Elsewhere the folder for temporary files. */
  readonly runtimeFolder: string;
  /** `PLINTH_TOKEN`. */
  readonly token: string | undefined;
  /** `PLINTH_SSH_PROXY`: `http://host:port` of the HTTP CONNECT proxy for connections to machines. */
  readonly sshProxy: string | undefined;
  /** `PLINTH_ACCESS_TOKEN`: a Google access token for IAP's tunnels, in place of gcloud's. */
  readonly accessToken: string | undefined;
  /** `PLINTH_IAP_TUNNEL_URL`: where IAP takes WebSockets, if not where Google's does. */
  readonly iapTunnelUrl: string | undefined;
  /** `PLINTH_ENDPOINT_OSLOGIN`: base URL of OS Login, if not Google's. */
  readonly osLoginUrl: string | undefined;
  /** `PLINTH_ENDPOINT_SECRETMANAGER`: base URL of Secret Manager, if not Google's. */
  readonly secretManagerUrl: string | undefined;
  /** `PLINTH_ENDPOINT_IAMCREDENTIALS`: base URL of IAM Credentials, if not Google's. */
  readonly iamCredentialsUrl: string | undefined;
  /** `PLINTH_DNS_RESOLVER`: who tells whether a domain is delegated, as `<IP>[:<port>]`. Undefined: the machine's own. */
  readonly dnsResolver: string | undefined;
  /** `SSH_AUTH_SOCK`: where ssh-agent listens. */
  readonly sshAgent: string | undefined;
  /** `OTEL_EXPORTER_OTLP_…`: where traces of commands are sent. Without them no trace is sent. */
  readonly traces: {
    readonly baseUrl: string | undefined;
    readonly url: string | undefined;
    readonly headers: string | undefined;
  };
  readonly noColor: boolean;
  /** A terminal that cannot move its cursor. */
  readonly dumbTerminal: boolean;
}

const shared = '/dev/shm';

export function readSettings({ env, folder, program }: Pick<Io, 'env' | 'folder' | 'program'>): Settings {
  const home = env['HOME'] ?? homedir();
  const xdg = env['XDG_CONFIG_HOME'];
  const redactor = createSecretRedactor({ forms: keyForms });
  registerVariables(redactor, env);
  return {
    env,
    redactor,
    folder,
    program,
    home,
    // The XDG specification says to ignore relative paths.
    configFolder: join(xdg?.startsWith('/') ? xdg : join(home, '.config'), 'plinth'),
    runtimeFolder: env['XDG_RUNTIME_DIR'] || (existsSync(shared) ? shared : tmpdir()),
    token: env['PLINTH_TOKEN'] || undefined,
    sshProxy: env['PLINTH_SSH_PROXY'] || undefined,
    accessToken: env['PLINTH_ACCESS_TOKEN'] || undefined,
    iapTunnelUrl: env['PLINTH_IAP_TUNNEL_URL'] || undefined,
    osLoginUrl: env['PLINTH_ENDPOINT_OSLOGIN'] || undefined,
    secretManagerUrl: env['PLINTH_ENDPOINT_SECRETMANAGER'] || undefined,
    iamCredentialsUrl: env['PLINTH_ENDPOINT_IAMCREDENTIALS'] || undefined,
    dnsResolver: env['PLINTH_DNS_RESOLVER'] || undefined,
    sshAgent: env['SSH_AUTH_SOCK'] || undefined,
    traces: {
      baseUrl: env['OTEL_EXPORTER_OTLP_ENDPOINT'] || undefined,
      url: env['OTEL_EXPORTER_OTLP_TRACES_ENDPOINT'] || undefined,
      headers: env['OTEL_EXPORTER_OTLP_HEADERS'] || undefined,
    },
    noColor: (env['NO_COLOR'] ?? '') !== '',
    dumbTerminal: env['TERM'] === 'dumb',
  };
}

/** A variable with such a name holds a secret, whoever set it. `API_KEY` is one, `KEY_ID` is none. */
const secretName = /(?:TOKEN|SECRET|PASSW(?:OR)?D|PASSPHRASE|CREDENTIALS?|PRIVATE_KEY|API_?KEY|_PAT|_HEADERS)$/i;

/** Of `authorization=Bearer x,other=y` each value by itself, and the credentials in the address of a proxy. */
function registerVariables({ register }: SecretRedactor, env: Io['env']): void {
  const secretOnes = new Set<string>(optionNames.filter(isSecret).map(variableOf));
  for (const [name, value = ''] of Object.entries(env)) {
    for (const secret of credentialsIn(name, value)) register(secret);
    // GOOGLE_APPLICATION_CREDENTIALS is the path of a file.
    if (!secretOnes.has(name) && (!secretName.test(name) || value.startsWith('/'))) continue;
    register(value);
    if (!/_HEADERS$/i.test(name)) continue;
    for (const each of value.split(',')) register(decoded(each.slice(each.indexOf('=') + 1).trim()));
  }
}

/** A proxy's address may be written without `http://`. Its user may be a token, if there is no password. */
function credentialsIn(name: string, value: string): string[] {
  const isProxy = (proxyVariables as readonly string[]).includes(name);
  const pattern = isProxy ? /^(?:[a-z][a-z0-9+.-]*:\/\/)?(\S+)@/i : /^[a-z][a-z0-9+.-]*:\/\/(\S+)@/i;
  const [, userinfo = ''] = pattern.exec(value.trim()) ?? [];
  const [, password] = /^[^:/@]*:(.+)$/.exec(userinfo) ?? [];
  const secrets = isProxy ? [userinfo, password ?? userinfo] : [password ?? ''];
  return secrets.flatMap((secret) => [secret, decoded(secret)]);
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

/** Each has its own endpoint in the config file. */
export type Api = 'bootstraps' | 'api';

/** The first of: `--endpoint`, `PLINTH_ENDPOINT`, `endpoints.<api>` in the config file. Without a trailing slash. */
export async function endpointOf(settings: Settings, api: Api, flag: string | undefined): Promise<string> {
  if (flag !== undefined) return checked(flag, '--endpoint');
  const variable = settings.env['PLINTH_ENDPOINT'];
  if (variable !== undefined && variable !== '') return checked(variable, 'PLINTH_ENDPOINT');
  const file = configPath(settings.configFolder);
  const found = (await readConfig(settings))[`endpoints.${api}`];
  if (found !== undefined) return checked(found, `endpoints.${api} in ${file}`);
  throw new Problem('bad-input', 'Where plinth runs is not known.', {
    errors: [{ path: '--endpoint', message: 'is not given' }],
    advice: `Write endpoints.${api} into ${file} with plinth configure, set PLINTH_ENDPOINT, or give --endpoint.`,
  });
}

/** Where IAP takes WebSockets. Each carries an access token, so plain ws is for loopback only. */
export function tunnelUrlOf({ iapTunnelUrl: given }: Pick<Settings, 'iapTunnelUrl'>): string {
  if (given === undefined) return iapTunnelUrl;
  const { protocol, hostname } = URL.canParse(given) ? new URL(given) : { protocol: '', hostname: '' };
  if (protocol === 'wss:' || (protocol === 'ws:' && isLoopback(hostname))) return withoutSlash(given);
  const message = 'must be a wss URL (plain ws is for loopback only)';
  throw new Problem('bad-input', `PLINTH_IAP_TUNNEL_URL ${message}.`, {
    errors: [{ path: 'PLINTH_IAP_TUNNEL_URL', message }],
  });
}

/** Programs see it in the config of ssh and in the list of processes, so it holds no login. Throws a Problem without its value. */
export function sshProxyOf({ sshProxy: given }: Pick<Settings, 'sshProxy'>): string | undefined {
  if (given === undefined || sshProxyForm.test(given)) return given;
  throw new Problem('bad-input', `PLINTH_SSH_PROXY ${sshProxyRule}, without a login.`, {
    errors: [{ path: 'PLINTH_SSH_PROXY', message: sshProxyRule }],
    advice: 'Correct it, or unset it.',
  });
}

/** It gets an access token, so plain http is for loopback only. */
export const osLoginUrlOf = ({ osLoginUrl: given }: Pick<Settings, 'osLoginUrl'>): string =>
  given === undefined ? 'https://oslogin.googleapis.com' : checked(given, 'PLINTH_ENDPOINT_OSLOGIN');

/** It gets an access token, too. */
export const secretManagerUrlOf = ({ secretManagerUrl: given }: Pick<Settings, 'secretManagerUrl'>): string =>
  given === undefined ? 'https://secretmanager.googleapis.com' : checked(given, 'PLINTH_ENDPOINT_SECRETMANAGER');

/** It gets an access token, too. */
export const iamCredentialsUrlOf = (
  { iamCredentialsUrl: given }: Pick<Settings, 'iamCredentialsUrl'>,
  from = 'PLINTH_ENDPOINT_IAMCREDENTIALS',
): string => (given === undefined ? 'https://iamcredentials.googleapis.com' : checked(given, from));

export const defaultIssuer = 'https://accounts.google.com';

/** The deployment's OAuth client, with which people log in. Each value is from its variable, or else from `oauth` in the config file. */
export async function loginClientOf(settings: Settings): Promise<OAuthClient> {
  const file = configPath(settings.configFolder);
  const config = await readConfig(settings);
  const clientId = settings.env['PLINTH_OAUTH_CLIENT_ID'] || config['oauth.clientId'];
  if (clientId === undefined) {
    throw new Problem('bad-input', 'The OAuth client of this deployment is not known.', {
      errors: [{ path: 'PLINTH_OAUTH_CLIENT_ID', message: 'is not set' }],
      advice: `Write oauth.clientId into ${file} with plinth configure, or set PLINTH_OAUTH_CLIENT_ID; your operator knows it.`,
    });
  }
  const issuer = settings.env['PLINTH_ISSUER'] || config['oauth.issuer'] || defaultIssuer;
  return {
    issuer: checked(issuer, 'the issuer'),
    clientId,
    clientSecret: settings.env['PLINTH_OAUTH_CLIENT_SECRET'] || config['oauth.clientSecret'],
  };
}

function checked(url: string, from: string): string {
  const message = whyNoEndpoint(url);
  if (message === undefined) return withoutSlash(url);
  throw new Problem('bad-input', `${from} ${message}.`, { errors: [{ path: from, message }] });
}
