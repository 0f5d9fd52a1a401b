/**
 * Puts the package's images into the registry that nodes pull from: out of the full package, or mirrored from forge1's
 * registry. plinth on the jumpbox copies them, as a job that outlives the function which started it.
 */
import * as z from 'zod';
import type { BootstrapOptions } from '../../../shared/bootstrap/options.js';
import { sha256 } from '../../../shared/sha256.js';
import { of, type StepCall } from '../../engine/step.js';
import type { Host } from '../../remote/remote.js';
import { repositoryRoles } from '../cloud/repository-roles.js';
import { followJob, keepLog } from '../hosts/follow-job.js';
import { handover } from '../hosts/handover.js';
import { plinthBinary } from '../hosts/plinth-binary.js';
import { defineHostStep, hostNeeds, reach } from '../hosts/reach.js';
import { runScript } from '../hosts/script.js';
import { installerPackage, mustBear } from '../install/package.js';
import { datacenterOf, datacenters, hasLocalRegistry } from '../topology.js';
import { registry } from './registry.js';
import { registryTrust } from './registry-trust.js';
import { bringsImages, registryPrograms } from './tools.js';

const firstOf = (options: BootstrapOptions): string => datacenters.keys(options)[0] ?? '';

const needs = {
  ...hostNeeds(),
  registryPrograms,
  registry,
  trust: of(registryTrust, () => ['jumpbox']),
  // The jumpbox has the identity that may write there.
  repositoryRoles,
  plinthBinary,
  // All datacenters share one registry.
  handover: of(handover, (options) => [firstOf(options)]),
  installerPackage,
} as const;
type Call = StepCall<typeof needs, undefined>;

const isMirrored = (options: BootstrapOptions): boolean => hasLocalRegistry(options) && !options.airgapped;

export const images = defineHostStep({
  name: 'images',
  title: 'Container images',
  needs,
  when: bringsImages,
  describe: (options) => [
    isMirrored(options)
      ? "images of the package, mirrored from forge1's registry to the jumpbox"
      : `images of the package, out of it to ${hasLocalRegistry(options) ? 'the jumpbox' : 'the image repository'}`,
  ],
  output: z.object({
    /** Digest of what was asked for. */
    digest: z.string(),
  }),
  async observe(call) {
    const host = await reach(call);
    const { digest, script } = planOf(call);
    if (!(await areCopied(call, host))) return undefined;
    await keepLog(call, host, 'images', script);
    return { digest };
  },
  async run(call) {
    const host = await reach(call);
    return followJob(call, host, {
      name: 'images',
      script: planOf(call).script,
      what: 'Copying the images',
      isThere: () => areCopied(call, host),
      before: () => login(call, host),
    });
  },
});

async function areCopied(call: Call, host: Host): Promise<boolean> {
  const { digest, command } = planOf(call);
  // Without a finished job there is nothing to check, and a check would unpack the package.
  if ((await host.read(marker))?.toString().trim() !== digest) return false;
  const look = `XDG_RUNTIME_DIR=/run/plinth ${command} --dry-run`;
  const { exitCode } = await runScript(host, look, [], { timeoutSeconds: 300, signal: call.signal });
  return exitCode === 0;
}

/** In memory. */
const runtimeFolder = '/run/plinth/images';
/** Where skopeo looks for logins. */
const loginPath = `${runtimeFolder}/containers/auth.json`;
const marker = '/var/lib/platform/images';

/** Logs in to forge1's registry. The job removes the login. */
async function login({ bootstrap: { options }, context, secrets }: Call, host: Host): Promise<void> {
  if (!isMirrored(options)) return;
  const { forge1Pat = '' } = await secrets.caller();
  const auth = Buffer.from(`${options.registryUser ?? ''}:${forge1Pat}`).toString('base64');
  const content = { auths: { [new URL(context.config.registryUrls.forge1).host]: { auth } } };
  await host.upload(loginPath, JSON.stringify(content), { mode: 0o600 });
}

function planOf({ bootstrap: { options }, context, needs: { handover, installerPackage, plinthBinary } }: Call) {
  const first = firstOf(options);
  const { configPath = '', secretsPath = '' } = handover[first] ?? {};
  const words = [
    `${plinthBinary.path} install images`,
    `--package ${installerPackage?.path}`,
    `--install-config ${configPath}`,
    `--secrets-file ${secretsPath}`,
    `--age-key ${datacenterOf(options, first).files.identity}`,
    ...mustBear(options),
    ...(isMirrored(options) ? [`--from ${context.config.registryUrls.forge1}`] : []),
  ];
  const from = [words, installerPackage?.sha256, handover[first]?.sha256];
  const digest = sha256(JSON.stringify(from));
  const command = words.join(' ');
  const script = `set -eu
export XDG_RUNTIME_DIR=${runtimeFolder}
trap 'rm -rf "$XDG_RUNTIME_DIR"' EXIT
trap 'exit 143' TERM
mkdir -p -m 700 "$XDG_RUNTIME_DIR"
${command}
echo ${digest} > ${marker}.new
mv -f ${marker}.new ${marker}
`;
  return { digest, command, script };
}
