/**
 * Writes config and secrets into the caller's folder as soon as they are ready. They are then there to fill in, even if the
 * bootstrap fails later.
 */
import type { BootstrapView } from '../../shared/bootstrap/bootstrap.js';
import type { LocalOptions } from '../../shared/bootstrap/options.js';
import type { BootstrapRequest } from '../../shared/bootstrap/request.js';
import type { Client } from '../service/client.js';
import type { Settings } from '../settings.js';
import { configsIn, type WrittenFile, type WrittenFiles, writeFiles } from './standing-files.js';

export interface FileKeeper {
  /** A datacenter's files are ready, or have changed. */
  look(): void;
  /** Resolves when no write is under way. */
  rest(): Promise<void>;
  /** Call when the bootstrap has ended. It retries what could not be written before. */
  end(view: BootstrapView): Promise<WrittenFiles>;
}

type Reader = Pick<Client, 'get' | 'config' | 'secrets' | 'ageIdentity'>;

export function createFileKeeper(
  client: Reader,
  id: string,
  local: LocalOptions,
  settings: Settings,
  base: NonNullable<BootstrapRequest['base']>,
): FileKeeper {
  const known = configsIn(base, local);
  const told = new Map<string, WrittenFile>();
  const standing = new Set<string>();
  let wanted = false;
  let working: Promise<void> | undefined;

  async function write(view: BootstrapView): Promise<WrittenFiles> {
    // A bootstrap that is being removed is no base for a re-run.
    if (!local.writeConfig || view.removal !== undefined) return { files: [] };
    const { files, problem } = await writeFiles(client, view, local, settings, known);
    // A file that this command wrote stays `written`, even if a later look finds it unchanged.
    for (const file of files) if (file.state === 'written' || !told.has(file.path)) told.set(file.path, file);
    if (problem === undefined) for (const key of readyIn(view)) standing.add(key);
    return { files: [...told.values()], ...(problem !== undefined && { problem }) };
  }

  async function work(): Promise<void> {
    while (wanted) {
      wanted = false;
      standing.clear();
      // `end` reports the failure if it persists.
      await client
        .get(id)
        .then(write)
        .catch(() => undefined);
    }
  }

  return {
    look() {
      wanted = true;
      working ??= work().finally(() => {
        working = undefined;
      });
    },
    rest: async () => working,
    async end(view) {
      await working;
      if (told.size > 0 && readyIn(view).every((key) => standing.has(key))) return { files: [...told.values()] };
      return write(view);
    },
  };
}

const readyIn = ({ result }: BootstrapView): string[] =>
  result.datacenters.flatMap(({ key, ready }) => (ready ? [key] : []));
