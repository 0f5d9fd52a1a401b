/** The stand-in for k0s as a cluster of two machines, by its command line and its HTTP API: who may join, what stops that, and who is alive. */

import { setTimeout as sleep } from 'node:timers/promises';
import { expect } from 'chai';
import { startK0sReleases } from '../../local/releases/k0s.js';
import { type MachineWorld, machineWorld, type SshRun } from './machine-world.js';

const version = encodeURIComponent('v1.31.14+k0s.0');

describe('a cluster of the stand-in for k0s', function () {
  this.timeout(400_000);
  let world: MachineWorld;
  let api: string;

  const on = (name: string, command: string, stdin?: string): Promise<SshRun> =>
    world.ssh(`root@${name}`, command, { timeoutSeconds: 120, ...(stdin === undefined ? {} : { stdin }) });
  const mustOn = async (name: string, command: string, stdin?: string): Promise<string> => {
    const { code, stdout, stderr } = await on(name, command, stdin);
    expect(code, `${command}: ${stderr}`).to.equal(0);
    return stdout;
  };
  async function until(what: string, holds: () => Promise<boolean>): Promise<void> {
    const end = Date.now() + 90_000;
    while (!(await holds())) {
      if (Date.now() > end) throw new Error(`not within 90 s: ${what}`);
      await sleep(200);
    }
  }
  const nodeIs = async (name: string, state: 'Ready' | 'NotReady'): Promise<boolean> =>
    new RegExp(`^${name} +${state} `, 'm').test((await on('k0s-1', 'k0s kubectl get nodes')).stdout);
  const token = (...flags: string[]) => mustOn('k0s-1', `k0s token create --role=worker ${flags.join(' ')}`);
  const keepToken = (content: string) => mustOn('k0s-2', 'umask 077; cat > /root/token', content);
  /** In the foreground: until it has given up. */
  const joinWith = async (content: string): Promise<SshRun> => {
    await keepToken(content);
    return on('k0s-2', 'timeout 100 k0s worker --token-file /root/token');
  };
  const startController = async (): Promise<void> => {
    const config = `spec: { api: { address: ${api} } }\n`;
    await mustOn('k0s-1', 'mkdir -p /etc/k0s && cat > /etc/k0s/k0s.yaml', config);
    await mustOn('k0s-1', 'k0s install controller --config /etc/k0s/k0s.yaml --enable-worker --no-taints && k0s start');
    await until('the API answers', async () => (await on('k0s-1', 'k0s kubectl get --raw /readyz')).code === 0);
  };
  /** By the token that is kept. */
  const startWorker = () => mustOn('k0s-2', 'k0s install worker --token-file /root/token && k0s start');
  const resetWorker = () => mustOn('k0s-2', 'k0s stop; k0s reset');

  before(async () => {
    world = await machineWorld(['k0s-1', 'k0s-2']);
    const releases = await startK0sReleases();
    const program = Buffer.from(await (await fetch(`${releases.url}/${version}/k0s-${version}-amd64`)).arrayBuffer());
    await releases.close();
    for (const name of ['k0s-1', 'k0s-2']) {
      const put = 'cat > /usr/local/bin/k0s && chmod 755 /usr/local/bin/k0s';
      const { code, stderr } = await world.ssh(`root@${name}`, put, { stdin: program, timeoutSeconds: 60 });
      expect(code, stderr).to.equal(0);
    }
    api = (await world.address('k0s-1')).internal;
    await startController();
  });
  after(() => world?.close());

  it('takes a worker in by a token, and sees when its kubelet stops and comes back', async () => {
    await keepToken(await token('--expiry=1h'));
    await startWorker();
    await until('k0s-2 is Ready', () => nodeIs('k0s-2', 'Ready'));
    await mustOn('k0s-2', 'k0s stop');
    await until('k0s-2 is lost', () => nodeIs('k0s-2', 'NotReady'));
    expect(await nodeIs('k0s-1', 'Ready')).to.equal(true);
    await mustOn('k0s-2', 'k0s start');
    await until('k0s-2 is back', () => nodeIs('k0s-2', 'Ready'));
    await resetWorker();
  });

  describe('with --enable-cloud-provider', () => {
    interface Node {
      readonly metadata: { readonly annotations?: Readonly<Record<string, string>> };
      readonly spec: { readonly taints?: readonly { readonly key: string; readonly effect: string }[] };
      readonly status: { readonly addresses?: readonly { readonly type: string; readonly address: string }[] };
    }
    const node = async (name: string) =>
      JSON.parse(await mustOn('k0s-1', `k0s kubectl get node ${name} --output json`)) as Node;
    const taint = { key: 'node.cloudprovider.kubernetes.io/uninitialized', value: 'true', effect: 'NoSchedule' };
    const joinsWith = async (flags: string): Promise<Node> => {
      await mustOn('k0s-1', 'k0s kubectl delete --ignore-not-found --filename -', nodeManifest);
      await keepToken(await token('--expiry=1h'));
      await mustOn('k0s-2', `k0s install worker --token-file /root/token ${flags} && k0s start`);
      await until('k0s-2 is Ready', () => nodeIs('k0s-2', 'Ready'));
      return node('k0s-2');
    };
    const nodeManifest = 'apiVersion: v1\nkind: Node\nmetadata: { name: k0s-2 }\n';
    const nodeManifestOf = (internal: string) =>
      JSON.stringify({
        apiVersion: 'v1',
        kind: 'Node',
        metadata: { name: 'k0s-2', annotations: { 'alpha.kubernetes.io/provided-node-ip': internal } },
      });
    beforeEach(resetWorker);

    it('a node is Ready, and taints itself until a cloud controller has initialised it', async () => {
      const { address } = (await node('k0s-1')).status.addresses?.[0] ?? {};
      expect((await node('k0s-1')).spec.taints ?? []).to.deep.equal([]);
      expect(address).to.equal(api);
      const { internal } = await world.address('k0s-2');
      const joined = await joinsWith(`--enable-cloud-provider --kubelet-extra-args=--node-ip=${internal}`);
      expect(joined.spec.taints).to.deep.equal([taint]);
      expect(joined.metadata.annotations).to.include({ 'alpha.kubernetes.io/provided-node-ip': internal });
      expect(joined.status.addresses).to.deep.include({ type: 'InternalIP', address: internal });
      // As a cloud controller does.
      const initialised = {
        ...JSON.parse(nodeManifestOf(internal)),
        spec: { taints: [], providerID: 'gce://p/z/k0s-2' },
      };
      await mustOn('k0s-1', 'k0s kubectl apply --server-side --filename -', JSON.stringify(initialised));
      await mustOn('k0s-2', 'k0s stop; k0s start');
      await sleep(2500);
      const after = await node('k0s-2');
      expect(after.spec).to.deep.equal(initialised.spec);
      expect(after.status.addresses).to.deep.equal(joined.status.addresses);
    });
    it('a node has no address of its own before, if no --node-ip is given', async () => {
      const joined = await joinsWith('--enable-cloud-provider');
      expect(joined.spec.taints).to.deep.equal([taint]);
      expect(joined.status.addresses ?? []).to.deep.equal([]);
    });

    it('refuses arguments that the kubelet does not have', async () => {
      await keepToken(await token('--expiry=1h'));
      const { code, stderr } = await on(
        'k0s-2',
        'k0s worker --token-file /root/token --kubelet-extra-args=--node-op=1',
      );
      expect(stderr).to.include('unknown flag: --node-op');
      expect(code).to.equal(1);
    });
  });

  it('keeps an object with finalizers until whoever set them has taken them away', async () => {
    const service = (finalizers: readonly string[]) =>
      JSON.stringify({
        apiVersion: 'v1',
        kind: 'Service',
        metadata: { name: 'held', namespace: 'default', finalizers },
        spec: { type: 'LoadBalancer', ports: [{ port: 80 }] },
      });
    const apply = 'k0s kubectl apply --server-side --filename -';
    const deleting = 'cat > /root/held; nohup k0s kubectl delete --filename - < /root/held > /root/deleted 2>&1 &';
    await mustOn('k0s-1', apply, service(['service.kubernetes.io/load-balancer-cleanup']));
    await mustOn('k0s-1', deleting, service([]));
    const held = async () => (await mustOn('k0s-1', 'k0s kubectl get service held --ignore-not-found -o json')).trim();
    await until('it is marked', async () => (await held()).includes('deletionTimestamp'));
    await sleep(500);
    expect(await mustOn('k0s-1', 'cat /root/deleted')).to.equal('');
    await mustOn('k0s-1', apply, service([]));
    await until('kubectl has seen it go', async () => (await mustOn('k0s-1', 'cat /root/deleted')).includes('deleted'));
    expect(await held()).to.equal('');
  });

  it('lets a token do no more than join, and one that is over or invented nothing at all', async () => {
    const secretOf = (content: string) =>
      mustOn('k0s-1', "base64 -d | gunzip | sed -n 's/^ *token: //p' | tr -d '\\n'", content);
    const ask = async (bearer: string, path: string): Promise<{ code: number; reason: string }> => {
      const curl = `curl -sk -H @- https://localhost:6443${path}`;
      return JSON.parse(await mustOn('k0s-1', curl, `Authorization: Bearer ${bearer}\n`));
    };
    const good = await secretOf(await token());
    expect(await ask(good, '/api/v1/secrets')).to.include({ code: 403, reason: 'Forbidden' });
    expect(await ask(good, '/api/v1/nodes')).to.include({ code: 403 });
    expect(await ask(`${good.slice(0, -1)}!`, '/api/v1/nodes')).to.include({ code: 401, reason: 'Unauthorized' });
    const over = await token('--expiry=1ms');
    expect(await ask(await secretOf(over), '/api/v1/nodes')).to.include({ code: 401 });
    const joining = await joinWith(over);
    expect(joining.stderr).to.include('failed to bootstrap kubelet client configuration: Unauthorized');
    expect(joining.code).to.equal(1);
  });

  it('knows no token of a controller that was reset', async () => {
    const old = await token('--expiry=1h');
    await mustOn('k0s-1', 'k0s stop && k0s reset');
    expect((await on('k0s-1', 'k0s token create')).stderr).to.include('failed to get k0s status');
    await startController();
    const joining = await joinWith(old);
    expect(joining.stderr).to.include('failed to bootstrap kubelet client configuration').and.to.include('certificate');
    expect(joining.code).to.equal(1);
    expect((await on('k0s-1', 'k0s kubectl get nodes')).stdout).not.to.include('k0s-2');
  });

  it('takes nobody in whom the firewall keeps from tcp 6443, until it does no more', async () => {
    const rule = { name: 'allow-internal', network: 'global/networks/net' };
    const internal = (allowed: object) =>
      world.global('PATCH firewalls/allow-internal', { ...rule, allowed: [allowed], sourceRanges: ['10.10.0.0/20'] });
    await internal({ IPProtocol: 'tcp', ports: ['22'] });
    await keepToken(await token('--expiry=1h'));
    await startWorker();
    const knock = await on('k0s-2', `curl -sk --max-time 3 https://${api}:6443/readyz`);
    // curl's word for a time that is over.
    expect(knock.code).to.equal(28);
    expect((await on('k0s-2', 'k0s status')).code).to.equal(1);
    expect((await on('k0s-1', 'k0s kubectl get nodes')).stdout).not.to.include('k0s-2');
    await internal({ IPProtocol: 'all' });
    await until('k0s-2 is Ready', () => nodeIs('k0s-2', 'Ready'));
  });
});
