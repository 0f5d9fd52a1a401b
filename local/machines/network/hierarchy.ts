/** Decides what hierarchical firewall policies say of a connection. Pure. */
import type { JsonObject } from '../../cloud/kernel/api.js';
import { objectOf, objectsOf, textOf, textsOf } from '../../cloud/kernel/json-fields.js';
import { inRanges } from './firewall.js';

/** `next`: no policy decides, so the rules of the network do. */
export type Verdict = 'allow' | 'deny' | 'next';

/** In each policy the matching rule with the lowest number decides. It may leave the decision to the next policy. */
export function verdictOf(
  policies: readonly JsonObject[],
  passage: { readonly direction: 'INGRESS' | 'EGRESS'; readonly other: string; readonly port: number },
): Verdict {
  for (const policy of policies) {
    const rule = objectsOf(policy['rules'])
      .filter(({ direction, disabled }) => direction === passage.direction && disabled !== true)
      .sort((a, b) => Number(a['priority']) - Number(b['priority']))
      .find((each) => matches(objectOf(each['match']) ?? {}, passage));
    const action = textOf(rule?.['action']);
    if (action === 'allow' || action === 'deny') return action;
  }
  return 'next';
}

function matches(
  match: JsonObject,
  { direction, other, port }: { readonly direction: string; readonly other: string; readonly port: number },
): boolean {
  const ranges = textsOf(match[direction === 'INGRESS' ? 'srcIpRanges' : 'destIpRanges']);
  if (ranges.length > 0 && !inRanges(ranges, other)) return false;
  return objectsOf(match['layer4Configs']).some((config) => {
    const protocol = textOf(config['ipProtocol'])?.toLowerCase();
    if (protocol === 'all') return true;
    if (protocol !== 'tcp' && protocol !== '6') return false;
    const ports = textsOf(config['ports']);
    return (
      ports.length === 0 ||
      ports.some((text) => {
        const [from = Number.NaN, to = from] = text.split('-').map(Number);
        return from <= port && port <= to;
      })
    );
  });
}
