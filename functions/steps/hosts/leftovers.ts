/**
 * Files on the jumpbox that earlier options asked for, and these no longer do: uploads of the caller's, archives of packages,
 * and the token of a test user that nobody fetched.
 */
import type { BootstrapOptions } from '../../../shared/bootstrap/options.js';
import { testUserFile } from '../../../shared/bootstrap/test-user.js';
import { readUpload, type Upload, uploadsFolder } from '../../../shared/bootstrap/upload.js';
import type { BootstrapFacts } from '../../engine/step.js';
import type { Host } from '../../remote/remote.js';
import { mustRun, runScript } from './script.js';

/** Archives by their SHA-256: `<sha256>.tar.gz`. */
export const packagesFolder = '/var/lib/platform/packages';

const uploadsOf = ({ installLocal, remoteCliBinary, pcAppsValues }: BootstrapOptions): readonly Upload[] =>
  [installLocal, remoteCliBinary, ...pcAppsValues].flatMap((text) => readUpload(text ?? '') ?? []);

/** In words, for a plan. */
export const jumpboxThings = (options: BootstrapOptions): readonly string[] => {
  const { installVersion, installHash, installLocal, createTestUser } = options;
  const wanted = installLocal === undefined ? [installVersion, installHash].filter(Boolean).join(' ') : '';
  return [
    ...uploadsOf(options).map(
      ({ name, sha256 }) => `${name}, which was uploaded to the jumpbox (SHA-256 ${sha256.slice(0, 12)}…)`,
    ),
    ...(wanted === '' ? [] : [`the archive of package ${wanted} on the jumpbox`]),
    ...(createTestUser ? ['the token of the test user on the jumpbox, if nobody fetched it'] : []),
  ];
};

type Facts = Pick<BootstrapFacts, 'options' | 'package'>;

/** What a file's name begins with where the options ask for it. */
function argsOf({ options, package: chosen }: Facts): string[] {
  const packaged = [readUpload(options.installLocal ?? '')?.sha256 ?? chosen?.sha256 ?? ''];
  const user = options.createTestUser ? '' : testUserFile;
  return [
    `/home/ubuntu/${uploadsFolder}`,
    packagesFolder,
    user,
    ...uploadsOf(options).map(({ sha256 }) => sha256),
    ...packaged,
  ];
}

export const hasLeftovers = async (host: Host, facts: Facts): Promise<boolean> =>
  (await runScript(host, `${leftovers}\n[ "\${#left[@]}" = 0 ]`, argsOf(facts))).exitCode !== 0;

export const deleteLeftovers = (host: Host, facts: Facts): Promise<string> =>
  mustRun(host, 'Deleting files of earlier options', `${leftovers}\nrm -f -- "\${left[@]}"`, argsOf(facts));

/** Collects them in `left`. A file whose name begins with no SHA-256 is not plinth's. */
const leftovers = `set -u
shopt -s nullglob
uploads=$1 packages=$2 user=$3
shift 3
left=()
for file in "$uploads"/* "$packages"/*; do
  [[ -f $file && \${file##*/} =~ ^([0-9a-f]{64})(\\.|$) ]] || continue
  [[ " $* " == *" \${BASH_REMATCH[1]} "* ]] || left+=("$file")
done
[ ! -f "$user" ] || left+=("$user")`;
