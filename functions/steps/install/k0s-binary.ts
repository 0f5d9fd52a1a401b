/** Installs the wanted release of k0s on a node, verified with the checksums of the release. */
import * as z from 'zod';
import type { BootstrapOptions } from '../../../shared/bootstrap/options.js';
import { done, of } from '../../engine/step.js';
import { router } from '../cloud/router.js';
import { hostSetup } from '../hosts/host-setup.js';
import { defineHostStep, hostNeeds, reach } from '../hosts/reach.js';
import { fetchFailed, mustHaveEnded, runScript } from '../hosts/script.js';
import { vmSpec } from '../topology.js';
import { installValues } from './install-values.js';
import { installs, k0sNodes, k0sPath } from './k0s.js';
import { k0sRelease, noRelease } from './k0s-release.js';

const datacenterOfNode = (options: BootstrapOptions, key: string) => [vmSpec(options, key).datacenter];

export const k0sBinary = defineHostStep({
  name: 'k0s-binary',
  title: 'k0s program',
  // Without NAT a node reaches nothing outside.
  needs: { ...hostNeeds((_, key) => [key]), router, hostSetup, installValues: of(installValues, datacenterOfNode) },
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
    const release = k0sRelease(call.context.config, call.bootstrap.options);
    const args = [k0sPath, release.programUrl, release.sumsUrl, release.name];
    const ran = await runScript(host, fetched, args, { timeoutSeconds: 300, signal: call.signal });
    if (ran.exitCode === missing) throw noRelease(release);
    mustHaveEnded(host, `Fetching ${release.name}`, ran);
    return done;
  },
});

/** The exit code of `fetched` if there is no such release. */
const missing = 69;

const fetched = `set -eu
${fetchFailed}
get() { curl --fail --silent --show-error --location --retry 3 "$@"; }
t=$(mktemp "$1.XXXXXX")
trap 'rm -f "$t"' EXIT
[ "$(curl --silent --head --location --retry 3 --output /dev/null --write-out '%{http_code}' "$3")" != 404 ] || exit ${missing}
sum=$(get "$3" | awk -v name="$4" '$2 == name || $2 == "*" name { print $1 }')
[ -n "$sum" ] || { echo "the release publishes no sum of $4" >&2; exit 65; }
get --output "$t" "$2" || fetch_failed $? "$t"
echo "$sum  $t" | sha256sum --check --status || { echo "$4 is not what the release says it is" >&2; exit 65; }
chmod 755 "$t"
mv -f "$t" "$1"
trap - EXIT`;
