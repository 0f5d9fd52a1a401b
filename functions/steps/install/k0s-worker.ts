/** Joins a node to its datacenter's Kubernetes, with a token that the controller issues. */
import * as z from 'zod';
import { again, of, recheck, type StepCall } from '../../engine/step.js';
import { defineHostStep, hostNeeds, reach } from '../hosts/reach.js';
import { mustRun, runScript } from '../hosts/script.js';
import { vmSpec } from '../topology.js';
import { controllerOf, forCloudController, installs, k0sFailed, k0sPath, k0sWorkers, statusOf } from './k0s.js';
import { k0sBinary } from './k0s-binary.js';
import { k0sController } from './k0s-controller.js';

const needs = {
  ...hostNeeds((options, key) => [key, controllerOf(options, vmSpec(options, key).datacenter)]),
  k0sBinary,
  control: of(k0sController, (options, key) => [vmSpec(options, key).datacenter]),
} as const;
type Call = StepCall<typeof needs, typeof k0sWorkers>;

export const k0sWorker = defineHostStep({
  name: 'k0s-worker',
  title: 'Kubernetes node',
  needs,
  when: installs,
  each: k0sWorkers,
  describe: (_, key) => [`k0s worker on ${key}`],
  output: z.object({}),
  async observe(call) {
    const host = await reach(call, call.key);
    const status = await statusOf(host);
    if (status?.Role !== 'worker' || status.Version !== call.bootstrap.options.kubeDistroVersion) return undefined;
    const authority = await authorityOf(call);
    if (authority === undefined) return undefined;
    const { exitCode } = await runScript(host, 'grep -qF "$1" "$2"', [authority, kubeletConfigPath]);
    return exitCode === 0 ? {} : undefined;
  },
  async run(call) {
    const host = await reach(call, call.key);
    const authority = await authorityOf(call);
    const controller = controllerOf(call.bootstrap.options, vmSpec(call.bootstrap.options, call.key).datacenter);
    const lost = recheck(['control'], k0sFailed(controller, `The control plane of ${call.key} does not answer.`));
    if (authority === undefined) return lost;
    const running = (await statusOf(host))?.Version;
    const isBeginning = running === undefined && (await runScript(host, begins, [tokenPath])).exitCode === 0;
    if (isBeginning) return again(3, 'the node joins');
    const created = await runScript(await controllerOfCall(call), `${k0sPath} token create --role=worker --expiry=1h`);
    if (created.exitCode !== 0) return lost;
    const args = [k0sPath, tokenPath, kubeletConfigPath, authority, call.needs.machines[call.key]?.internalIp ?? ''];
    await mustRun(host, 'Starting the k0s worker', joined, args, { stdin: created.stdout });
    return again(3, 'the node joins');
  },
});

const controllerOfCall = (call: Call) =>
  reach(call, controllerOf(call.bootstrap.options, vmSpec(call.bootstrap.options, call.key).datacenter));

/**
 * The cluster CA as one line of base64, the form that a joined node's kubeconfig has. Undefined if the controller has none
 * yet.
 */
async function authorityOf(call: Call): Promise<string | undefined> {
  const certificate = await (await controllerOfCall(call)).read('/var/lib/k0s/pki/ca.crt');
  return certificate?.toString('base64');
}

const tokenPath = '/etc/k0s/join-token';
const kubeletConfigPath = '/var/lib/k0s/kubelet.conf';

/** The node has a token of the last minute and runs. Another start would only disturb it. */
const begins = 'systemctl is-active --quiet k0sworker && [ -n "$(find "$1" -mmin -1 2>/dev/null)" ]';

/**
 * The token comes through standard input, because anybody who has it may join. A node that has joined continues without a new
 * one. A node of a former controller is reset first. An installed service keeps its flags.
 */
const joined = `set -eu
umask 077
mkdir -p "$(dirname "$2")"
cat > "$2.new"
mv -f "$2.new" "$2"
if [ -e "$3" ] && ! grep -qF "$4" "$3"; then
  systemctl stop k0sworker 2>/dev/null || true
  "$1" reset
fi
[ -e /etc/systemd/system/k0sworker.service ] || "$1" install worker --token-file "$2" ${forCloudController('$5')}
systemctl restart k0sworker`;
