/**
 * Installs the platform in a datacenter. plinth on the jumpbox installs the package, as a job that outlives the function which
 * started it. The second datacenter waits for the first, which makes the databases.
 */
import * as z from 'zod';
import type { BootstrapOptions } from '../../../shared/bootstrap/options.js';
import { readUpload } from '../../../shared/bootstrap/upload.js';
import { sha256 } from '../../../shared/sha256.js';
import { type Each, type Outcome, of, type PlannedBy, type StepCall } from '../../engine/step.js';
import type { Host } from '../../remote/remote.js';
import { config } from '../config/config.js';
import { plannedFiles } from '../config/planned-files.js';
import { followJob, keepLog } from '../hosts/follow-job.js';
import { handover } from '../hosts/handover.js';
import { nodeLogin } from '../hosts/node-login.js';
import { plinthBinary } from '../hosts/plinth-binary.js';
import { defineHostStep, hostNeeds, reach } from '../hosts/reach.js';
import { uploaded } from '../hosts/uploaded.js';
import { images } from '../registry/images.js';
import { registryTrust } from '../registry/registry-trust.js';
import { datacenterOf, datacenters, vmsOf } from '../topology.js';
import { clusterAdminEmail } from './cluster-admin-email.js';
import { installs } from './k0s.js';
import { k0sReady } from './k0s-ready.js';
import { installerPackage, mustBear } from './package.js';

const needs = {
  ...hostNeeds(),
  config,
  handover,
  plinthBinary,
  nodeLogin,
  k0sReady,
  installerPackage,
  images,
  trust: of(registryTrust, (options, key) => vmsOf(options, key).map(({ name }) => name)),
  clusterAdminEmail,
} as const;

const first: Each<'datacenters'> = { of: datacenters.of, keys: (options) => datacenters.keys(options).slice(0, 1) };
const second: Each<'datacenters'> = { of: datacenters.of, keys: (options) => datacenters.keys(options).slice(1) };

/** Beside the files: the package, the values files and the executable that installs. */
const installedFrom = ['installVersion', 'installHash', 'installLocal', 'pcAppsValues', 'remoteCliBinary'] as const;

const platform = {
  title: 'Platform',
  when: installs,
  describe: (options: BootstrapOptions, key: string) => [
    `the platform in datacenter ${datacenterOf(options, key).name}, by plinth on the jumpbox`,
  ],
  content: (by: PlannedBy, key: string) => [plannedFiles(by, key), installedFrom.map((option) => by.options[option])],
  output: z.object({
    /** Digest of everything that it was installed from. */
    digest: z.string(),
  }),
  async observe(call: Call) {
    const host = await reach(call);
    const { digest, script } = planOf(call);
    if (!(await isInstalled(call, host))) return undefined;
    await keepLog(call, host, `install-${call.key}`, script);
    return { digest };
  },
  async run(call: Call) {
    const host = await reach(call);
    const missing = await lackingValues(call, host);
    if (missing !== undefined) return missing;
    return followJob(call, host, {
      name: `install-${call.key}`,
      script: planOf(call).script,
      what: 'Installing the platform',
      isThere: () => isInstalled(call, host),
    });
  },
};

export const install = defineHostStep({ name: 'install', needs, each: first, ...platform });
export const installSecond = defineHostStep({
  name: 'install-second',
  // The first datacenter makes the databases.
  needs: { ...needs, before: of(install, first.keys) },
  each: second,
  ...platform,
  observe: (call) => platform.observe(call),
  run: (call) => platform.run(call),
});

type Call = StepCall<typeof needs, typeof datacenters>;

const valuesOf = ({ pcAppsValues }: BootstrapOptions) => (pcAppsValues ?? []).flatMap((text) => readUpload(text) ?? []);

/** What the step returns until all values files are there. */
async function lackingValues(call: Call, host: Host): Promise<Outcome | undefined> {
  for (const upload of valuesOf(call.bootstrap.options)) {
    const file = await uploaded(call, host, upload, `the file of --pc-apps-values, ${upload.name}`);
    if (typeof file !== 'string') return file;
  }
  return undefined;
}

async function isInstalled(call: Call, host: Host): Promise<boolean> {
  const { digest, marker } = planOf(call);
  return (await host.read(marker))?.toString().trim() === digest;
}

/**
 * The job writes the digest of what it installed when it has succeeded. Another config, package or file means another install.
 */
function planOf({ bootstrap: { options }, key, needs: { config, handover, installerPackage, plinthBinary } }: Call) {
  if (installerPackage === undefined) throw new Error('an install has no package');
  const { files, suffix } = datacenterOf(options, key);
  const values = valuesOf(options);
  const args = [
    'install platform',
    `--package ${installerPackage.path}`,
    `--install-config ${handover.configPath}`,
    `--secrets-file ${handover.secretsPath}`,
    `--age-key ${files.identity}`,
    ...mustBear(options),
    ...values.map(({ sha256 }) => `--pc-apps-values /home/ubuntu/.plinth/uploads/${sha256}`),
  ];
  const from = [args, installerPackage.sha256, config.sha256, config.secretsSha256, plinthBinary.sha256];
  const digest = sha256(JSON.stringify(from));
  const marker = `/var/lib/platform/installed${suffix}`;
  const script = `set -eu
${plinthBinary.path} ${args.join(' ')}
echo ${digest} > ${marker}.new
mv -f ${marker}.new ${marker}
`;
  return { digest, marker, script };
}
