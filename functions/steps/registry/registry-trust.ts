/**
 * Makes a machine trust the registry on the jumpbox. Its programs use the system's authorities. k0s's containerd also needs a
 * file of its own.
 */
import * as z from 'zod';
import { done, of, type StepCall } from '../../engine/step.js';
import { secrets } from '../config/secrets.js';
import { hostSetup } from '../hosts/host-setup.js';
import { defineHostStep, hostNeeds, reach } from '../hosts/reach.js';
import { mustRun, runScript } from '../hosts/script.js';
import { hasLocalRegistry, localRegistryServer, vmSpec, vms } from '../topology.js';
import { containerdFiles, trustedPath } from './registry-files.js';

const needs = {
  ...hostNeeds((_, key) => [key]),
  hostSetup,
  secrets: of(secrets, () => ['dc1']),
} as const;
type Call = StepCall<typeof needs, typeof vms>;

export const registryTrust = defineHostStep({
  name: 'registry-trust',
  title: 'Trust in the registry',
  needs,
  when: hasLocalRegistry,
  each: vms,
  describe: (_, key) => [`the authority of the registry on the jumpbox is known on ${key}`],
  output: z.object({}),
  async observe(call) {
    const { exitCode } = await runScript(await reach(call, call.key), check, argsOf(call));
    return exitCode === 0 ? {} : undefined;
  },
  async run(call) {
    await mustRun(await reach(call, call.key), `Trusting the registry on ${call.key}`, apply, argsOf(call));
    return done;
  },
});

/** Pairs of path and content. The first is the system's. */
function argsOf({ bootstrap, key, needs }: Call): string[] {
  const caCertPem = needs.secrets['dc1']?.registryCaCertPem;
  if (caCertPem === undefined) throw new Error('no authority was made for the registry');
  const server = localRegistryServer(needs.machines['jumpbox']?.internalIp ?? '');
  const isNode = vmSpec(bootstrap.options, key).role === 'k0s';
  const files = { [trustedPath]: caCertPem, ...(isNode ? containerdFiles(server, caCertPem) : {}) };
  return Object.entries(files).flat();
}

const bundle = '/etc/ssl/certs/ca-certificates.crt';

/** All of its lines are among those that the system trusts. */
const check = `set -eu
ca=$1
while [ $# -gt 0 ]; do printf %s "$2" | cmp -s - "$1"; shift 2; done
[ -s ${bundle} ]
[ -z "$(grep -vxFf ${bundle} "$ca")" ]`;

const apply = `set -eu
umask 022
while [ $# -gt 0 ]; do
  mkdir -p "$(dirname "$1")"
  printf %s "$2" > "$1.new"
  mv -f "$1.new" "$1"
  shift 2
done
# Of an authority that another took the place of nothing is left.
update-ca-certificates --fresh >/dev/null`;
