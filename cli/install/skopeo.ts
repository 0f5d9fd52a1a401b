/** Images in registries and in layouts, by skopeo: read raw, copied whole. */
import { spawn } from 'node:child_process';
import { buffer, text } from 'node:stream/consumers';
import { Problem } from '../../shared/problems.js';

/** `docker://host/name:tag`, `oci:folder:tag`. */
export interface Place {
  readonly reference: string;
  /** Undefined: what skopeo finds by itself, as `skopeo login` left it. */
  readonly authFile?: string | undefined;
  /** Over plain HTTP. */
  readonly isPlain?: boolean;
}

export interface Skopeo {
  /** The manifest or index, byte for byte; a Problem with what skopeo said if it cannot be had. */
  raw(place: Place): Promise<Buffer>;
  /** All architectures as they are. */
  copy(from: Place, to: Place): Promise<void>;
}

export function createSkopeo(env: Readonly<Record<string, string | undefined>>, signal: AbortSignal): Skopeo {
  async function run(args: readonly string[], what: string): Promise<Buffer> {
    signal.throwIfAborted();
    // What is copied is held against its digest: machines need no policy of signatures for that.
    const child = spawn('skopeo', ['--insecure-policy', ...args], { env, stdio: ['ignore', 'pipe', 'pipe'], signal });
    const ended = new Promise<number | null>((resolve, reject) => {
      child.once('close', resolve);
      child.once('error', reject);
    });
    const [code, said, complaint] = await Promise.all([ended, buffer(child.stdout), text(child.stderr)]).catch(
      (error: NodeJS.ErrnoException): never => {
        signal.throwIfAborted();
        if (error.code !== 'ENOENT') throw error;
        throw new Problem('install-failed', 'skopeo is not on this host.', { advice: 'apt-get install skopeo' });
      },
    );
    if (code === 0) return said;
    throw new Problem('install-failed', `${what}: ${lastLine(complaint)}`, {
      advice: 'Mend what it says, then run the same command again: what was copied is not copied twice.',
    });
  }
  return {
    raw: (place) =>
      run(['inspect', '--raw', ...optionsOf('', place), place.reference], `${place.reference} cannot be read`),
    async copy(from, to) {
      const args = ['--all', '--quiet', '--retry-times', '3', ...optionsOf('src-', from), ...optionsOf('dest-', to)];
      await run(['copy', ...args, from.reference, to.reference], `${to.reference} cannot be written`);
    },
  };
}

const optionsOf = (side: '' | 'src-' | 'dest-', { authFile, isPlain = false }: Place): string[] => [
  ...(authFile === undefined ? [] : [`--${side}authfile=${authFile}`]),
  ...(isPlain ? [`--${side}tls-verify=false`] : []),
];

/** skopeo logs in `key="value"` pairs; the message is what counts. */
function lastLine(complaint: string): string {
  const line = complaint.trim().split('\n').at(-1) ?? '';
  const [, message] = /\bmsg="((?:[^"\\]|\\.)*)"/.exec(line) ?? [];
  return (message?.replaceAll(/\\(.)/g, '$1') ?? line) || 'it said nothing';
}
