/** Machines as a process sees them that is killed at a chosen exchange with them: its connections are gone, and nothing that it still asks has an effect. */
import { createRemote, type Host, type Job, type Remote, type RemoteSettings } from '../../functions/remote/remote.js';

class Killed extends Error {
  override readonly name = 'Killed';
}

export interface Death {
  /** The n-th exchange with any machine, from 1. */
  readonly nth: number;
  /** `during`: its connections break while the machine is at work, which may come to an end or not. */
  readonly when: 'before' | 'during' | 'after';
}

export interface MortalRemote extends Remote {
  /** A new process, which dies so; or lives on. */
  live(death?: Death): Promise<void>;
  isDead(): boolean;
  /** With machines, in this life. */
  exchanges(): number;
}

export function createMortalRemote(settings: RemoteSettings): MortalRemote {
  const born = (death?: Death) => ({ death, dead: false, exchanges: 0, remote: createRemote(settings) });
  let own = born();

  async function exchange<T>(life: typeof own, work: () => Promise<T>): Promise<T> {
    if (life.dead) throw new Killed();
    life.exchanges++;
    const when = life.death?.nth === life.exchanges ? life.death.when : undefined;
    if (when === 'before') life.dead = true;
    if (life.dead) throw new Killed();
    const working = work();
    if (when === 'during') {
      life.dead = true;
      working.catch(() => undefined);
      await life.remote.close();
    }
    const answer = life.dead ? undefined : await working;
    if (when === 'after') life.dead = true;
    // Another exchange may have been hit meanwhile.
    if (life.dead) throw new Killed();
    return answer as T;
  }

  function mortal(life: typeof own, host: Host): Host {
    const job = (id: string): Job => {
      const real = host.job(id);
      return {
        id,
        start: (script) => exchange(life, () => real.start(script)),
        poll: (offset, options) => exchange(life, () => real.poll(offset, options)),
        claim: (token) => exchange(life, () => real.claim(token)),
        kill: () => exchange(life, () => real.kill()),
      };
    };
    return {
      name: host.name,
      exec: (command, options) => exchange(life, () => host.exec(command, options)),
      upload: (path, content, options) => exchange(life, () => host.upload(path, content, options)),
      send: (path, source, options) => exchange(life, () => host.send(path, source, options)),
      install: (from, path, options) => exchange(life, () => host.install(from, path, options)),
      read: (path, options) => exchange(life, () => host.read(path, options)),
      job,
      asRoot: () => mortal(life, host.asRoot()),
    };
  }

  return {
    async host(request, signal) {
      const life = own;
      if (life.dead) throw new Killed();
      return mortal(life, await life.remote.host(request, signal));
    },
    async live(death) {
      await own.remote.close();
      own = born(death);
    },
    isDead: () => own.dead,
    exchanges: () => own.exchanges,
    close: () => own.remote.close(),
  };
}
