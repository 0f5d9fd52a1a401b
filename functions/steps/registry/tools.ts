/** Installs the distribution's programs that run a registry on the jumpbox and copy images to one. */
import * as z from 'zod';
import type { BootstrapOptions } from '../../../shared/bootstrap/options.js';
import { of } from '../../engine/step.js';
import type { Host } from '../../remote/remote.js';
import { followJob } from '../hosts/follow-job.js';
import { hostSetup } from '../hosts/host-setup.js';
import { defineHostStep, hostNeeds, reach } from '../hosts/reach.js';
import { runScript } from '../hosts/script.js';
import { installs } from '../install/k0s.js';
import { hasLocalRegistry } from '../topology.js';

/** With forge1's registry, nodes pull the images themselves. */
export const bringsImages = (options: BootstrapOptions): boolean =>
  installs(options) && options.registryType !== 'forge1';

interface Tool {
  readonly program: string;
  /** The package name in Ubuntu and Debian. */
  readonly package: string;
}
const copier: Tool = { program: 'skopeo', package: 'skopeo' };
const registryTools: readonly Tool[] = [
  { program: 'docker-registry', package: 'docker-registry' },
  { program: 'htpasswd', package: 'apache2-utils' },
];
const toolsOf = (options: BootstrapOptions): readonly Tool[] => [
  ...(bringsImages(options) ? [copier] : []),
  ...(hasLocalRegistry(options) ? registryTools : []),
];

export const registryPrograms = defineHostStep({
  name: 'registry-tools',
  title: 'Programs for images',
  needs: { ...hostNeeds(), jumpboxSetup: of(hostSetup, () => ['jumpbox']) },
  when: (options: BootstrapOptions) => toolsOf(options).length > 0,
  describe: (options) => [
    `${toolsOf(options)
      .map((tool) => tool.package)
      .join(', ')} on the jumpbox, by apt-get`,
  ],
  output: z.object({}),
  async observe(call) {
    return (await areInstalled(await reach(call), toolsOf(call.bootstrap.options))) ? {} : undefined;
  },
  async run(call) {
    const tools = toolsOf(call.bootstrap.options);
    const host = await reach(call);
    return followJob(call, host, {
      name: 'registry-tools',
      script: installed(tools),
      what: 'Installing the programs for images',
      isThere: () => areInstalled(host, tools),
    });
  },
});

async function areInstalled(host: Host, tools: readonly Tool[]): Promise<boolean> {
  const check = 'for each; do command -v "$each" >/dev/null || exit 1; done';
  const { exitCode } = await runScript(
    host,
    check,
    tools.map(({ program }) => program),
  );
  return exitCode === 0;
}

/** Existing programs are left alone. A machine without access to the archive may come with all of them. */
const installed = (tools: readonly Tool[]): string => `set -eu
export DEBIAN_FRONTEND=noninteractive NEEDRESTART_SUSPEND=1
packages=
${tools.map((tool) => `command -v ${tool.program} >/dev/null || packages="$packages ${tool.package}"`).join('\n')}
[ -n "$packages" ] || exit 0
# The distribution would start its own registry, at the port of ours.
ln -sf /dev/null /etc/systemd/system/docker-registry.service
apt-get -o DPkg::Lock::Timeout=300 update -qq
apt-get -o DPkg::Lock::Timeout=300 install -y -qq --no-install-recommends $packages
`;
