/**
 * Puts the caller's files on the jumpbox when an instance waits for them there, and wakes it. Continues what an earlier try
 * sent. Before each try it asks again for the jumpbox's address.
 */
import { setTimeout as pause } from 'node:timers/promises';
import type { Host, Identity, Remote } from '../../functions/remote/remote.js';
import type { BootstrapView, InstanceView } from '../../shared/bootstrap/bootstrap.js';
import { uploadPath } from '../../shared/bootstrap/upload.js';
import { Problem } from '../../shared/problems.js';
import { joinedSignal } from '../frame/joined-signal.js';
import type { Client } from '../service/client.js';
import type { Settings } from '../settings.js';
import { callerRemote, jumpboxHost, jumpboxIn, ownersWayIn, type ReachSettings, userOnJumpbox } from './jumpbox.js';
import { toStorage } from './to-storage.js';
import { type LocalUpload, sourceOf } from './upload-source.js';

export interface UploadStep {
  readonly file: Pick<LocalUpload, 'name' | 'sha256'>;
  /** `there`: an earlier try has already sent it. */
  readonly state: 'sending' | 'sent' | 'there' | 'trying again';
  readonly bytes: number;
  readonly of: number;
  /** Seconds since the first byte of this try. */
  readonly seconds: number;
  /** Why it is retried. */
  readonly why?: string;
}

export interface Uploader {
  /** An instance may be waiting for a file. */
  look(): void;
  /** Aborted with a Problem when the upload gives up. */
  readonly failed: AbortSignal;
  close(): Promise<void>;
}

interface Parts {
  readonly client: Pick<Client, 'get' | 'wake' | 'uploadWay'>;
  readonly id: string;
  readonly files: readonly LocalUpload[];
  readonly identity: Identity;
  readonly settings: ReachSettings & Pick<Settings, 'configFolder'>;
  readonly interrupted: AbortSignal;
  readonly tell: (step: UploadStep) => void;
}

/** Counted from the first failure in a row between which nothing arrived. */
const patienceMs = 5 * 60_000;
const restMs = 3000;
/** If an instance has all its files and still waits after so many wakes, it waits for something else. */
const mostWakes = 3;

export function createUploader(parts: Parts): Uploader {
  const { files, settings, interrupted, tell } = parts;
  const given = new AbortController();
  const closed = new AbortController();
  const { signal: stop, release } = joinedSignal(interrupted, closed.signal);
  const remote = callerRemote(settings, stop);
  const errand = createErrand(parts, remote, stop);
  let working: Promise<void> | undefined;
  let wanted = false;

  async function work(): Promise<void> {
    let failingSince: number | undefined;
    while (wanted && !stop.aborted) {
      wanted = false;
      try {
        await errand.serve();
        failingSince = undefined;
      } catch (error) {
        if (stop.aborted) return;
        if (errand.hasMoved()) failingSince = undefined;
        failingSince ??= Date.now();
        const passes = error instanceof Problem && error.kind.retry !== 'none';
        if (!passes || Date.now() - failingSince > patienceMs) throw error;
        const [file] = files.filter((each) => !errand.hasArrived(each));
        if (file !== undefined) {
          tell({ file, state: 'trying again', bytes: 0, of: file.bytes, seconds: 0, why: error.detail });
        }
        await pause((error.retryAfterSeconds ?? 0) * 1000 || restMs, undefined, { signal: stop });
        wanted = true;
      }
    }
  }

  return {
    look() {
      wanted = true;
      working ??= work()
        .catch((error: unknown) => {
          if (!stop.aborted) given.abort(error);
        })
        .finally(() => {
          working = undefined;
        });
    },
    failed: given.signal,
    async close() {
      closed.abort();
      await working;
      release();
      await remote.close();
    },
  };
}

/** Brings all files to the jumpbox and wakes the instances that wait for them. Continues earlier uploads. */
function createErrand({ client, id, files, identity, settings, tell }: Parts, remote: Remote, stop: AbortSignal) {
  const arrived = new Set<string>();
  const wake = createWaker(client, id);
  let moved = false;

  /** Steps look in the folder of `ubuntu`, where only root writes besides. */
  async function hostOf(view: BootstrapView): Promise<Host> {
    const user = await userOnJumpbox(settings, ownersWayIn(view), stop);
    const host = await jumpboxHost(remote, { id, jumpbox: jumpboxIn(view) }, identity, user, stop);
    return user === 'ubuntu' ? host : host.asRoot();
  }

  async function put(host: Host, file: LocalUpload, isBehindIap: boolean): Promise<void> {
    const path = `/home/ubuntu/${uploadPath(file)}`;
    const told = { file, of: file.bytes };
    if (await isThere(host, path, file)) {
      if (!arrived.has(file.sha256)) tell({ ...told, state: 'there', bytes: file.bytes, seconds: 0 });
      arrived.add(file.sha256);
      return;
    }
    const startedAt = Date.now();
    const seconds = (): number => (Date.now() - startedAt) / 1000;
    let before: number | undefined;
    const onProgress = (bytes: number): void => {
      // The first one tells what an earlier try sent.
      moved ||= before !== undefined && bytes > before;
      before = bytes;
      tell({ ...told, state: 'sending', bytes, seconds: seconds() });
    };
    const source = await sourceOf(file);
    let state: 'sent' | 'there' | undefined;
    try {
      if (isBehindIap) state = await toStorage({ client, id, settings }, file, source, { onProgress, signal: stop });
      if (state === undefined) await host.send(path, source, { mode: 0o600, onProgress });
    } catch (error) {
      if (!stop.aborted) await source.checkUnchanged();
      throw error;
    }
    // The jumpbox may still fetch what is in Cloud Storage.
    if (!arrived.has(file.sha256)) tell({ ...told, state: state ?? 'sent', bytes: file.bytes, seconds: seconds() });
    arrived.add(file.sha256);
  }

  return {
    hasArrived: ({ sha256 }: LocalUpload): boolean => arrived.has(sha256),
    /** Whether anything arrived since it was last asked. */
    hasMoved(): boolean {
      const has = moved;
      moved = false;
      return has;
    },
    async serve(): Promise<void> {
      const view = await client.get(id);
      const waiting = view.instances.filter(({ state }) => state === 'client');
      if (waiting.length === 0) return;
      const host = await hostOf(view);
      const isBehindIap = jumpboxIn(view)?.tunnel !== undefined;
      for (const file of files) await put(host, file, isBehindIap);
      for (const instance of waiting) await wake(instance);
    },
  };
}

function createWaker(client: Pick<Client, 'wake'>, id: string) {
  const wakes = new Map<string, number>();
  return async ({ id: instance, title, note }: InstanceView): Promise<void> => {
    const count = (wakes.get(instance) ?? 0) + 1;
    wakes.set(instance, count);
    if (count > mostWakes) {
      throw new Problem('conflict', `${title} waits for ${note ?? 'something'}, which this command does not bring.`, {
        advice: 'Give the flag that names the file, as when the bootstrap was begun.',
      });
    }
    await client.wake(id, instance);
  };
}

async function isThere(host: Host, path: string, { sha256 }: LocalUpload): Promise<boolean> {
  const command = `echo '${sha256}  ${path}' | sha256sum --check --status`;
  return (await host.exec(command, { timeoutSeconds: 300 })).exitCode === 0;
}
