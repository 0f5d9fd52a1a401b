/** Reads and copies images in registries and in OCI layouts with skopeo. */
import { spawn } from 'node:child_process';
import { buffer, text } from 'node:stream/consumers';
import { Problem } from '../../shared/problems.js';

/** `docker://host/name:tag`, `oci:folder:tag`. */
export interface Place {
  readonly reference: string;
  /** Undefined means the credentials that `skopeo login` left. */
  readonly authFile?: string | undefined;
  /** Uses plain HTTP. */
  readonly isPlain?: boolean;
}

export interface Skopeo {
  /** The manifest or index, byte for byte. If it cannot be read, throws a Problem with skopeo's message. */
  raw(place: Place): Promise<Buffer>;
  /** Copies all architectures unchanged. */
  copy(from: Place, to: Place): Promise<void>;
}

export function createSkopeo(env: Readonly<Record<string, string | undefined>>, signal: AbortSignal): Skopeo {
  async function run(args: readonly string[], what: string): Promise<Buffer> {
    signal.throwIfAborted();
    // Each copy is checked against its digest, so machines need no signature policy.
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

/** skopeo logs in `key="value"` pairs. Only the message matters. */
function lastLine(complaint: string): string {
  const line = complaint.trim().split('\n').at(-1) ?? '';
  const [, message] = /\bmsg="((?:[^"\\]|\\.)*)"/.exec(line) ?? [];
  return (message?.replaceAll(/\\(.)/g, '$1') ?? line) || 'it said nothing';
}
