/**
 * Kubernetes on simulated machines, by the steps that install it: every node joins by a token of its controller, and what is
 * taken away comes back. k0s is a stand-in (local/machines/k0s); the steps do not know.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { expect } from 'chai';
import type { Host } from '../../functions/remote/remote.js';
import { createHostLab, type HostLab } from '../laws/host-lab.js';
import { needMachines } from '../support/machines.js';

interface NodeList {
  readonly items: readonly {
    readonly metadata: { readonly name: string };
    readonly spec: { readonly taints?: readonly { readonly key: string }[] };
    readonly status: { readonly conditions: readonly { readonly type: string; readonly status: string }[] };
  }[];
}

/** Of each node, whether it is Ready: True, False or Unknown. */
async function readiness(host: Host): Promise<Record<string, string | undefined>> {
  const { stdout } = await host.exec('/usr/local/bin/k0s kubectl get nodes -o json');
  const { items } = JSON.parse(stdout) as NodeList;
  return Object.fromEntries(
    items.map(({ metadata, status }) => [
      metadata.name,
      status.conditions.find(({ type }) => type === 'Ready')?.status,
    ]),
  );
}

async function until(what: string, holds: () => Promise<boolean>): Promise<void> {
  for (let turn = 0; turn < 150; turn += 1) {
    if (await holds()) return;
    await sleep(100);
  }
  throw new Error(`not within 15 s: ${what}`);
}

const k0sSteps = /^k0s-/;

describe('Kubernetes on simulated machines', function () {
  this.timeout(300_000);
  let cluster: HostLab;
  before(async () => {
    needMachines();
    cluster = await createHostLab({});
    await cluster.make('k0s-ready:dc1');
  });
  after(() => cluster?.close());

  const ready = { 'k0s-1': 'True', 'k0s-2': 'True', 'k0s-3': 'True' };
  const drive = (id: string) => cluster.lab.drive(cluster.lab.instance(id));

  it('is seen as it was made, and made once', async () => {
    const tokens = async () =>
      (await (await cluster.host('k0s-1')).exec('/usr/local/bin/k0s kubectl get secrets -n kube-system -o name'))
        .stdout;
    const before = await tokens();
    // One a worker, and another for one that was slow to join.
    expect(before.trim().split('\n')).to.have.length.at.least(2);
    for (const instance of cluster.lab.instances.filter(({ id }) => k0sSteps.test(id))) {
      const seen = await instance.step.observe(cluster.lab.call(instance));
      expect(seen, instance.id).to.deep.equal(cluster.lab.outputs[instance.id]);
      expect(await drive(instance.id)).to.deep.equal(seen);
    }
    expect(await tokens()).to.equal(before);
  });

  const unitOf = (name: string) => `/etc/systemd/system/k0s${name === 'k0s-1' ? 'controller' : 'worker'}.service`;

  it('waits on each node for a cloud controller, and knows its address', async () => {
    const { stdout } = await (await cluster.host('k0s-1')).exec('/usr/local/bin/k0s kubectl get nodes -o json');
    for (const { metadata, spec } of (JSON.parse(stdout) as NodeList).items) {
      expect(spec.taints?.map(({ key }) => key)).to.deep.equal(['node.cloudprovider.kubernetes.io/uninitialized']);
      const unit = (await (await cluster.host(metadata.name)).read(unitOf(metadata.name)))?.toString();
      expect(unit).to.match(/ --enable-cloud-provider=true .*--kubelet-extra-args=--node-ip=10\.10\./);
    }
  });

  it('leaves a node alone that an earlier release installed without', async () => {
    const node = await cluster.host('k0s-2');
    const flags = 's/ --enable-cloud-provider=true//; s/ --kubelet-extra-args=[^ ]*//';
    await node.exec(`sed -i '${flags}' ${unitOf('k0s-2')} && systemctl daemon-reload && systemctl restart k0sworker`);
    const former = (await node.read(unitOf('k0s-2')))?.toString();
    expect(former).not.to.include('cloud-provider');
    const pid = async () => (await node.exec('systemctl show --property MainPID k0sworker')).stdout;
    await until('k0s-2 reports', async () => (await drive('k0s-ready:dc1')) !== undefined);
    const before = await pid();
    for (const id of ['k0s-controller:dc1', 'k0s-worker:k0s-2', 'k0s-ready:dc1']) await drive(id);
    expect((await node.read(unitOf('k0s-2')))?.toString()).to.equal(former);
    expect(await pid()).to.equal(before);
  });

  it('says that a node is not Ready when its VM is taken away, and has it back by the steps', async () => {
    cluster.machines.preempt(cluster.vm('k0s-3'));
    const controller = await cluster.host('k0s-1');
    await until('k0s-3 is lost', async () => (await readiness(controller))['k0s-3'] === 'Unknown');
    const seen = cluster.lab.instance('k0s-ready:dc1');
    expect(await seen.step.observe(cluster.lab.call(seen))).to.equal(undefined);
    await drive('k0s-ready:dc1');
    expect(await readiness(controller)).to.deep.equal(ready);
  });

  it('joins with another token where the one that lies there is over', async () => {
    const [controller, node] = await Promise.all(['k0s-1', 'k0s-2'].map(cluster.host));
    if (controller === undefined || node === undefined) throw new Error('two machines are known');
    const { stdout: over } = await controller.exec('/usr/local/bin/k0s token create --role=worker --expiry=1ms');
    const leave = 'systemctl stop k0sworker; rm -f /var/lib/k0s/kubelet.conf; umask 077; cat > /etc/k0s/join-token';
    await node.exec(`${leave}; touch -d '2 hours ago' /etc/k0s/join-token; systemctl start k0sworker`, { stdin: over });
    await until('k0s-2 is lost', async () => (await readiness(controller))['k0s-2'] === 'Unknown');
    await drive('k0s-worker:k0s-2');
    expect((await node.read('/etc/k0s/join-token'))?.toString()).not.to.equal(over);
    await drive('k0s-ready:dc1');
    expect(await readiness(controller)).to.deep.equal(ready);
  });

  it('has every node join anew, and another kubeconfig, when the controller was reset', async () => {
    const controller = await cluster.host('k0s-1');
    const authority = async () => (await controller.read('/var/lib/k0s/pki/ca.crt'))?.toString();
    const before = await authority();
    await controller.exec('systemctl stop k0scontroller; /usr/local/bin/k0s reset');
    expect(await authority()).to.equal(undefined);
    // As the same command does: what is needed is looked at first.
    for (const id of ['k0s-controller:dc1', 'k0s-worker:k0s-2', 'k0s-worker:k0s-3', 'k0s-ready:dc1']) await drive(id);
    expect(await authority()).not.to.equal(before);
    expect(await readiness(controller)).to.deep.equal(ready);
  });
});

describe('Kubernetes on simulated machines of two datacenters', function () {
  this.timeout(300_000);
  let cluster: HostLab;
  before(async () => {
    needMachines();
    cluster = await createHostLab({ multiDc: true });
    await Promise.all(['k0s-ready:dc1', 'k0s-ready:dc2'].map(cluster.make));
  });
  after(() => cluster?.close());

  it('is one of its own in each', async () => {
    for (const suffix of ['', '-dc2']) {
      const names = [1, 2, 3].map((n) => `k0s-${n}${suffix}`);
      const expected = Object.fromEntries(names.map((name) => [name, 'True']));
      expect(await readiness(await cluster.host(names[0] ?? ''))).to.deep.equal(expected);
    }
  });
});
