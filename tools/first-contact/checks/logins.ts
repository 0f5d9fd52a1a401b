/** OS Login: profiles of accounts, and when a role lets one log in. The second identity is the one that logs in. */
import { generateKeyPairSync } from 'node:crypto';
import { createRemote, type Remote } from '../../../functions/remote/remote.js';
import { openSshPair } from '../../../shared/openssh.js';
import { Problem } from '../../../shared/problems.js';
import { type Bench, type Check, differs, heldIf, type Reply, type Tree, unknown } from '../check.js';
import { saidBy } from '../compute.js';
import { emailOf } from './identities.js';
import { machine, publicKey } from './machines.js';

const adminRole = 'roles/compute.osAdminLogin';

const own = (bench: Bench): string => `/v1/users/${emailOf(bench, 'prober')}`;

const imported = (bench: Bench, key: string): Promise<Reply> =>
  bench.ask(
    'oslogin',
    `POST ${own(bench)}:importSshPublicKey?projectId=${bench.project}`,
    { key },
    bench.fact('prober-token'),
  );

function userIn({ body }: Reply): string {
  const profile = body['loginProfile'] as Tree | undefined;
  const [account] = (profile?.['posixAccounts'] ?? []) as Tree[];
  return String(account?.['username'] ?? '');
}

/** Logs in through IAP and becomes root. A text says why not. */
async function becomesRoot(bench: Bench, remote: Remote, privateKey: string): Promise<true | string> {
  const { cloud, project, zone, fact, signal } = bench;
  const hostKeys = await cloud.compute.publishedHostKeys(project, zone, machine);
  try {
    const host = await remote.host(
      {
        bootstrapId: project,
        privateKey,
        jumpbox: {
          name: machine,
          address: machine,
          user: fact('login-user'),
          tunnel: { project, zone, instance: machine },
          hostKeys,
        },
      },
      signal,
    );
    const { exitCode, stderr } = await host.exec('sudo -n true');
    return exitCode === 0 ? true : stderr.trim();
  } catch (error) {
    if (error instanceof Problem) return error.detail;
    throw error;
  }
}

export const loginChecks: readonly Check[] = [
  {
    id: 'logins.profile',
    believes: 'An account that imports a key to its OS Login profile has a POSIX user in the first reply.',
    source: 'documented',
    needs: ['grants.impersonation', 'services.each-api'],
    async run(bench) {
      const reply = await imported(bench, publicKey);
      if (reply.status !== 200) return differs(saidBy(reply));
      const user = userIn(reply);
      bench.facts.set('login-user', user);
      return heldIf(user.startsWith('sa_'), user.replace(/\d+/, '…') || 'no user');
    },
  },
  {
    id: 'logins.others',
    believes: 'The OS Login profile of another account is refused with 403, also to the owner of its project.',
    source: 'believed',
    needs: ['logins.profile'],
    async run(bench) {
      const reply = await bench.ask('oslogin', `GET ${own(bench)}/loginProfile?projectId=${bench.project}`);
      return heldIf(reply.status === 403, saidBy(reply));
    },
  },
  {
    id: 'logins.size',
    believes: 'A profile that would grow beyond 32 KiB is refused with 400, which names its size.',
    source: 'documented',
    needs: ['logins.profile'],
    async run(bench) {
      const reply = await imported(bench, `${publicKey} first-contact ${'x'.repeat(33 * 1024)}`);
      return heldIf(reply.status === 400 && /size|32/i.test(reply.message), saidBy(reply));
    },
  },
  {
    id: 'logins.admin',
    believes: `${adminRole} lets a service account log in and become root within seven minutes of its grant.`,
    source: 'documented',
    needs: ['logins.profile', 'machines.host-keys', 'tunnels.ssh'],
    async run(bench) {
      const { cloud, project, fact, signal, tunnelUrl, until } = bench;
      if (!fact('ssh-banner').includes('OpenSSH')) return unknown(`no OpenSSH answers there: ${fact('ssh-banner')}`);
      const { privateKey } = generateKeyPairSync('ed25519');
      const pair = openSshPair(String(privateKey.export({ format: 'pem', type: 'pkcs8' })), 'first-contact');
      const brought = await imported(bench, pair.publicKey);
      if (brought.status !== 200) return differs(saidBy(brought));
      const remote = createRemote({ iap: { url: tunnelUrl, token: async () => fact('prober-token') } });
      try {
        const before = await becomesRoot(bench, remote, pair.privateKey);
        const grants = [{ member: `serviceAccount:${emailOf(bench, 'prober')}`, role: adminRole }];
        await cloud.projects.policy(project).grant(grants, signal);
        let last = before;
        const root = await until(480, async () => {
          last = await becomesRoot(bench, remote, pair.privateKey);
          return last === true ? true : undefined;
        });
        if (root === undefined) return differs(`still refused after eight minutes: ${last}`);
        return heldIf(before !== true && root.seconds <= 420, `after ${root.seconds} s, before: ${before}`);
      } finally {
        await remote.close();
      }
    },
  },
];
