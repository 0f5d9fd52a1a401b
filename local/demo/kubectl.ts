/** The nodes of an installed platform as kubectl lists them on the caller's computer, by the context and the way that plinth makes. */
import { type ChildProcess, execFile, spawn, spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { promisify } from 'node:util';
import { callerEnvironment, type PlinthOptions, runPlinth } from './plinth-process.js';

const patienceSeconds = 15;
const isThere = (name: string): boolean => spawnSync(name, ['--help'], { stdio: 'ignore' }).error === undefined;

/** Undefined where this computer has no kubectl, or the way does not open in time. */
export async function nodesByKubectl(name: string, at: PlinthOptions): Promise<string | undefined> {
  if (!isThere('kubectl') || !isThere('ssh')) return undefined;
  const config = join(at.folder, 'kubeconfig');
  const { exitCode, stdout } = await runPlinth(['kubeconfig', name, '--to', config, '--json'], { ...at, show: false });
  if (exitCode !== 0) return undefined;
  const { way } = JSON.parse(stdout) as { way: string };
  const [program = 'ssh', ...words] = way.split(' ');
  const env = callerEnvironment(at);
  const tunnel = spawn(program, ['-o', 'ExitOnForwardFailure=yes', ...words], { env, stdio: 'ignore' });
  try {
    return await listed(tunnel, config, env);
  } finally {
    tunnel.kill();
  }
}

async function listed(tunnel: ChildProcess, config: string, env: NodeJS.ProcessEnv): Promise<string | undefined> {
  let failed = false;
  tunnel.once('error', () => {
    failed = true;
  });
  const until = Date.now() + patienceSeconds * 1000;
  const words = ['--kubeconfig', config, '--request-timeout', '5s', 'get', 'nodes'];
  while (Date.now() < until && !failed && tunnel.exitCode === null) {
    try {
      return (await promisify(execFile)('kubectl', words, { env })).stdout;
    } catch {
      await sleep(300);
    }
  }
  return undefined;
}
