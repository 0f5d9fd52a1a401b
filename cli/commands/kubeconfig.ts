/** `plinth kubeconfig`: makes the Kubernetes of a bootstrap a context of the caller's own kubectl. */
import type { Host } from '../../functions/remote/remote.js';
import type { BootstrapView } from '../../shared/bootstrap/bootstrap.js';
import { flags } from '../../shared/bootstrap/options.js';
import { refusalOf } from '../../shared/bootstrap/rules.js';
import { shellWord } from '../../shared/command-words.js';
import { someIdentitiesIn } from '../../shared/install-config/age-identity.js';
import { filesOnJumpbox } from '../../shared/install-config/on-jumpbox.js';
import { decryptSecrets, findSecret, type SecretsFile } from '../../shared/install-config/secrets.js';
import { Problem } from '../../shared/problems.js';
import { idOf } from '../bootstrap/named.js';
import type { ClusterAccess } from '../files/kube-config.js';
import { kubeConfigPlaces, mergeIntoKubeConfigs } from '../files/kube-config-places.js';
import { registerText } from '../files/secret-text.js';
import { type DatacenterKey, suffixOf } from '../files/standing-files.js';
import { defineCommand } from '../frame/command.js';
import { loginIdentity } from '../identity/login-identity.js';
import { osLoginUser } from '../identity/os-login.js';
import { findSshKey, sshKeyFaults } from '../identity/ssh-key.js';
import { callerRemote, jumpboxHost, jumpboxIn, jumpboxName } from '../machines/jumpbox.js';
import { writeSshConfig } from '../machines/ssh-config.js';
import type { Settings } from '../settings.js';

const apiPort = 6443;

export const kubeconfig = defineCommand({
  description: [
    'Fetches the kubeconfig from the jumpbox with your SSH key, opens it, and merges it into yours as the current context. The context bears the name of the project, in a second datacenter with -dc2 behind it. What is written where follows the rules of kubectl: a context that a file has is changed there and keeps its namespace, and a new one goes to the first file of $KUBECONFIG that exists. Nothing else changes.',
    'Whoever has it is admin of the cluster. Only the machines reach its API, so kubectl goes through the jumpbox: the result tells the command that opens the way.',
  ],
  options: ['sshPrivateKeyPath', 'sshPublicKeyPath'],
  flags: { to: 'The one kubeconfig to merge into. (default: the files of $KUBECONFIG, or ~/.kube/config)' },
  examples: ['plinth kubeconfig demo', 'plinth kubeconfig demo --to demo.kubeconfig'],

  async run(call) {
    const { given, faults, settings } = call;
    const found = [...faults, ...(await sshKeyFaults(given, settings))];
    if (found.length > 0) throw refusalOf(found);
    const key = findSshKey(given, flags.sshPublicKeyPath.default, settings);
    const client = await call.connect();
    const view = await client.get(await idOf(call, client));
    const keys: readonly DatacenterKey[] = view.options['multiDc'] === true ? ['dc1', 'dc2'] : ['dc1'];
    const remote = callerRemote(settings, call.interrupted);
    try {
      const from = { id: view.id, jumpbox: jumpboxIn(view) };
      const osLogin = await osLoginUser(call, client, view, key);
      const identity = await loginIdentity(call, key);
      const host = await jumpboxHost(remote, from, identity, osLogin ?? 'ubuntu', call.interrupted);
      const all = await Promise.all(keys.map((each) => accessTo(host.asRoot(), view, each, settings)));
      const places = kubeConfigPlaces(call.word('to')?.text, settings);
      const { ports, paths } = await mergeIntoKubeConfigs(places, all, settings, call.interrupted);
      const path = [...new Set(paths)].join(' and ');
      const way = wayTo(view, keys, ports, writeSshConfig(view, key, settings, osLogin));
      const contexts = all.map(({ name }) => name);
      return {
        data: { path, contexts, way },
        show: () =>
          [`${path} has the context ${contexts.join(' and ')}. Open the way, and leave it open:`, way].join('\n'),
      };
    } finally {
      await remote.close();
    }
  },
});

async function accessTo(
  host: Host,
  { name, options }: BootstrapView,
  key: DatacenterKey,
  settings: Settings,
): Promise<ClusterAccess> {
  const secretsDir = typeof options['secretsDir'] === 'string' ? options['secretsDir'] : flags.secretsDir.default;
  const paths = filesOnJumpbox(secretsDir, suffixOf(key));
  const [secrets, identity] = await Promise.all([host.read(paths.secrets), host.read(paths.identity)]);
  let file: SecretsFile | undefined;
  if (secrets !== undefined && identity !== undefined) {
    const identities = registerText(identity.toString(), 'age identity', settings);
    await someIdentitiesIn(identities, `${paths.identity} on the jumpbox`);
    const sealed = registerText(secrets.toString(), 'secrets file', settings);
    file = await decryptSecrets(sealed, identities, `${paths.secrets} on the jumpbox`);
  }
  const made = findSecret(file, 'kubeConfig')?.file?.content;
  if (made === undefined) {
    throw new Problem('not-found', `${name} has no Kubernetes yet: its jumpbox holds no kubeconfig.`, {
      advice: `It is there once all nodes are Ready. Watch it: plinth beta bootstrap-cloud status ${shellWord(name)} --follow`,
    });
  }
  return { name: `${name}${suffixOf(key)}`, made: registerText(made, 'kubeconfig', settings) };
}

/** OpenSSH's client, with one forwarding for each datacenter. */
function wayTo(
  { result }: BootstrapView,
  keys: readonly DatacenterKey[],
  ports: readonly number[],
  config: string,
): string {
  const forwards = keys.flatMap((key, at) => {
    const controller = result.vms.find(({ name }) => name === `k0s-1${suffixOf(key)}`);
    return ['-L', `127.0.0.1:${ports[at]}:${controller?.internalIp}:${apiPort}`];
  });
  return ['ssh', '-F', config, '-N', ...forwards, jumpboxName].map(shellWord).join(' ');
}
