/**
 * Puts plinth on the jumpbox, where it installs the platform: the caller's own build, or the release of this version. Deletes
 * the files of earlier options there.
 */
import * as z from 'zod';
import type { BootstrapOptions } from '../../../shared/bootstrap/options.js';
import { readUpload, type Upload } from '../../../shared/bootstrap/upload.js';
import { Problem } from '../../../shared/problems.js';
import { releaseBinary } from '../../../shared/release.js';
import { programName, version } from '../../../shared/version.js';
import { done, of, type StepCall } from '../../engine/step.js';
import type { Executed, Host } from '../../remote/remote.js';
import { hostSetup } from './host-setup.js';
import { deleteLeftovers, hasLeftovers, jumpboxThings } from './leftovers.js';
import { defineHostStep, hostNeeds, reach } from './reach.js';
import { releaseUrl } from './release-url.js';
import { fetchFailed, mustRun, runScript } from './script.js';
import { uploaded } from './uploaded.js';

const path = '/usr/local/bin/plinth';
const fetchSeconds = 300;

const given = ({ remoteCliBinary }: BootstrapOptions) =>
  remoteCliBinary === undefined ? undefined : readUpload(remoteCliBinary);
const wantedSha256 = ({ bootstrap, context }: Pick<StepCall, 'bootstrap' | 'context'>): string =>
  given(bootstrap.options)?.sha256 ?? releaseBinary(context.config).sha256;

export const plinthBinary = defineHostStep({
  name: 'plinth-binary',
  title: 'plinth on the jumpbox',
  needs: { ...hostNeeds(), jumpboxSetup: of(hostSetup, () => ['jumpbox']) },
  describe: (options) => [`${path}: ${given(options)?.name ?? 'the release of this version'}`],
  output: z.object({
    path: z.string(),
    sha256: z.string(),
    /**
     * The version that the caller's own build reports. Absent for the release of this version, and in records of earlier
     * releases.
     */
    version: z.string().optional(),
  }),
  clears: jumpboxThings,
  async observe(call) {
    const host = await reach(call);
    const sha256 = wantedSha256(call);
    const check = 'echo "$2  $1" | sha256sum --check --status && [ -x "$1" ]';
    const { exitCode } = await runScript(host, check, [path, sha256]);
    if (exitCode !== 0 || (await hasLeftovers(host, call.bootstrap))) return undefined;
    if (given(call.bootstrap.options) === undefined) return { path, sha256 };
    const said = versionIn(await askVersion(host, path));
    return said === undefined ? undefined : { path, sha256, version: said };
  },
  async run(call) {
    const host = await reach(call);
    const own = given(call.bootstrap.options);
    await deleteLeftovers(host, call.bootstrap);
    if (own === undefined) {
      const { url, sha256 } = releaseBinary(call.context.config);
      // Through standard input: no process shows it, and no file holds it.
      const stdin = `url = "${await releaseUrl(call.context, fetchSeconds)}"\n`;
      await mustRun(host, `Fetching ${url}`, fetched, [path, sha256], {
        stdin,
        timeoutSeconds: fetchSeconds,
        signal: call.signal,
      });
      return done;
    }
    const file = await uploaded(call, host, own, `the file of --remote-cli-binary, ${own.name}`);
    if (typeof file !== 'string') return file;
    await putInPlace(call, host, own, file);
    return done;
  },
  warning: ({ version: said }) =>
    said === undefined || said === version
      ? undefined
      : `The plinth of --remote-cli-binary is of version ${said}, and this deployment of ${version}: the platform is installed by the former.`,
});

/** Runs the new file before it replaces the old one. The rename lets a running plinth keep the file it was started from. */
async function putInPlace({ signal }: Pick<StepCall, 'signal'>, host: Host, own: Upload, file: string): Promise<void> {
  const tried = `${path}.given`;
  await host.install(file, tried, { mode: 0o755, sha256: own.sha256, signal });
  await mustRun(host, 'Installing libatomic1', withLibatomic, [], { timeoutSeconds: 300, signal });
  const answer = await askVersion(host, tried);
  if (versionIn(answer) === undefined) {
    await mustRun(host, `Taking ${own.name} away`, 'rm -f "$1"', [tried]);
    throw noPlinth(own, answer);
  }
  await mustRun(host, `Putting ${own.name} in place`, 'mv -f "$1" "$2"', [tried, path]);
}

const askVersion = (host: Host, program: string): Promise<Executed> =>
  runScript(host, 'set -o pipefail; timeout -k 5 45 "$1" --version --json < /dev/null | head -c 10000', [program]);

const Answer = z.object({ name: z.literal(programName), version: z.string().max(50) });

/** Undefined if the program is not plinth. */
function versionIn({ exitCode, stdout }: Executed): string | undefined {
  try {
    return exitCode === 0 ? Answer.parse(JSON.parse(stdout)).version : undefined;
  } catch {
    return undefined;
  }
}

function noPlinth({ name }: Upload, { exitCode, stdout, stderr }: Executed): Problem {
  const [line = ''] = `${stderr}\n${stdout}`.trim().split('\n');
  const said = line === '' ? 'said nothing' : `said "${line.slice(0, 200)}"`;
  return new Problem(
    'bad-input',
    `The file of --remote-cli-binary, ${name}, is not plinth: asked on the jumpbox for --version --json it ended with exit code ${exitCode} and ${said}. It was not put in place.`,
    {
      advice:
        'Give the executable that npm run build:binary makes (an older build than this deployment does not answer yet: build it anew), or leave the flag out. Then run the same command again.',
    },
  );
}

/** Node is linked with libatomic1, and not every image has it. */
const withLibatomic = `ldconfig -p | grep -q 'libatomic\\.so\\.1' || apt-get -o DPkg::Lock::Timeout=120 install -y -qq libatomic1 >&2`;

const fetched = `set -eu
${fetchFailed}
t=$(mktemp "$1.XXXXXX")
trap 'rm -f "$t"' EXIT
curl --config - --fail --silent --show-error --location --retry 3 --output "$t" || fetch_failed $? "$t"
echo "$2  $t" | sha256sum --check --status || { echo "it is not what this build of plinth knows: $(sha256sum < "$t")" >&2; exit 65; }
chmod 755 "$t"
${withLibatomic}
"$t" --version </dev/null >/dev/null
mv -f "$t" "$1"
trap - EXIT`;
