/** `k0s worker`: joins the cluster of its token, then runs a kubelet. Its status is available once it has joined. */
import type { Given } from './command-line.js';
import { joinCluster, readKubeletFlags, runKubelet } from './kubelet.js';
import { unitPath } from './service.js';
import { k0sVars, serveStatus } from './status.js';

const pairs = (text: string | undefined): Record<string, string> =>
  Object.fromEntries(
    (text ?? '')
      .split(',')
      .filter(Boolean)
      .map((each) => each.split('=')),
  );

const taintsOf = (text: string | undefined): object[] =>
  (text ?? '')
    .split(',')
    .filter(Boolean)
    .map((each) => {
      const [pair = '', effect] = each.split(':');
      const [key, value] = pair.split('=');
      return { key, value, effect };
    });

export async function runWorker(given: Given, version: string, args: readonly string[]): Promise<never> {
  const flags = readKubeletFlags(given);
  const access = await joinCluster(given['token-file']);
  let trouble: string | undefined = 'the kubelet has not reported yet';
  await serveStatus(() => ({
    Version: version,
    Pid: process.pid,
    PPid: process.ppid,
    Role: 'worker',
    SysInit: 'linux-systemd',
    StubFile: unitPath('worker'),
    Output: '',
    Workloads: true,
    SingleNode: false,
    Args: args,
    WorkerToAPIConnectionStatus: { Message: trouble ?? '', Success: trouble === undefined },
    ClusterConfig: null,
    K0sVars: k0sVars,
  }));
  const facts = { version, labels: pairs(given['labels']), taints: taintsOf(given['taints']), ...flags };
  void runKubelet(access, facts, new AbortController().signal, (error) => {
    if (error !== undefined && error.message !== trouble) process.stderr.write(`${error.message}\n`);
    trouble = error?.message;
  });
  return new Promise<never>(() => undefined);
}
