/** The types of load balancers that organization policies name, read from the insert of a forwarding rule. */
import type { CloudCall, JsonObject } from '../kernel/api.js';
import { textOf } from '../kernel/json-fields.js';

/** A rule with a target instance forwards a protocol. It balances nothing. */
export const forwardsProtocol = (body: JsonObject): boolean =>
  textOf(body['target'])?.includes('/targetInstances/') === true;

const managed = (target: string, proxied: string): string =>
  target.includes('Http') ? `${proxied}_HTTP_HTTPS` : `${proxied}_TCP_PROXY`;

/** `EXTERNAL_NETWORK_TCP_UDP`, `INTERNAL_TCP_UDP`, … */
export function typeOfForwardingRule({ method, body }: Pick<CloudCall, 'method' | 'body'>): string {
  const target = textOf(body['target']) ?? '';
  const isGlobal = method.includes('.globalForwardingRules.');
  switch (textOf(body['loadBalancingScheme'])) {
    case 'INTERNAL':
      return 'INTERNAL_TCP_UDP';
    case 'INTERNAL_MANAGED':
      return managed(target, 'INTERNAL');
    case 'EXTERNAL_MANAGED':
      return managed(target, isGlobal ? 'GLOBAL_EXTERNAL_MANAGED' : 'REGIONAL_EXTERNAL_MANAGED');
    default:
      if (target.includes('Http')) return 'EXTERNAL_HTTP_HTTPS';
      if (target.includes('/targetSslProxies/')) return 'EXTERNAL_SSL_PROXY';
      if (target.includes('/targetTcpProxies/')) return 'EXTERNAL_TCP_PROXY';
      return 'EXTERNAL_NETWORK_TCP_UDP';
  }
}

/** Compares with a type, or with the groups `in:INTERNAL` and `in:EXTERNAL`. */
export const loadBalancerFits =
  (type: string) =>
  (pattern: string): boolean =>
    pattern === type ||
    pattern === `is:${type}` ||
    pattern === (type.includes('INTERNAL') ? 'in:INTERNAL' : 'in:EXTERNAL');
