/** The part of the demo that happens on machines: it chooses the package, and checks that the installed platform answers. */

import type { Stack } from '../stack/stack.js';
import { nodesByKubectl } from './kubectl.js';
import { runPlinth } from './plinth-process.js';
import { project } from './project.js';
import type { Stage } from './stage.js';

export interface Installing {
  /** Name of the project. */
  readonly name: string;
  /** The caller's folder. */
  readonly folder: string;
  readonly env: Readonly<Record<string, string>>;
}

/**
 * Puts the sample package into the store and returns its version. If this computer cannot hold machines, it says why and
 * returns undefined.
 */
export async function prepareInstall(
  { cloudHalf, record, notes }: Stack,
  folder: string,
  say: (line: string) => void,
): Promise<string | undefined> {
  const why = notes.find((note) => note.startsWith('No '));
  if (cloudHalf === undefined || record.sshProxyUrl === undefined || why !== undefined) {
    say(`The hosts and the install are left out. ${why ?? ''}`);
    return undefined;
  }
  const [{ makePackage }, { publishPackage }] = await Promise.all([
    import('../packages/make-package.js'),
    import('../stack/publish-package.js'),
  ]);
  const made = await makePackage(folder);
  await publishPackage(cloudHalf.cloud, made);
  say(`VMs answer SSH; k0s is a stand-in there. The package store holds plinth-sample ${made.version}.`);
  return made.version;
}

/** Returns sentences about what is wrong. It asks the machines over the caller's own SSH. */
export async function inspectInstall(stage: Stage, { name, ...at }: Installing): Promise<readonly string[]> {
  const on = async (host: string, ...command: string[]): Promise<string> => {
    const words = ['beta', 'bootstrap-cloud', 'ssh', name, host, '--', ...command];
    const { stdout, stderr } = await runPlinth(words, { ...at, show: false });
    return stdout === '' ? stderr : stdout;
  };
  const [opened, byKubectl, health, refused] = await Promise.all([
    runPlinth(['open', name], { ...at, show: false }),
    nodesByKubectl(name, at),
    on('jumpbox', 'curl --silent http://127.0.0.1:8080/healthz'),
    on('jumpbox', 'curl --silent --output /dev/null --write-out %{http_code} http://127.0.0.1:8080/api/me'),
  ]);
  stage.command(
    byKubectl === undefined
      ? `plinth beta bootstrap-cloud ssh ${name} k0s-1 -- 'k0s kubectl get nodes'`
      : 'kubectl get nodes      # by the context that plinth kubeconfig made',
  );
  const nodes = byKubectl ?? (await on('k0s-1', 'k0s kubectl get nodes'));
  for (const line of nodes.trim().split('\n')) stage.say(`  ${line}`);
  const ready = nodes.split('\n').filter((line) => /^\S+ +Ready /.test(line)).length;
  stage.command(`plinth open ${name}`);
  const address = `https://cs.${project.baseDomain}`;
  stage.say(`  ${opened.stdout.trim() || opened.stderr.trim()}`);
  const answer = /"status": *"(\w+)"/.exec(health)?.[1];
  return [
    ...(opened.stdout.trim() === address ? [] : [`plinth open does not print ${address}: ${opened.stderr.trim()}`]),
    ...stage.looked(ready === 3, 'Kubernetes: three nodes are Ready', `three nodes are not Ready: ${nodes.trim()}`),
    ...stage.looked(
      answer === 'ok',
      `the platform answers on the jumpbox: ${answer ?? 'no'}`,
      `the platform does not answer: ${health.trim()}`,
    ),
    ...stage.looked(
      refused.trim() === '401',
      'its API lets nobody in without a token (401)',
      `its API answers without a token: ${refused.trim()}`,
    ),
  ];
}
