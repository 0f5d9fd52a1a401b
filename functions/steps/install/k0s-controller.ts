/** Runs the control plane of a datacenter's Kubernetes on its first node, which runs pods too. */
import * as z from 'zod';
import { again, of, type StepCall } from '../../engine/step.js';
import { defineHostStep, hostNeeds, reach } from '../hosts/reach.js';
import { mustRun, runScript } from '../hosts/script.js';
import { datacenters } from '../topology.js';
import { configPath, controllerOf, forCloudController, installs, k0sConfig, k0sPath, statusOf } from './k0s.js';
import { k0sBinary } from './k0s-binary.js';

const needs = {
  ...hostNeeds((options, key) => [controllerOf(options, key)]),
  program: of(k0sBinary, (options, key) => [controllerOf(options, key)]),
} as const;
type Call = StepCall<typeof needs, typeof datacenters>;

const facts = async ({ bootstrap: { options }, key, needs }: Call) => {
  const controller = controllerOf(options, key);
  const address = needs.machines[controller]?.internalIp ?? '';
  return { controller, address, config: await k0sConfig(options, key, address) };
};

export const k0sController = defineHostStep({
  name: 'k0s-controller',
  title: 'Kubernetes control plane',
  needs,
  when: installs,
  each: datacenters,
  describe: (options, key) => [`k0s controller on ${controllerOf(options, key)}`],
  output: z.object({ controller: z.string(), address: z.string() }),
  async observe(call) {
    const { controller, address, config } = await facts(call);
    const host = await reach(call, controller);
    if ((await host.read(configPath))?.toString() !== config) return undefined;
    const status = await statusOf(host);
    if (status === undefined || !status.Role.startsWith('controller')) return undefined;
    if (status.Version !== call.bootstrap.options.kubeDistroVersion) return undefined;
    // k0s answers before its API server does.
    const { exitCode } = await runScript(host, `${k0sPath} kubectl get --raw /readyz`);
    return exitCode === 0 ? { controller, address } : undefined;
  },
  async run(call) {
    const { controller, address, config } = await facts(call);
    const host = await reach(call, controller);
    const changed = (await host.read(configPath))?.toString() !== config;
    const version = (await statusOf(host))?.Version;
    // Stop before the new config is written. After a crash, the next run then sees the old config, or that nothing runs.
    if (changed || (version !== undefined && version !== call.bootstrap.options.kubeDistroVersion)) {
      await mustRun(host, 'Stopping the k0s controller', `systemctl stop ${service} 2>/dev/null || true`);
    }
    if (changed) await host.upload(configPath, config, { mode: 0o600 });
    await mustRun(host, 'Starting the k0s controller', started, [k0sPath, configPath, service, address]);
    return again(3, 'the control plane comes up');
  },
});

const service = 'k0scontroller';

/** Uses systemd, because `k0s start` fails if k0s already runs. An installed service keeps its flags. */
const started = `set -eu
"$1" config validate --config "$2"
[ -e "/etc/systemd/system/$3.service" ] || "$1" install controller --config "$2" --enable-worker --no-taints ${forCloudController('$4')}
systemctl start "$3"`;
