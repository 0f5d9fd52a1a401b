/**
 * The metadata server that google-auth-library and gcp-metadata ask on Google's machines. It answers for each identity of the
 * simulated cloud by e-mail, because several functions share one process.
 *
 * A VM has only its own account (machines/guest-metadata.ts).
 */
import type { IncomingMessage, ServerResponse } from 'node:http';
import { type Identity, subjectOf } from '../identity/identity.js';
import { serviceAccounts } from './iam/service-accounts.js';
import type { World } from './kernel/api.js';
import { projectTable } from './kernel/projects.js';
import { listen, type RunningServer } from './kernel/server.js';

export interface MetadataOptions {
  readonly world: World;
  readonly identity: Identity;
  /** The project in which the machine runs. */
  readonly project: string;
  /** The e-mail behind `default`. */
  readonly defaultServiceAccount: string;
}

/** The machine that asks. */
export interface MetadataSource {
  readonly world: World;
  readonly identity: Identity;
  readonly project: string;
  readonly zone: string;
  readonly id: string;
  /** Name of the VM. Missing for functions. */
  readonly name?: string;
  /** Of the VM's first interface. Missing for functions. */
  readonly nic?: { readonly network: string; readonly ip: string };
  readonly attributes: Readonly<Record<string, string>>;
  /** E-mails that the list shows. */
  readonly accounts: readonly string[];
  /** Scopes of their tokens. */
  readonly scopes: readonly string[];
  /** The e-mail behind `default` or another name. Undefined if the machine may not ask for it. */
  accountNamed(name: string): string | undefined;
}

const root = '/computeMetadata/v1';
const lifeSeconds = 3600;
const functionScopes = [
  'https://www.googleapis.com/auth/cloud-platform',
  'https://www.googleapis.com/auth/userinfo.email',
];

type Found = string | { json: unknown } | undefined;

export function metadataServer(options: MetadataOptions, port: number): Promise<RunningServer> {
  const { project, defaultServiceAccount } = options;
  const source: MetadataSource = {
    ...options,
    zone: 'europe-west4-a',
    id: subjectOf(project).slice(0, 19),
    attributes: {},
    accounts: [defaultServiceAccount],
    scopes: functionScopes,
    accountNamed: (name) => (name === 'default' ? defaultServiceAccount : name),
  };
  return listen(port, (request, response) => answerMetadata(source, request, response));
}

export async function answerMetadata(
  source: MetadataSource,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  const url = new URL(request.url ?? '/', 'http://loopback');
  const flavor = { 'metadata-flavor': 'Google', server: 'Metadata Server for VM' };
  const refusal = refuse(request, url);
  if (refusal !== undefined) {
    response.writeHead(refusal, { ...flavor, 'content-type': 'text/html; charset=UTF-8' }).end(`Error ${refusal}`);
    return;
  }
  const path = url.pathname === '/' ? '' : url.pathname.slice(root.length).replace(/^\/|\/$/g, '');
  const found = await look(source, path, url.searchParams);
  if (found === undefined) {
    response.writeHead(404, { ...flavor, 'content-type': 'text/html; charset=UTF-8' }).end('Error 404 (Not Found)');
  } else if (typeof found === 'string') {
    response.writeHead(200, { ...flavor, 'content-type': 'application/text' }).end(found);
  } else {
    response.writeHead(200, { ...flavor, 'content-type': 'application/json' }).end(JSON.stringify(found.json));
  }
}

/** Without the header the request might come from a proxy, or from a browser that was tricked. */
function refuse({ headers, method }: IncomingMessage, url: URL): number | undefined {
  if (method !== 'GET') return 405;
  if (url.pathname === '/') return undefined;
  if (headers['metadata-flavor'] !== 'Google' || headers['x-forwarded-for'] !== undefined) return 403;
  return url.pathname.startsWith(root) ? undefined : 404;
}

async function look(source: MetadataSource, path: string, query: URLSearchParams): Promise<Found> {
  const { world, project, zone, id, name, nic, attributes } = source;
  const number = projectTable(world)[project]?.projectNumber ?? '0';
  const all = query.get('recursive') === 'true';
  const account = /^instance\/service-accounts\/([^/]+)(?:\/(\w+))?$/.exec(path);
  if (account !== null) return lookAtAccount(source, decodeURIComponent(account[1] ?? ''), account[2], query);
  const attribute = /^instance\/attributes\/([\w-]+)$/.exec(path)?.[1];
  if (attribute !== undefined) return attributes[attribute];
  switch (path) {
    case '':
      return 'instance/\noslogin/\nproject/\nuniverse/\n';
    case 'instance':
      return all
        ? { json: { id: 1, zone: `projects/${number}/zones/${zone}` } }
        : `attributes/\nid\n${nic === undefined ? '' : 'network-interfaces/\n'}region\nservice-accounts/\nzone\n`;
    case 'instance/id':
      return id;
    case 'instance/name':
      return name;
    case 'instance/hostname':
      return name === undefined ? undefined : `${name}.${zone}.c.${project}.internal`;
    case 'instance/zone':
      return `projects/${number}/zones/${zone}`;
    case 'instance/region':
      return `projects/${number}/regions/${zone.slice(0, zone.lastIndexOf('-'))}`;
    case 'instance/network-interfaces':
      return nic === undefined ? undefined : '0/\n';
    case 'instance/network-interfaces/0':
      return nic === undefined ? undefined : 'ip\nnetwork\n';
    case 'instance/network-interfaces/0/ip':
      return nic?.ip;
    case 'instance/network-interfaces/0/network':
      return nic === undefined ? undefined : `projects/${number}/networks/${nic.network}`;
    case 'instance/attributes':
      return all
        ? { json: attributes }
        : Object.keys(attributes)
            .map((key) => `${key}\n`)
            .join('');
    case 'instance/service-accounts':
      return source.accounts
        .flatMap((email, index) => [...(index === 0 ? ['default/\n'] : []), `${email}/\n`])
        .join('');
    case 'project':
      return 'attributes/\nnumeric-project-id\nproject-id\n';
    case 'project/project-id':
      return project;
    case 'project/numeric-project-id':
      return number;
    default:
      // This includes universe/universe-domain: clients then use googleapis.com.
      return undefined;
  }
}

async function lookAtAccount(
  { world, identity, scopes, accountNamed }: MetadataSource,
  name: string,
  leaf: string | undefined,
  query: URLSearchParams,
): Promise<Found> {
  const email = accountNamed(name);
  const account = email === undefined ? undefined : serviceAccounts(world)[email];
  if (email === undefined || account === undefined || account.disabled === true) return undefined;
  switch (leaf) {
    case undefined:
      return query.get('recursive') === 'true'
        ? { json: { aliases: name === 'default' ? ['default'] : [], email, scopes } }
        : 'aliases\nemail\nidentity\nscopes\ntoken\n';
    case 'aliases':
      return 'default\n';
    case 'email':
      return email;
    case 'scopes':
      return `${scopes.join('\n')}\n`;
    case 'token':
      return {
        json: {
          access_token: identity.accessToken(email, lifeSeconds),
          expires_in: lifeSeconds - 1,
          token_type: 'Bearer',
        },
      };
    case 'identity': {
      const audience = query.get('audience');
      return audience === null || audience === '' ? undefined : identity.idToken({ email, audience, lifeSeconds });
    }
    default:
      return undefined;
  }
}
