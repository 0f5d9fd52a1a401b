/** Organization policies in force for the parent. */
import { worlds } from '../../../local/cloud/worlds/table.js';
import { type Bench, type Check, differs, held, heldIf, type Reply, type Tree, unknown } from '../check.js';
import { Untried } from '../untried.js';

async function effective({ ask, parent }: Bench, constraint: string): Promise<Reply> {
  const reply = await ask('orgpolicy', `GET /v2/${parent}/policies/${constraint}:getEffectivePolicy`);
  if (reply.status === 403) throw new Untried(`the policies of the parent can't be read: ${reply.message}`);
  return reply;
}

const rulesOf = (body: Tree): readonly Tree[] => ((body['spec'] as Tree | undefined)?.['rules'] ?? []) as Tree[];

const isSet = (rule: Tree): boolean =>
  rule['enforce'] === true || rule['values'] !== undefined || rule['denyAll'] === true;

const baseline = Object.keys(worlds.seasoned.policies);

export const policyChecks: readonly Check[] = [
  {
    id: 'policies.unset',
    believes: 'A policy that nobody set is answered with its default, and not with 404.',
    source: 'believed',
    async run(bench) {
      const { status, body, message } = await effective(bench, 'compute.requireOsLogin');
      if (status === 200 && rulesOf(body).some(isSet)) return unknown('compute.requireOsLogin is set here');
      return heldIf(status === 200, status === 200 ? JSON.stringify(rulesOf(body)) : `${status} ${message}`);
    },
  },
  {
    id: 'policies.baseline',
    believes: 'An organization of today begins with the policies that Google documents as its baseline.',
    source: 'documented',
    async run(bench) {
      const open: string[] = [];
      for (const constraint of baseline) {
        const { status, body, message } = await effective(bench, constraint);
        if (status !== 200) return differs(`${constraint}: ${status} ${message}`);
        if (!rulesOf(body).some(isSet)) open.push(constraint);
      }
      return open.length === 0 ? held(`all ${baseline.length} are set`) : differs(`not set: ${open.join(', ')}`);
    },
  },
  {
    id: 'policies.absent-constraint',
    believes: 'A constraint that Google does not know answers 400 or 404.',
    source: 'believed',
    async run(bench) {
      const { status, message } = await effective(bench, 'compute.plinthFirstContact');
      return heldIf(status === 400 || status === 404, `${status} ${message}`);
    },
  },
];
