/** The part of the demo that happens on machines: it chooses the package, and checks that the installed platform answers. */

import type { Stack } from '../stack/stack.js';
import { runPlinth } from './plinth-process.js';

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
    import('../packages/publish.js'),
  ]);
  const made = await makePackage(folder);
  await publishPackage(cloudHalf.cloud, made);
  say(`VMs answer SSH; k0s is a stand-in there. The package store holds plinth-sample ${made.version}.`);
  return made.version;
}

/** Returns sentences about what is wrong. It asks the machines over the caller's own SSH. */
export async function inspectInstall({ name, ...at }: Installing, say: (line: string) => void): Promise<string[]> {
  const on = async (host: string, ...command: string[]): Promise<string> => {
    const words = ['beta', 'bootstrap-cloud', 'ssh', name, host, '--', ...command];
    const { stdout, stderr } = await runPlinth(words, { ...at, show: false });
    return stdout === '' ? stderr : stdout;
  };
  const [nodes, health, refused] = await Promise.all([
    on('k0s-1', 'k0s kubectl get nodes'),
    on('jumpbox', 'curl --silent http://127.0.0.1:8080/healthz'),
    on('jumpbox', 'curl --silent --output /dev/null --write-out %{http_code} http://127.0.0.1:8080/api/me'),
  ]);
  const ready = nodes.split('\n').filter((line) => /^\S+ +Ready /.test(line)).length;
  const lines: readonly (readonly [boolean, string, string])[] = [
    [ready === 3, 'Kubernetes: three nodes are Ready', nodes],
    [/ok/i.test(health), `the platform answers on the jumpbox: ${health.trim()}`, health],
    [refused.trim() === '401', 'its API lets nobody in without a token (401)', refused],
  ];
  for (const [good, what] of lines) say(`  ${good ? '✓' : '✗'} ${what}`);
  return lines.flatMap(([good, what, said]) => (good ? [] : [`not so: ${what}: ${said.trim()}`]));
}
