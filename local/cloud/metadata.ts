/**
 * The metadata server: what google-auth-library and gcp-metadata ask on a machine of Google's. Each identity that exists
 * in the simulated cloud can be asked for by its e-mail, so several functions in one process are told apart.
 */
import type { IncomingMessage } from 'node:http';
import { type Identity, subjectOf } from '../identity.js';
import type { World } from './api.js';
import { projectTable } from './projects.js';
import { listen, type RunningServer } from './server.js';

export interface MetadataOptions {
  readonly world: World;
  readonly identity: Identity;
  /** The project that the machine runs in. */
  readonly project: string;
  /** E-mail behind `default`. */
  readonly defaultServiceAccount: string;
  readonly zone?: string;
}

const root = '/computeMetadata/v1';
const lifeSeconds = 3600;
const scopes = ['https://www.googleapis.com/auth/cloud-platform', 'https://www.googleapis.com/auth/userinfo.email'];

type Found = string | { json: unknown } | undefined;

export function metadataServer(options: MetadataOptions, port: number): Promise<RunningServer> {
  return listen(port, async (request, response) => {
    const url = new URL(request.url ?? '/', 'http://loopback');
    const flavor = { 'metadata-flavor': 'Google', server: 'Metadata Server for VM' };
    const refusal = refuse(request, url);
    if (refusal !== undefined) {
      response.writeHead(refusal, { ...flavor, 'content-type': 'text/html; charset=UTF-8' }).end(`Error ${refusal}`);
      return;
    }
    const path = url.pathname === '/' ? '' : url.pathname.slice(root.length).replace(/^\/|\/$/g, '');
    const found = await look(options, path, url.searchParams);
    if (found === undefined) {
      response.writeHead(404, { ...flavor, 'content-type': 'text/html; charset=UTF-8' }).end('Error 404 (Not Found)');
    } else if (typeof found === 'string') {
      response.writeHead(200, { ...flavor, 'content-type': 'application/text' }).end(found);
    } else {
      response.writeHead(200, { ...flavor, 'content-type': 'application/json' }).end(JSON.stringify(found.json));
    }
  });
}

/** Without the header it might be a browser that was tricked into asking, or a proxy. */
function refuse({ headers, method }: IncomingMessage, url: URL): number | undefined {
  if (method !== 'GET') return 405;
  if (url.pathname === '/') return undefined;
  if (headers['metadata-flavor'] !== 'Google' || headers['x-forwarded-for'] !== undefined) return 403;
  return url.pathname.startsWith(root) ? undefined : 404;
}

async function look(options: MetadataOptions, path: string, query: URLSearchParams): Promise<Found> {
  const { world, project, zone = 'europe-west4-a' } = options;
  const number = projectTable(world)[project]?.projectNumber ?? '0';
  const account = /^instance\/service-accounts\/([^/]+)(?:\/(\w+))?$/.exec(path);
  if (account !== null) return lookAtAccount(options, decodeURIComponent(account[1] ?? ''), account[2], query);
  switch (path) {
    case '':
      return 'instance/\noslogin/\nproject/\nuniverse/\n';
    case 'instance':
      return query.get('recursive') === 'true'
        ? { json: { id: 1, zone: `projects/${number}/zones/${zone}` } }
        : 'attributes/\nid\nregion\nservice-accounts/\nzone\n';
    case 'instance/id':
      return subjectOf(project).slice(0, 19);
    case 'instance/zone':
      return `projects/${number}/zones/${zone}`;
    case 'instance/region':
      return `projects/${number}/regions/${zone.slice(0, zone.lastIndexOf('-'))}`;
    case 'instance/service-accounts':
      return `default/\n${options.defaultServiceAccount}/\n`;
    case 'project':
      return 'attributes/\nnumeric-project-id\nproject-id\n';
    case 'project/project-id':
      return project;
    case 'project/numeric-project-id':
      return number;
    default:
      // universe/universe-domain too: clients then take googleapis.com.
      return undefined;
  }
}

async function lookAtAccount(
  { world, identity, defaultServiceAccount }: MetadataOptions,
  name: string,
  leaf: string | undefined,
  query: URLSearchParams,
): Promise<Found> {
  const email = name === 'default' ? defaultServiceAccount : name;
  const account = world.table<{ email?: string; disabled?: boolean }>('iam.serviceAccounts')[email];
  if (account === undefined || account.disabled === true) return undefined;
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
