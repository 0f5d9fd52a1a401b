/** What the cloud controller calls for a load balancer, as the nodes' account with a role of exactly that. */
import { randomUUID } from 'node:crypto';
import { controllerRole } from '../../../functions/steps/cloud/controller-role.js';
import { type Bench, type Check, differs, held, heldIf, type Reply, unknown, type Verdict } from '../check.js';
import { computePath, ended, linkOf, operationIn, type Place, saidBy } from '../compute.js';
import { emailOf } from './identities.js';
import { network } from './networks.js';

const names = {
  check: 'first-contact-check',
  pool: 'first-contact-pool',
  rule: 'first-contact-rule',
  firewall: 'k8s-fw-first-contact',
};
const address = 'first-contact-address';
const role = 'firstContactController';

const isPolicy = (reply: Reply): boolean => /\bconstraints\//.test(reply.message);

/** A change that the nodes' account makes, up to its end. */
async function changed(bench: Bench, place: Place, line: string, body?: unknown): Promise<Verdict> {
  const token = bench.fact('node-token');
  const reply = await bench.ask('compute', line, body, token);
  if (isPolicy(reply)) return unknown(`an organization policy forbids it here: ${reply.message}`);
  // The simulated cloud serves neither target pools nor health checks.
  if (reply.status === 501) return unknown(saidBy(reply));
  if (reply.status !== 200) return differs(saidBy(reply));
  const over = await ended(bench, place, operationIn(reply), { token });
  if (over === undefined) return differs('the operation did not end within two minutes');
  return over.error === '' ? held(`done after ${over.seconds} s`) : differs(over.error);
}

const nodesRole = controllerRole('external');
const regional = (bench: Bench, rest: string) => computePath(bench, `regions/${bench.region}/${rest}`);

export const controllerChecks: readonly Check[] = [
  {
    id: 'controller.role',
    believes: 'A role of a project may hold each permission that the cloud controller needs.',
    source: 'data',
    makes: 'a role',
    needs: ['accounts.node', 'services.each-api'],
    async run({ ask, project, cloud, signal }) {
      const { status, body, message } = await ask('iam', `POST /v1/projects/${project}/roles`, {
        roleId: role,
        role: { title: 'First contact', includedPermissions: nodesRole.includedPermissions, stage: 'GA' },
      });
      if (status !== 200) return differs(`${status} ${message}`);
      const grant = { member: `serviceAccount:${emailOf({ project }, 'node')}`, role: String(body['name']) };
      await cloud.projects.policy(project).grant([grant], signal);
      return held(`${nodesRole.includedPermissions.length} permissions`);
    },
  },
  {
    id: 'controller.firewall',
    believes: 'With that role, a firewall rule can be made in a network that the role cannot change.',
    source: 'data',
    makes: 'a firewall rule',
    needs: ['controller.role', 'grants.node-impersonation', 'compute.wait'],
    async run(bench) {
      const token = bench.fact('node-token');
      const body = {
        name: names.firewall,
        network: linkOf(bench, `global/networks/${network}`),
        allowed: [{ IPProtocol: 'tcp', ports: ['80'] }],
        sourceRanges: ['35.191.0.0/16'],
      };
      const line = `POST ${computePath(bench, 'global/firewalls')}`;
      const begun = await bench.until(480, async () => {
        const reply = await bench.ask('compute', line, body, token);
        return reply.status === 403 && !isPolicy(reply) ? undefined : reply;
      });
      if (begun === undefined) return differs('refused for eight minutes');
      if (begun.value.status !== 200) return differs(saidBy(begun.value));
      const over = await ended(bench, 'global', operationIn(begun.value), { token });
      return heldIf(over?.error === '', over?.error || `begun after ${begun.seconds} s, done after ${over?.seconds} s`);
    },
  },
  {
    id: 'controller.refused',
    believes: 'That role can do nothing else: deleting the network answers 403 and names compute.networks.delete.',
    source: 'data',
    needs: ['controller.firewall'],
    async run(bench) {
      const line = `DELETE ${computePath(bench, `global/networks/${network}`)}`;
      const reply = await bench.ask('compute', line, undefined, bench.fact('node-token'));
      return heldIf(reply.status === 403 && reply.message.includes('compute.networks.delete'), saidBy(reply));
    },
  },
  {
    id: 'controller.health-check',
    believes: 'With that role, a legacy HTTP health check can be made.',
    source: 'data',
    makes: 'a health check',
    needs: ['controller.firewall'],
    run: (bench) =>
      changed(bench, 'global', `POST ${computePath(bench, 'global/httpHealthChecks')}`, {
        name: names.check,
        port: 10256,
        requestPath: '/healthz',
      }),
  },
  {
    id: 'controller.pool',
    believes: 'With that role, a target pool can be made that uses the health check.',
    source: 'data',
    makes: 'a target pool',
    needs: ['controller.health-check'],
    run: (bench) =>
      changed(bench, `regions/${bench.region}`, `POST ${regional(bench, 'targetPools')}`, {
        name: names.pool,
        healthChecks: [linkOf(bench, `global/httpHealthChecks/${names.check}`)],
      }),
  },
  {
    id: 'controller.forwarding-rule',
    believes: 'With that role, a forwarding rule can be made on an address that somebody else reserved.',
    source: 'data',
    makes: 'a reserved address and a forwarding rule',
    costs: ['address', 'forwardingRule'],
    needs: ['controller.pool'],
    async run(bench) {
      const { cloud, project, region } = bench;
      const begun = await cloud.compute.createAddress(project, region, { name: address }, randomUUID());
      const over = await ended(bench, `regions/${region}`, begun.name);
      const value = (await cloud.compute.address(project, region, address))?.address;
      if (over?.error !== '' || value === undefined) return differs(over?.error ?? 'no address after two minutes');
      const verdict = await changed(bench, `regions/${region}`, `POST ${regional(bench, 'forwardingRules')}`, {
        name: names.rule,
        IPAddress: value,
        IPProtocol: 'TCP',
        portRange: '80-80',
        target: linkOf(bench, `regions/${bench.region}/targetPools/${names.pool}`),
      });
      if (verdict.verdict === 'held') bench.facts.set('rule', names.rule);
      return verdict;
    },
  },
  {
    id: 'controller.removal',
    believes:
      'With that role, all of it can be taken away again: the rule, the pool, the health check, the firewall rule.',
    source: 'data',
    needs: ['controller.pool'],
    async run(bench) {
      const place: Place = `regions/${bench.region}`;
      const seen: string[] = [];
      const steps: readonly (readonly [Place, string])[] = [
        ...(bench.facts.has('rule') ? [[place, regional(bench, `forwardingRules/${names.rule}`)] as const] : []),
        [place, regional(bench, `targetPools/${names.pool}`)],
        ['global', computePath(bench, `global/httpHealthChecks/${names.check}`)],
        ['global', computePath(bench, `global/firewalls/${names.firewall}`)],
      ];
      for (const [at, path] of steps) {
        const { verdict, seen: said } = await changed(bench, at, `DELETE ${path}`);
        if (verdict !== 'held') seen.push(`${path.split('/').at(-2)}: ${said}`);
      }
      return seen.length === 0 ? held(`${steps.length} are gone`) : differs(seen.join('; '));
    },
  },
];
