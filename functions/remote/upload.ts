/**
 * Writes files on a machine, all or nothing: to a temporary file beside the path, whose hash is checked there, then renamed.
 */
import { Problem } from '../../shared/problems.js';
import { sha256 as hashOf } from '../../shared/sha256.js';
import type { Ran } from './command.js';
import type { ExecOptions, InstallOptions, UploadOptions } from './remote.js';
import { failed, script } from './shell.js';

export interface Target {
  readonly name: string;
  /** Runs a command as the user that the host works as. */
  run(command: string, options?: ExecOptions): Promise<Ran>;
}

const damaged = 65;

/** $1 path, $2 mode, $3 hash. Takes the content from the file $4, or from standard input if $4 is empty. */
const put = `set -e
mkdir -p -- "$(dirname -- "$1")"
if [ -d "$1" ]; then echo "$1 is a folder" >&2; exit 1; fi
umask 077
t=$(mktemp -- "$(dirname -- "$1")/.plinth.XXXXXXXX")
trap 'rm -f -- "$t"' EXIT
trap 'exit 1' HUP INT TERM PIPE
# Of the same disk it only gets another name: what is big is not written twice.
if [ -z "$4" ]; then cat > "$t"
elif ln -f -- "$4" "$t" 2>/dev/null; then [ -O "$t" ] || chown "$(id -u):$(id -g)" "$t"
else cp -- "$4" "$t"; fi
[ "$(sha256sum < "$t")" = "$3  -" ] || exit ${damaged}
chmod "$2" "$t"
sync -d "$t" 2>/dev/null || :
mv -f -- "$t" "$1"
trap - EXIT`;

const putCommand = (path: string, mode: number, sha256: string, from = ''): string =>
  script(put, path, mode.toString(8), sha256, from);

export async function upload(
  target: Target,
  path: string,
  content: string | Uint8Array,
  { mode, sha256, signal }: UploadOptions,
): Promise<void> {
  const bytes = Buffer.from(content);
  const hash = sha256 ?? hashOf(bytes);
  const ran = await target.run(putCommand(path, mode, hash), { stdin: bytes, signal });
  verify(target, path, ran);
}

/** Puts a file in place that is already on the machine. */
export async function install(
  target: Target,
  from: string,
  path: string,
  { mode, sha256, signal }: InstallOptions,
): Promise<void> {
  verify(target, path, await target.run(putCommand(path, mode, sha256, from), { signal, timeoutSeconds: 600 }));
}

function verify({ name }: Target, path: string, ran: Ran): void {
  if (ran.exitCode === 0) return;
  if (ran.exitCode === damaged && ran.stderr.length === 0) {
    throw new Problem('host-unreachable', `What arrived on ${name} for ${path} is not what was sent.`);
  }
  throw failed(name, `Writing ${path}`, path, ran);
}
