/** plinth itself on the jumpbox, where it installs the platform: the caller's own build, or the release of this version. */
import * as z from 'zod';
import type { BootstrapOptions } from '../../../shared/bootstrap/options.js';
import { readUpload } from '../../../shared/bootstrap/upload.js';
import { releaseBinary } from '../../../shared/release.js';
import { done, needsClient, of, type StepCall } from '../../engine/step.js';
import { hostSetup } from './host-setup.js';
import { defineHostStep, hostNeeds, reach } from './reach.js';
import { fetchFailed, mustRun, runScript } from './script.js';
import { uploaded } from './uploaded.js';

const path = '/usr/local/bin/plinth';

const given = ({ remoteCliBinary }: BootstrapOptions) =>
  remoteCliBinary === undefined ? undefined : readUpload(remoteCliBinary);
const wantedSha256 = ({ bootstrap, context }: Pick<StepCall, 'bootstrap' | 'context'>): string =>
  given(bootstrap.options)?.sha256 ?? releaseBinary(context.config).sha256;

export const plinthBinary = defineHostStep({
  name: 'plinth-binary',
  title: 'plinth on the jumpbox',
  needs: { ...hostNeeds(), jumpboxSetup: of(hostSetup, () => ['jumpbox']) },
  describe: (options) => [`${path}: ${given(options)?.name ?? 'the release of this version'}`],
  output: z.object({ path: z.string(), sha256: z.string() }),
  async observe(call) {
    const host = await reach(call);
    const sha256 = wantedSha256(call);
    const check = 'echo "$2  $1" | sha256sum --check --status && [ -x "$1" ]';
    const { exitCode } = await runScript(host, check, [path, sha256]);
    return exitCode === 0 ? { path, sha256 } : undefined;
  },
  async run(call) {
    const host = await reach(call);
    const own = given(call.bootstrap.options);
    if (own === undefined) {
      const { url, sha256 } = releaseBinary(call.context.config);
      await mustRun(host, `Fetching ${url}`, fetched, [path, sha256, url], {
        timeoutSeconds: 300,
        signal: call.signal,
      });
      return done;
    }
    const file = await uploaded(host, own);
    if (file === undefined) return needsClient(`the file of --remote-cli-binary, ${own.name}`);
    await mustRun(host, `Putting ${own.name} in place`, copied, [path, file]);
    return done;
  },
});

/** A running plinth keeps the file that it was started from: the new one takes its place by a rename. */
const copied = `set -eu
install -m 755 "$2" "$1.new"
"$1.new" --version >/dev/null
mv -f "$1.new" "$1"`;

const fetched = `set -eu
${fetchFailed}
t=$(mktemp "$1.XXXXXX")
trap 'rm -f "$t"' EXIT
curl --fail --silent --show-error --location --retry 3 --output "$t" "$3" || fetch_failed $? "$t"
echo "$2  $t" | sha256sum --check --status || { echo "it is not what this build of plinth knows: $(sha256sum < "$t")" >&2; exit 65; }
chmod 755 "$t"
# Node is linked with it, and not every image has it.
ldconfig -p | grep -q 'libatomic\\.so\\.1' || apt-get -o DPkg::Lock::Timeout=120 install -y -qq libatomic1 >&2
"$t" --version >/dev/null
mv -f "$t" "$1"
trap - EXIT`;
