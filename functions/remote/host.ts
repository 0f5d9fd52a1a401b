/** Works on one machine. Each call uses the open connection, or a new one. */
import { Problem } from '../../shared/problems.js';
import type { Ran } from './command.js';
import { createJob } from './job.js';
import type { ExecOptions, Host, Machine } from './remote.js';
import { send } from './send.js';
import { failed, quoted, script } from './shell.js';
import type { Connection } from './ssh.js';
import { install, type Target, upload } from './upload.js';

const maxReadBytes = 16 * 1024 * 1024;
const missing = 44;

/** `whole` aborts everything under way on this host. */
export function createHost(
  machine: Machine,
  connection: (signal?: AbortSignal) => Promise<Connection>,
  whole: AbortSignal | undefined,
  asRoot = false,
): Host {
  const { name } = machine;
  const both = (signal: AbortSignal | undefined): AbortSignal | undefined =>
    signal === undefined || whole === undefined ? (signal ?? whole) : AbortSignal.any([signal, whole]);
  const asUser = async (command: string, options: ExecOptions = {}): Promise<Ran> => {
    const signal = both(options.signal);
    return (await connection(signal)).run(command, { ...options, signal });
  };
  const user: Target = { name, run: asUser };
  const target: Target = asRoot
    ? { name, run: (command, options) => asUser(`sudo -n -- sh -c ${quoted(command)}`, options) }
    : user;

  return {
    name,
    async exec(command, options) {
      const { exitCode, stdout, stderr } = await target.run(command, options);
      return { exitCode, stdout: stdout.toString(), stderr: stderr.toString() };
    },
    upload: (path, content, options) => upload(target, path, content, options),
    install: (from, path, options) => install(target, from, path, options),
    async send(path, source, options) {
      const signal = both(options.signal);
      await send(user, target, await connection(signal), path, source, { ...options, signal });
    },
    async read(path, { signal } = {}) {
      const text = `[ -e "$1" ] || exit ${missing}; head -c ${maxReadBytes + 1} -- "$1"`;
      const ran = await target.run(script(text, path), { signal });
      if (ran.exitCode === missing) return undefined;
      if (ran.exitCode !== 0) throw failed(name, `Reading ${path}`, path, ran);
      if (ran.stdout.length > maxReadBytes)
        throw new Problem('host-failed', `${path} on ${name} is larger than 16 MiB.`);
      return ran.stdout;
    },
    job: (id) => createJob(target, id),
    asRoot: () => createHost(machine, connection, whole, machine.user !== 'root'),
  };
}
