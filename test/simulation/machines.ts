/**
 * Machines without SSH: what the scripts of plinth's steps come to on their disks, as a table. Whatever they run takes virtual
 * time. A machine that restarts forgets what was in its memory, and loses the jobs that ran.
 */
import { guests } from '../../local/cloud/compute/instance-life.js';
import { held, collections as kinds } from '../../local/cloud/compute/resources.js';
import type { World } from '../../local/cloud/kernel/api.js';
import { Problem } from '../../shared/problems.js';
import { secretWord } from './bootstraps-people.js';
import { outcomes } from './machine-scripts.js';

/** `fails`: the next job on it. */
export type Mishap = 'restarts' | 'is away' | 'is another' | 'fails';

interface RunningJob {
  readonly script: string;
  readonly endsAt: number;
  readonly fails: boolean;
  state: 'running' | 'exited' | 'lost';
  exitCode: number;
  holder?: string;
}

/** One disk, with the machine that runs from it. */
export interface Machine {
  readonly name: string;
  readonly projectId: string;
  readonly files: Map<string, Buffer>;
  /** Running since, in milliseconds since 1970. */
  readonly services: Map<string, number>;
  readonly jobs: Map<string, RunningJob>;
  boot: string;
  /** Nobody reaches it until then. */
  awayUntil: number;
}

/** A VM as the cloud holds it. */
interface Found {
  readonly path: string;
  readonly resource: Record<string, unknown>;
}

interface Interface {
  readonly networkIP?: string;
  readonly accessConfigs?: readonly { readonly natIP?: string }[];
}

const restartSeconds = 20;
const awaySeconds = 90;
const jobSeconds = 240;
/** What a job says holds a secret of the caller, which nobody may keep. */
const said = Buffer.from(Array.from({ length: 24 }, (_, i) => `${i} of 24, with ${secretWord}-pat\n`).join(''));

export interface Machines {
  /** The machine that shows one of these keys at its address. Throws as a login does. */
  login(address: string, name: string, hostKeys: readonly string[]): Machine;
  /** Throws if it is not reached any more. */
  check(machine: Machine): void;
  exec(machine: Machine, command: string, stdin: string): { exitCode: number; stdout: string; stderr: string };
  start(machine: Machine, id: string, script: string): void;
  job(machine: Machine, id: string): (RunningJob & { readonly log: Buffer }) | undefined;
  kill(machine: Machine, id: string): void;
  /** Something happens to all machines of that name. */
  befall(name: string, how: Mishap): void;
  /** Of one project. */
  of(projectId: string): readonly Machine[];
}

const unreachable = (name: string, why: string): Problem =>
  new Problem('host-unreachable', `${name} cannot be reached: ${why}.`);

/** As a shell reads `bash -c 'script' 'plinth' 'argument' …`. */
const wordsOf = (command: string): string[] =>
  [...command.matchAll(/'((?:[^']|'\\'')*)'/g)].map(([, word = '']) => word.replaceAll(`'\\''`, "'"));

export function createMachines(world: World, now: () => number, wrong: (what: string) => void): Machines {
  const disks = new Map<string, Machine>();
  const changed = new Set<string>();
  const failing = new Set<string>();

  const instances = (): Found[] =>
    Object.entries(held(world, kinds.instances)).map(([path, { resource }]) => ({ path, resource }));
  const projectOf = (path: string): string => /projects\/([^/]+)/.exec(path)?.[1] ?? '';
  const nameOf = (path: string): string => path.split('/').at(-1) ?? '';
  const isAt = ({ resource }: Found, address: string): boolean =>
    ((resource['networkInterfaces'] ?? []) as readonly Interface[]).some(({ accessConfigs = [] }) =>
      accessConfigs.some(({ natIP }) => natIP === address),
    );

  function restart(machine: Machine): void {
    for (const path of machine.files.keys()) if (path.startsWith('/run/')) machine.files.delete(path);
    for (const job of machine.jobs.values()) if (stateOf(machine, job) === 'running') job.state = 'lost';
  }

  /** With its disk, which is another one if the VM was made again. */
  function machineOf({ path, resource }: Found): Machine {
    const key = `${path} ${resource['id']}`;
    const boot = String(resource['lastStartTimestamp'] ?? '');
    const known = disks.get(key);
    if (known !== undefined) {
      if (known.boot !== boot) restart(known);
      known.boot = boot;
      return known;
    }
    const machine: Machine = {
      name: nameOf(path),
      projectId: projectOf(path),
      files: new Map(),
      services: new Map(),
      jobs: new Map(),
      boot,
      awayUntil: 0,
    };
    disks.set(key, machine);
    return machine;
  }

  function stateOf(machine: Machine, job: RunningJob): RunningJob['state'] {
    if (job.state !== 'running' || now() < job.endsAt) return job.state;
    job.state = 'exited';
    job.exitCode = job.fails ? 1 : outcomes.ofJob(machine, job.script);
    return job.state;
  }

  const standing = (machine: Machine): Found | undefined =>
    instances().find(
      (found) =>
        nameOf(found.path) === machine.name &&
        projectOf(found.path) === machine.projectId &&
        machineOf(found) === machine,
    );

  function check(machine: Machine): void {
    const found = standing(machine);
    if (found?.resource['status'] !== 'RUNNING') throw unreachable(machine.name, 'nobody answers');
    if (now() < machine.awayUntil) throw unreachable(machine.name, 'it is away');
  }

  function judgeText(machine: Machine, text: string): void {
    if (text.includes(secretWord) || text.includes('PRIVATE KEY'))
      wrong(`a command line or script on ${machine.name} holds a secret`);
  }

  return {
    login(address, name, hostKeys) {
      const jumpbox = instances().find((each) => isAt(each, address));
      const found = instances().find(
        ({ path }) => nameOf(path) === name && projectOf(path) === projectOf(jumpbox?.path ?? ''),
      );
      if (found === undefined) throw unreachable(name, 'it is not there');
      const machine = machineOf(found);
      check(machine);
      const guest = guests(world)[found.path];
      if (guest?.attributes['hostkeys'] === undefined) throw unreachable(name, 'it starts');
      const shown = guest.hostKey.publicKey.split(' ').slice(0, 2).join(' ');
      if (changed.has(name) || !hostKeys.includes(shown))
        throw new Problem('host-changed', `${name} shows another host key than it published.`, {
          advice: 'Find out who answers there.',
        });
      return machine;
    },
    check,
    exec(machine, command, stdin) {
      const [script = '', , ...args] = wordsOf(command);
      judgeText(machine, command);
      const {
        exitCode = 0,
        stdout = '',
        stderr = '',
      } = outcomes.ofScript(machine, { script, args, stdin, now: now() }, [...disks.values()]);
      return { exitCode, stdout, stderr };
    },
    start(machine, id, script) {
      judgeText(machine, script);
      const before = machine.jobs.get(id);
      if (before !== undefined) {
        if (before.script !== script) throw new Problem('conflict', `Another script runs as the job ${id}.`);
        return;
      }
      const nameOfJob = (each: string): string => each.replace(/-[0-9a-f]{12}-\d+$/, '');
      for (const [other, job] of machine.jobs) {
        const state = stateOf(machine, job);
        if (state === 'running' && nameOfJob(other) === nameOfJob(id))
          wrong(`on ${machine.name} ${id} begins while ${other} runs`);
        if (state === 'exited' && job.exitCode === 0 && job.script === script)
          wrong(`on ${machine.name} ${id} begins although ${other} had done it`);
      }
      const endsAt = now() + jobSeconds * 1000;
      machine.jobs.set(id, { script, endsAt, fails: failing.delete(machine.name), state: 'running', exitCode: 0 });
    },
    job(machine, id) {
      const job = machine.jobs.get(id);
      if (job === undefined) return undefined;
      stateOf(machine, job);
      // It comes byte by byte, so that a look may find half a secret.
      const part = Math.min(1, 1 - (job.endsAt - now()) / (jobSeconds * 1000));
      const log = said.subarray(0, Math.floor(said.length * part));
      return Object.assign(job, { log });
    },
    kill(machine, id) {
      const job = machine.jobs.get(id);
      if (job !== undefined && stateOf(machine, job) === 'running') job.state = 'lost';
    },
    befall(name, how) {
      if (how === 'is another') changed.add(name);
      if (how === 'fails') failing.add(name);
      for (const machine of disks.values()) {
        if (machine.name !== name) continue;
        if (how === 'restarts') restart(machine);
        if (how === 'restarts' || how === 'is away')
          machine.awayUntil = now() + (how === 'restarts' ? restartSeconds : awaySeconds) * 1000;
      }
    },
    of: (projectId) => [...disks.values()].filter((machine) => machine.projectId === projectId),
  };
}
