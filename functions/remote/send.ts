/**
 * Sends big files by SFTP and resumes interrupted ones: data of the same content, by hash, is not sent again. Bytes go to
 * their own offsets, so an older try that is still under way does no harm.
 */
import type { SFTPWrapper } from 'ssh2';
import { Problem } from '../../shared/problems.js';
import type { FileSource, SendOptions } from './remote.js';
import { failed, script } from './shell.js';
import type { Connection } from './ssh.js';
import { install, type Target } from './upload.js';

/** Every server takes this much at once. OpenSSH takes more, but is no faster with it. */
const chunkBytes = 32 * 1024;
const chunksAtOnce = 64;

/** $1 is the file's name within the upload folder. Prints the size so far and the path. */
const prepare = `set -e
d="$HOME/.plinth-uploads"
mkdir -p -m 700 -- "$d"
find "$d" -type f -mtime +2 -delete 2>/dev/null || :
[ -e "$d/$1" ] || { umask 077; : > "$d/$1"; }
wc -c < "$d/$1"
echo "$d/$1"`;

/** `user` logs in and owns the partial file. `target` puts the file in place. */
export async function send(
  user: Target,
  target: Target,
  connection: Connection,
  path: string,
  source: FileSource,
  { mode, onProgress, signal }: SendOptions,
): Promise<void> {
  const prepared = await user.run(script(prepare, source.sha256), { signal });
  const [size = '', part = ''] = prepared.stdout.toString().trim().split('\n');
  if (prepared.exitCode !== 0 || part === '') throw failed(user.name, `Receiving ${path}`, path, prepared);
  const there = Math.min(Number(size), source.size);
  onProgress?.(there);
  if (there < source.size) {
    await connection
      .sftp((sftp) => write(sftp, part, source, there, onProgress), signal)
      .catch(async (error: unknown) => {
        if (error instanceof Problem || signal?.aborted) throw error;
        // SFTP version 3 has one code for all failures. Only the machine itself knows whether its disk is full.
        const looked = await user.run(
          script('cat -- "$1" > /dev/null; printf x >> "$1.room" && rm -f -- "$1.room"', part),
          { signal },
        );
        const stderr =
          looked.exitCode === 0 ? Buffer.from(error instanceof Error ? error.message : String(error)) : looked.stderr;
        throw failed(user.name, `Receiving ${path}`, path, { exitCode: looked.exitCode, stderr });
      });
  }
  try {
    await install(target, part, path, { mode, sha256: source.sha256, signal });
  } catch (error) {
    // A file with the wrong hash is of no use to the next try.
    if (error instanceof Problem && error.code === 'host-unreachable' && !connection.gone.aborted) {
      await user.run(script('rm -f -- "$1"', part), { signal });
    }
    throw error;
  }
  await user.run(script('rm -f -- "$1"', part), { signal });
}

async function write(
  sftp: SFTPWrapper,
  part: string,
  source: FileSource,
  from: number,
  onProgress: SendOptions['onProgress'],
): Promise<void> {
  const handle = await call<Buffer>((done) => sftp.open(part, 'r+', done));
  let underWay = 0;
  let wake = (): void => undefined;
  let broken: { readonly error: unknown } | undefined;
  let at = from;
  let arrived = from;
  const put = (bytes: Buffer): void => {
    const position = at;
    at += bytes.length;
    underWay++;
    sftp.write(handle, bytes, 0, bytes.length, position, (error) => {
      underWay--;
      if (error) broken ??= { error };
      else {
        arrived += bytes.length;
        onProgress?.(arrived);
      }
      wake();
    });
  };
  const below = async (count: number): Promise<void> => {
    while (underWay >= count) {
      await new Promise<void>((resolve) => {
        wake = resolve;
      });
    }
    if (broken !== undefined) throw broken.error;
  };
  for await (const piece of source.read(from)) {
    for (let start = 0; start < piece.length; start += chunkBytes) {
      await below(chunksAtOnce);
      put(Buffer.from(piece.buffer, piece.byteOffset + start, Math.min(chunkBytes, piece.length - start)));
    }
  }
  await below(1);
  await call<void>((done) => sftp.close(handle, done));
}

const call = <T>(work: (done: (error: Error | null | undefined, value?: T) => void) => void): Promise<T> =>
  new Promise((resolve, reject) => {
    work((error, value) => (error ? reject(error) : resolve(value as T)));
  });
