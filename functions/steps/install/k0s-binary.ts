/** k0s itself on a node: the release of the version that is asked for, verified by the sums that were published with it. */
import * as z from 'zod';
import { done } from '../../engine/step.js';
import { router } from '../cloud/router.js';
import { hostSetup } from '../hosts/host-setup.js';
import { defineHostStep, hostNeeds, reach } from '../hosts/reach.js';
import { fetchFailed, mustRun, runScript } from '../hosts/script.js';
import { installs, k0sNodes, k0sPath } from './k0s.js';

export const k0sBinary = defineHostStep({
  name: 'k0s-binary',
  title: 'k0s program',
  // Without NAT a node reaches nothing outside.
  needs: { ...hostNeeds((_, key) => [key]), router, hostSetup },
  when: installs,
  each: k0sNodes,
  describe: (options, key) => [`k0s ${options.kubeDistroVersion} on ${key}`],
  output: z.object({ version: z.string() }),
  async observe(call) {
    const host = await reach(call, call.key);
    const version = call.bootstrap.options.kubeDistroVersion;
    const { exitCode, stdout } = await runScript(host, `${k0sPath} version`);
    return exitCode === 0 && stdout.trim() === version ? { version } : undefined;
  },
  async run(call) {
    const host = await reach(call, call.key);
    const { k0sReleasesUrl } = call.context.config;
    const version = call.bootstrap.options.kubeDistroVersion;
    const folder = `${k0sReleasesUrl}/${encodeURIComponent(version)}`;
    const name = `k0s-${version}-amd64`;
    const args = [k0sPath, `${folder}/${encodeURIComponent(name)}`, `${folder}/sha256sums.txt`, name];
    await mustRun(host, `Fetching ${name}`, fetched, args, { timeoutSeconds: 300, signal: call.signal });
    return done;
  },
});

const fetched = `set -eu
${fetchFailed}
get() { curl --fail --silent --show-error --location --retry 3 "$@"; }
t=$(mktemp "$1.XXXXXX")
trap 'rm -f "$t"' EXIT
sum=$(get "$3" | awk -v name="$4" '$2 == name || $2 == "*" name { print $1 }')
[ -n "$sum" ] || { echo "the release publishes no sum of $4" >&2; exit 65; }
get --output "$t" "$2" || fetch_failed $? "$t"
echo "$sum  $t" | sha256sum --check --status || { echo "$4 is not what the release says it is" >&2; exit 65; }
chmod 755 "$t"
mv -f "$t" "$1"
trap - EXIT`;
