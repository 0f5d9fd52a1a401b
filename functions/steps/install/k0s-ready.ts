/**
 * Waits until all nodes of a datacenter's Kubernetes are Ready, and puts its kubeconfig among the secrets on the jumpbox.
 * Deletes what an earlier command put into the cluster and this one does not ask for.
 */
import * as z from 'zod';
import { Problem } from '../../../shared/problems.js';
import { again, done, of, recheck, type StepCall } from '../../engine/step.js';
import type { Host } from '../../remote/remote.js';
import { ageIdentity, ageIdentitySecret } from '../config/age-identity.js';
import { handover } from '../hosts/handover.js';
import { defineHostStep, hostNeeds, reach } from '../hosts/reach.js';
import { mustRun, runScript } from '../hosts/script.js';
import { datacenters, vmSpec } from '../topology.js';
import { deleteAdminSecret, hasLeftSecret } from './admin-secret.js';
import { controllerOf, installs, k0sFailed, k0sNodesOf, k0sPath, k0sWorkers, statusOf } from './k0s.js';
import { k0sController } from './k0s-controller.js';
import { k0sWorker } from './k0s-worker.js';

const needs = {
  ...hostNeeds(k0sNodesOf),
  k0sController,
  workers: of(k0sWorker, (options, key) =>
    k0sWorkers.keys(options).filter((name) => vmSpec(options, name).datacenter === key),
  ),
  handover,
  ageIdentity,
} as const;
type Call = StepCall<typeof needs, typeof datacenters>;

export const k0sReady = defineHostStep({
  name: 'k0s-ready',
  title: 'Kubernetes',
  needs,
  when: installs,
  each: datacenters,
  describe: (options, key) => [`all of ${k0sNodesOf(options, key).join(', ')} Ready`, 'kubeconfig among the secrets'],
  output: z.object({ nodes: z.array(z.string()) }),
  async observe(call) {
    const nodes = k0sNodesOf(call.bootstrap.options, call.key);
    const controller = await reach(call, controllerOf(call.bootstrap.options, call.key));
    if ((await waiting(controller, nodes))?.length !== 0) return undefined;
    if (await hasLeftSecret(controller, call.bootstrap.options)) return undefined;
    const { stands, wanted } = await kubeConfig(call, controller);
    return stands === wanted ? { nodes: [...nodes] } : undefined;
  },
  async run(call) {
    const nodes = k0sNodesOf(call.bootstrap.options, call.key);
    const controller = await reach(call, controllerOf(call.bootstrap.options, call.key));
    const missing = await waiting(controller, nodes);
    if (missing === undefined)
      return recheck(
        ['k0sController'],
        k0sFailed(controller.name, `The control plane on ${controller.name} does not answer.`),
      );
    for (const name of missing) {
      // If the machine is gone, `reach` handles it.
      if ((await statusOf(await reach(call, name))) !== undefined) continue;
      return recheck(['k0sController', 'workers'], k0sFailed(name, `k0s does not run on ${name}.`));
    }
    if (missing.length > 0) return again(3, `${missing.join(', ')} not Ready yet`);
    const { write, wanted } = await kubeConfig(call, controller);
    await write(wanted);
    if (await hasLeftSecret(controller, call.bootstrap.options)) await deleteAdminSecret(controller);
    return done;
  },
  summary: ({ nodes }) => `${nodes.join(', ')} are Ready`,
});

const Nodes = z.object({
  items: z.array(
    z.object({
      metadata: z.object({ name: z.string() }),
      status: z.object({ conditions: z.array(z.object({ type: z.string(), status: z.string() })).optional() }),
    }),
  ),
});

/** The nodes of `wanted` that are not Ready. Undefined if the control plane doesn't answer. */
async function waiting(controller: Host, wanted: readonly string[]): Promise<readonly string[] | undefined> {
  const { exitCode, stdout } = await runScript(controller, `${k0sPath} kubectl get nodes --output json`);
  if (exitCode !== 0) return undefined;
  const ready = new Set(
    Nodes.parse(JSON.parse(stdout))
      .items.filter(({ status }) => status.conditions?.some((each) => each.type === 'Ready' && each.status === 'True'))
      .map(({ metadata }) => metadata.name),
  );
  return wanted.filter((name) => !ready.has(name));
}

/** The kubeconfig in the secrets file on the jumpbox. Hosts write this secret, so the value there wins over stored files. */
async function kubeConfig({ context, secrets, needs, signal, bootstrap }: Call, controller: Host) {
  const { decryptSecrets, encryptSecrets, fileSecret, findSecret, sopsMeans } = await import('../config/making.js');
  const call = { context, secrets, needs, signal, bootstrap };
  const jumpbox = await reach(call);
  const path = needs.handover.secretsPath;
  const [wanted, text, identity] = await Promise.all([
    mustRun(controller, 'Reading the kubeconfig', `${k0sPath} kubeconfig admin`),
    jumpbox.read(path),
    secrets.read(ageIdentitySecret, needs.ageIdentity.secretVersion),
  ]);
  if (text === undefined) throw new Problem('host-failed', `${path} is not on the jumpbox any more.`);
  const file = await decryptSecrets(text.toString(), identity, `${path} on the jumpbox`);
  return {
    wanted,
    stands: findSecret(file, 'kubeConfig')?.file?.content,
    async write(content: string): Promise<void> {
      const others = file.secrets.filter(({ name }) => name !== 'kubeConfig');
      const changed = { ...file, secrets: [...others, fileSecret('kubeConfig', 'kubeConfig', content)] };
      await jumpbox.upload(
        path,
        await encryptSecrets(changed, needs.ageIdentity.recipient, sopsMeans(context), {
          text: text.toString(),
          identity,
        }),
        { mode: 0o600 },
      );
    },
  };
}
