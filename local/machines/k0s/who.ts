/**
 * Who calls the API server, and what they may do. Admins and kubelets have certificates. A joining kubelet has a token of this
 * controller.
 */
import type { IncomingMessage } from 'node:http';
import type { TLSSocket } from 'node:tls';
import { fault } from './fault.js';
import { type Kind, kindOf } from './kinds.js';
import type { Objects } from './objects.js';
import { whoOf } from './pki.js';

export interface Who {
  readonly name: string;
  readonly groups: readonly string[];
}

const secrets = kindOf('secrets');

const bootstrapper = (objects: Objects, token: string): Who | undefined => {
  const [id = '', secret] = token.split('.');
  const found = objects.find(secrets, 'kube-system', `bootstrap-token-${id}`);
  const data = (found?.['data'] ?? {}) as Readonly<Record<string, string>>;
  const of = (name: string): string => Buffer.from(data[name] ?? '', 'base64').toString();
  const isOver = of('expiration') !== '' && new Date(of('expiration')) <= new Date();
  const isGood = secret !== undefined && of('token-secret') === secret && !isOver;
  if (!isGood || of('usage-bootstrap-authentication') !== 'true') return undefined;
  return { name: `system:bootstrap:${id}`, groups: ['system:bootstrappers'] };
};

/** Refuses anonymous requests, as k0s does. */
export function whoCalls(request: IncomingMessage, objects: Objects, ca: string): Who {
  const token = /^Bearer (\S+)$/.exec(request.headers.authorization ?? '')?.[1];
  const raw = (request.socket as TLSSocket).getPeerCertificate?.()?.raw;
  const who = token !== undefined ? bootstrapper(objects, token) : raw === undefined ? undefined : whoOf(raw, ca);
  if (who === undefined) throw fault(401, 'Unauthorized', 'Unauthorized');
  return who;
}

export interface Wish {
  readonly verb: string;
  readonly kind: Kind;
  readonly name?: string | undefined;
  readonly namespace?: string | undefined;
}

/** Follows the node authorizer and the roles of bootstrap tokens. */
export function mustBeAllowed({ name, groups }: Who, wish: Wish): void {
  if (groups.includes('system:masters')) return;
  const requests = wish.kind.plural === 'certificatesigningrequests';
  if (requests && ['create', 'get'].includes(wish.verb)) return;
  const own = wish.name === undefined || `system:node:${wish.name}` === name;
  if (groups.includes('system:nodes') && wish.kind.plural === 'nodes' && own && wish.verb !== 'delete') return;
  const where = wish.kind.namespaced ? `in the namespace "${wish.namespace ?? 'default'}"` : 'at the cluster scope';
  throw fault(
    403,
    'Forbidden',
    `${wish.kind.plural}${wish.kind.group === '' ? '' : `.${wish.kind.group}`}${wish.name === undefined ? '' : ` "${wish.name}"`} is forbidden: User "${name}" cannot ${wish.verb} resource "${wish.kind.plural}" in API group "${wish.kind.group}" ${where}`,
  );
}
