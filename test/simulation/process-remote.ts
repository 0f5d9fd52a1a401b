/** Machines as a process sees them: each exchange waits for its turn, and its connection may break, before or after its effect. */
import type { Host, Job, JobLook, Remote } from '../../functions/remote/remote.js';
import { Problem } from '../../shared/problems.js';
import type { Machine, Machines } from './machines.js';
import { type Disturb, inTurns } from './process-store.js';
import type { Process } from './scheduler.js';

interface Options {
  readonly machines: Machines;
  readonly process: Process;
  readonly disturb: Disturb;
  readonly seconds: () => number;
}

const broken = (name: string) => (): Problem => new Problem('host-unreachable', `The connection to ${name} was lost.`);

export function remoteOf({ machines, process, disturb, seconds }: Options): Remote {
  const exchange = <T>(name: string, what: string, work: () => T): Promise<T> =>
    inTurns(process, disturb(process, `${what} on ${name}`), async () => work(), { seconds, fault: broken(name) });

  const on = <T>(machine: Machine, what: string, work: () => T): Promise<T> =>
    exchange(machine.name, what, () => {
      machines.check(machine);
      return work();
    });

  function jobOf(machine: Machine, id: string): Job {
    const look = (offset: number, maxBytes: number): JobLook => {
      const job = machines.job(machine, id);
      if (job === undefined) return { state: 'unknown', size: 0, bytes: Buffer.from('') };
      const { state, exitCode, log } = job;
      const bytes = log.subarray(offset, offset + maxBytes);
      return { state, size: log.length, bytes, ...(state === 'exited' ? { exitCode } : {}) };
    };
    return {
      id,
      start: (script) => on(machine, `job ${id}`, () => machines.start(machine, id, script)),
      async poll(offset, { maxBytes = 131_072, waitSeconds = 0 } = {}) {
        const first = await on(machine, `look at ${id}`, () => look(offset, maxBytes));
        if (first.state !== 'running' || first.bytes.length > 0 || waitSeconds === 0) return first;
        await process.turn(waitSeconds);
        return on(machine, `look at ${id}`, () => look(offset, maxBytes));
      },
      claim: (token) =>
        on(machine, `claim of ${id}`, () => {
          const job = machines.job(machine, id);
          if (job === undefined) throw new Problem('host-failed', `There is no job ${id}.`);
          if (job.state === 'running' || job.holder === undefined) job.holder = token;
          return job.holder;
        }),
      kill: () => on(machine, `end of ${id}`, () => machines.kill(machine, id)),
    };
  }

  function hostOf(machine: Machine): Host {
    const { name, files } = machine;
    const write = (path: string, content: string | Uint8Array): void => {
      files.set(path, Buffer.from(content as Uint8Array));
    };
    const host: Host = {
      name,
      exec: (command, { stdin = '' } = {}) =>
        on(machine, 'script', () => machines.exec(machine, command, Buffer.from(stdin as Uint8Array).toString())),
      upload: (path, content) => on(machine, 'upload', () => write(path, content)),
      send: () => Promise.reject(new Error('nobody sends files here')),
      install: (from, path) =>
        on(machine, 'install', () => {
          write(path, files.get(from) ?? '');
        }),
      read: (path) => on(machine, 'read', () => files.get(path)),
      job: (id) => jobOf(machine, id),
      asRoot: () => host,
    };
    return host;
  }

  return {
    async host({ jumpbox, machine = jumpbox }) {
      await exchange(jumpbox.name, 'login', () => machines.login(jumpbox.address, jumpbox.name, jumpbox.hostKeys));
      return hostOf(
        await exchange(machine.name, 'login', () => machines.login(jumpbox.address, machine.name, machine.hostKeys)),
      );
    },
    close: async () => undefined,
  };
}
