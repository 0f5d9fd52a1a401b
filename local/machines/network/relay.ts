/** Sockets in the network of a VM: connections to its listeners, and a listener of ours. relay-program.ts does the work. */
import { type ChildProcess, spawn } from 'node:child_process';
import type { Server, Socket } from 'node:net';
import { fileURLToPath } from 'node:url';
import type { RelayReply, RelayWish } from './relay-program.js';

export interface Relay {
  /**
   * `from` is another address of its network. Undefined means the VM itself connects. Returns undefined if nothing listens
   * there.
   */
  connect(port: number, address: string, from?: string): Promise<Socket | undefined>;
  listen(port: number): Promise<Server>;
  close(): void;
}

const program = fileURLToPath(new URL('./relay-program.js', import.meta.url));

/** `networkEntry` holds nsenter's arguments. */
export function createRelay(networkEntry: readonly string[]): Relay {
  const waiting = new Map<number, (reply: RelayReply, handle: unknown) => void>();
  let child: ChildProcess | undefined;
  let last = 0;
  let closed = false;

  function running(): ChildProcess {
    if (child?.connected) return child;
    const made = spawn('nsenter', [...networkEntry, '--', process.execPath, program], {
      stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
    });
    child = made;
    made.on('message', (reply: RelayReply, handle) => {
      waiting.get(reply.id)?.(reply, handle);
      waiting.delete(reply.id);
    });
    const lost = (): void => {
      if (child !== made) return;
      child = undefined;
      for (const [id, tell] of waiting) tell({ id, failure: 'the relay ended' }, undefined);
      waiting.clear();
    };
    made.once('error', lost);
    made.once('disconnect', lost);
    made.unref();
    made.channel?.unref();
    return made;
  }

  const ask = <T>(wish: RelayWish) =>
    new Promise<T>((resolve, reject) => {
      if (closed) return reject(new Error('the VM is off'));
      const id = ++last;
      waiting.set(id, ({ failure }, handle) =>
        failure === undefined ? resolve(handle as T) : reject(new Error(failure)),
      );
      running().send({ id, ...wish }, (error) => {
        if (error === null || !waiting.delete(id)) return;
        reject(error);
      });
    });

  return {
    connect: (port, address, from) =>
      ask<Socket>({ connect: port, address, from }).catch((error: Error) => {
        if (error.message === 'ECONNREFUSED' || closed) return undefined;
        throw error;
      }),
    listen: (port) => ask<Server>({ listen: port }),
    close() {
      closed = true;
      child?.kill();
    },
  };
}
