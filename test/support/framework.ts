/** The functions framework's own server, as the cloud starts it: one function in one process. */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { createServer } from 'node:http';
import { createRequire } from 'node:module';
import { type AddressInfo, connect } from 'node:net';
import { fileURLToPath } from 'node:url';
import { type FunctionName, functionNames } from '../../shared/names.js';
import { until } from './halves.js';

export interface Framework {
  readonly url: string;
  readonly process: ChildProcess;
  /** Lines of the function's log, parsed. */
  logged(): readonly Readonly<Record<string, unknown>>[];
}

const sources = fileURLToPath(new URL('../../functions/main.js', import.meta.url));

/**
 * `source`: a file or the folder of a bundle; default: all functions from their sources. `prefix`: what the command line begins
 * with, and which then runs the rest.
 */
export async function startFramework(
  env: Readonly<Record<string, string>>,
  target: FunctionName = functionNames.bootstraps,
  source: string = sources,
  prefix: readonly string[] = [],
): Promise<Framework> {
  const probe = createServer().listen(0, '127.0.0.1');
  await new Promise((resolve) => probe.once('listening', resolve));
  const { port } = probe.address() as AddressInfo;
  await new Promise((resolve) => probe.close(resolve));
  const framework = createRequire(import.meta.url).resolve('@google-cloud/functions-framework');
  const program = framework.replace(/index\.js$/, 'main.js');
  const [command = '', ...args] = [...prefix, process.execPath, program];
  const child = spawn(command, [...args, `--target=${target}`, `--source=${source}`, `--port=${port}`], {
    env: { PATH: process.env['PATH'], ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let said = '';
  // The framework writes its own lines there, of errors that are told in the log already.
  child.stderr?.resume();
  child.stdout?.setEncoding('utf8');
  const url = `http://127.0.0.1:${port}`;
  child.stdout?.on('data', (data: string) => {
    said += data;
  });
  await until('the framework listens', async () => {
    if (child.exitCode !== null) throw new Error(`the framework ended with ${child.exitCode}`);
    const socket = connect(port, '127.0.0.1');
    const isOpen = await once(socket, 'connect').then(
      () => true,
      () => undefined,
    );
    socket.destroy();
    return isOpen;
  });
  // The last line may not be whole yet.
  const lines = () => said.split('\n').slice(0, -1);
  const logged = () => lines().flatMap((line) => (line.startsWith('{') ? [JSON.parse(line)] : []));
  return { url, process: child, logged };
}
