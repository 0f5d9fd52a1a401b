/** IAP's tunnel to the machine, which has no address of its own. WebSockets are no part of the recording. */
import { once } from 'node:events';
import { openTunnel } from '../../../functions/remote/iap/tunnel.js';
import { iapRange, tunnelRole } from '../../../shared/iap.js';
import { Problem } from '../../../shared/problems.js';
import { timeLimit } from '../../../shared/time-limit.js';
import { type Bench, type Check, differs, heldIf } from '../check.js';
import { computePath, ended, linkOf, operationIn, saidBy } from '../compute.js';
import { emailOf } from './identities.js';
import { machine } from './machines.js';
import { network } from './networks.js';

/** As the second identity. What SSH says first, or why there is no tunnel. */
async function banner({ project, zone, tunnelUrl, fact, signal }: Bench): Promise<string | Problem> {
  try {
    const stream = await openTunnel(
      { project, zone, instance: machine, port: 22 },
      { name: machine, url: tunnelUrl, token: async () => fact('prober-token'), timeoutSeconds: 30, signal },
    );
    const [first] = (await once(stream, 'data', {
      signal: AbortSignal.any([signal, timeLimit(30_000)]),
    })) as [Buffer];
    stream.destroy();
    return first.toString('latin1').split('\r\n')[0] ?? '';
  } catch (error) {
    if (error instanceof Problem) return error;
    throw error;
  }
}

const isRefused = (said: string | Problem): boolean => said instanceof Problem && said.code === 'cloud-permission';
const inWords = (said: string | Problem): string => (said instanceof Problem ? said.detail : said);

export const tunnelChecks: readonly Check[] = [
  {
    id: 'tunnels.refused',
    believes: 'IAP refuses a tunnel with 4033 to who lacks the role for it.',
    source: 'reported',
    makes: 'a firewall rule for IAP',
    needs: ['machines.running', 'grants.impersonation'],
    async run(bench) {
      const rule = {
        name: 'first-contact-iap',
        network: linkOf(bench, `global/networks/${network}`),
        direction: 'INGRESS',
        sourceRanges: [iapRange],
        allowed: [{ IPProtocol: 'tcp', ports: ['22'] }],
      };
      const made = await bench.ask('compute', `POST ${computePath(bench, 'global/firewalls')}`, rule);
      if (made.status !== 200) return differs(`the rule can't be made: ${saidBy(made)}`);
      const over = await ended(bench, 'global', operationIn(made));
      if (over?.error !== '') return differs(over?.error ?? 'the rule was not made within two minutes');
      const answer = await banner(bench);
      return heldIf(isRefused(answer), inWords(answer));
    },
  },
  {
    id: 'tunnels.role',
    believes: `${tunnelRole} counts within seven minutes of its grant.`,
    source: 'documented',
    needs: ['tunnels.refused'],
    async run(bench) {
      const { cloud, project, signal, until } = bench;
      const grants = [{ member: `serviceAccount:${emailOf(bench, 'prober')}`, role: tunnelRole }];
      await cloud.projects.policy(project).grant(grants, signal);
      let last: string | Problem = '';
      const open = await until(480, async () => {
        last = await banner(bench);
        return typeof last === 'string' ? last : undefined;
      });
      if (open === undefined) return differs(`no tunnel after eight minutes: ${inWords(last)}`);
      bench.facts.set('ssh-banner', open.value);
      return heldIf(open.seconds <= 420, `after ${open.seconds} s`);
    },
  },
  {
    id: 'tunnels.ssh',
    believes: 'Through IAP, a VM without an address answers on port 22 with the first line of SSH.',
    source: 'documented',
    needs: ['tunnels.role'],
    async run({ fact }) {
      return heldIf(fact('ssh-banner').startsWith('SSH-2.0-'), fact('ssh-banner'));
    },
  },
];
