/**
 * Kubernetes of an installed platform as its owner reaches it: kubectl through the jumpbox with the context that plinth
 * kubeconfig made, and the reserved addresses that services there have. As docs/use/daily-use.md tells it.
 */
import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { promisify } from 'node:util';
import { expect } from 'chai';
import { accountEmail, accountIds } from '../../functions/steps/topology.js';
import type { JsonObject } from '../../local/cloud/kernel/api.js';
import { homeOf, runPlinth } from '../../local/demo/plinth-process.js';
import { makePackage } from '../../local/packages/make-package.js';
import { publishPackage } from '../../local/stack/publish-package.js';
import type { BootstrapView } from '../../shared/bootstrap/bootstrap.js';
import { freePort } from '../package/postgres-server.js';
import { needMachines } from '../support/machines.js';
import { type Caller, makeScene, type Scene, succeeded } from '../support/scene.js';

interface Service {
  readonly spec: { readonly loadBalancerIP?: string };
  readonly status: { readonly loadBalancer?: { readonly ingress?: readonly { readonly ip: string }[] } };
}

describe('kubectl on the machine of the caller', function () {
  this.timeout(400_000);
  let scene: Scene;
  let alice: Caller;
  let folder: string;
  let view: BootstrapView;
  let port: number;
  let way: string;
  let tunnel: ReturnType<typeof spawn> | undefined;
  const kubeConfig = () => join(folder, 'kubeconfig');
  const bootstrap = () =>
    alice.bootstrap('reached', {
      'install-version': '1.0.0',
      'install-skip-steps': ['postgres'],
      'cluster-admin-email': 'Ada@Example.com',
    });

  before(async () => {
    needMachines();
    folder = mkdtempSync(join(tmpdir(), 'plinth-kubectl-'));
    scene = await makeScene({ machines: 'embedded' });
    await publishPackage(scene.cloud, await makePackage(folder));
    alice = await scene.caller();
    view = succeeded(await bootstrap());
  });
  after(async () => {
    if (tunnel !== undefined && tunnel.exitCode === null) {
      const ended = once(tunnel, 'close');
      tunnel.kill();
      await ended;
    }
    await scene?.close();
    if (folder !== undefined) rmSync(folder, { recursive: true, force: true });
  });

  const kubectl = async (...args: string[]): Promise<string> => {
    const words = ['--kubeconfig', kubeConfig(), '--server', `https://127.0.0.1:${port}`, '--request-timeout', '30s'];
    const env = { PATH: process.env['PATH'] ?? '', HOME: folder };
    return (await promisify(execFile)('kubectl', [...words, ...args], { env })).stdout;
  };
  const until = async (what: string, holds: () => Promise<boolean>): Promise<void> => {
    for (let turn = 0; turn < 120; turn += 1) {
      if (await holds()) return;
      await sleep(500);
    }
    throw new Error(`not within a minute: ${what}`);
  };
  const service = async (name: string): Promise<Service> =>
    JSON.parse(await kubectl('get', 'service', name, '--namespace', 'plinth-sample', '--output', 'json')) as Service;
  const addressOf = ({ status }: Service): string | undefined => status.loadBalancer?.ingress?.[0]?.ip;
  const reserved = (name: string): string => view.result.addresses.find((each) => each.name === name)?.address ?? '';
  const inCloud = (name: string): { status: string; users?: readonly string[] } => {
    const path = `projects/${view.projectId}/regions/${view.region}/addresses/${name}`;
    const table = scene.cloud.world.table<{ resource: { status: string; users?: readonly string[] } }>(
      'compute.addresses',
    );
    return table[path]?.resource ?? { status: 'none' };
  };

  it('merges the kubeconfig of the jumpbox into the one of the caller, and keeps what stands there', async () => {
    const other = 'clusters:\n- name: other # mine\n  cluster:\n    server: https://127.0.0.1:6443\n';
    writeFileSync(kubeConfig(), `apiVersion: v1\nkind: Config\n${other}`);
    const run = await runPlinth(['kubeconfig', 'reached', '--to', kubeConfig(), '--json'], alice);
    // For the second time it replaces its own part.
    expect(await runPlinth(['kubeconfig', 'reached', '--to', kubeConfig(), '--json'], alice)).to.deep.equal(run);
    const said = JSON.parse(run.stdout) as { contexts: readonly string[]; way: string };
    expect(said.contexts).to.deep.equal(['reached']);
    const text = readFileSync(kubeConfig(), 'utf8');
    expect(text).to.include('name: other # mine').and.to.include('current-context: reached');
    expect(text.match(/name: reached/g)).to.have.length(3);
    expect(statSync(kubeConfig()).mode & 0o777).to.equal(0o600);
    // The other context leads to 6443 already.
    expect(text).to.include('server: https://127.0.0.1:6444');
    way = said.way;
    expect(way).to.match(/ -N -L 127\.0\.0\.1:6444:10\.\S+:6443 jumpbox$/);
  });

  it('reaches the API by the way that it told, with the client of OpenSSH', async () => {
    port = await freePort();
    const env = { PATH: process.env['PATH'] ?? '', HOME: homeOf(alice.folder) };
    const words = way.replace('127.0.0.1:6444:', `127.0.0.1:${port}:`).split(' ').slice(1);
    tunnel = spawn('ssh', ['-o', 'ExitOnForwardFailure=yes', ...words], { env, stdio: 'inherit' });
    await until('kubectl is answered', () =>
      kubectl('version').then(
        () => true,
        () => false,
      ),
    );
  });

  it('lists the nodes, and reads the secret that --cluster-admin-email made', async () => {
    const nodes = await kubectl('get', 'nodes');
    expect(nodes.match(/^k0s-[123] +Ready /gm)).to.have.length(3);
    const words = ['secret', 'cluster-admin-email', '--namespace', 'platform', '--output', 'jsonpath={.data.email}'];
    expect(Buffer.from(await kubectl('get', ...words), 'base64').toString()).to.equal('ada@example.com');
  });

  it('shows the services at the reserved addresses, which the cloud has in use', async () => {
    const table = await kubectl('get', 'services', '--namespace', 'plinth-sample');
    for (const name of ['gateway', 'public-gateway', 'ssh-proxy']) {
      expect(table).to.match(
        new RegExp(`^${name} +LoadBalancer .*\\b${reserved(name).replaceAll('.', '\\.')}\\b`, 'm'),
      );
      expect(addressOf(await service(name))).to.equal(reserved(name));
      expect(inCloud(name)).to.deep.include({ status: 'IN_USE' }).and.to.have.property('users').with.length(1);
    }
    expect((await alice.plinth('status', 'reached')).stdout).to.match(
      new RegExp(`gateway +${reserved('gateway')} +of the service plinth-sample/gateway`),
    );
  });

  it('finds its nodes initialised by the cloud controller', async () => {
    interface Node {
      readonly metadata: { readonly name: string; readonly labels: Readonly<Record<string, string>> };
      readonly spec: { readonly providerID?: string; readonly taints?: readonly object[] };
      readonly status: { readonly addresses: readonly { readonly type: string; readonly address: string }[] };
    }
    const { items } = JSON.parse(await kubectl('get', 'nodes', '--output', 'json')) as { items: readonly Node[] };
    for (const { metadata, spec, status } of items) {
      const vm = view.result.vms.find(({ name }) => name === metadata.name);
      expect(spec).to.deep.equal({ providerID: `gce://${view.projectId}/${vm?.zone}/${metadata.name}`, taints: [] });
      expect(metadata.labels).to.include({
        'topology.kubernetes.io/zone': vm?.zone,
        'topology.kubernetes.io/region': view.region,
        'node.kubernetes.io/instance-type': 'e2-standard-8',
      });
      expect(status.addresses).to.deep.include({ type: 'InternalIP', address: vm?.internalIp });
    }
  });

  const rules = (): readonly JsonObject[] =>
    Object.entries(scene.cloud.world.table<{ resource: JsonObject }>('compute.forwardingRules'))
      .filter(([path]) => path.startsWith(`projects/${view.projectId}/`))
      .map(([, { resource }]) => resource);
  const ruleOf = (name: string): JsonObject | undefined =>
    rules().find(({ description }) => String(description).includes(`"plinth-sample/${name}"`));
  const controllerEmail = () => accountEmail(accountIds.cloudController, view.projectId);

  it('has one forwarding rule for each service, made as the nodes', () => {
    for (const [name, ports] of [
      ['gateway', '443-443'],
      ['public-gateway', '80-443'],
      ['ssh-proxy', '22-22'],
    ] as const) {
      expect(ruleOf(name), name).to.deep.include({
        IPAddress: reserved(name),
        IPProtocol: 'TCP',
        portRange: ports,
        loadBalancingScheme: 'EXTERNAL',
      });
    }
    expect(rules()).to.have.length(3);
    const callsOfNodes = scene.cloud.calls.list().filter(({ caller }) => caller === controllerEmail());
    const inserts = callsOfNodes.filter(({ method }) => method === 'compute.forwardingRules.insert');
    expect(inserts).to.have.length(3);
    expect(callsOfNodes.filter(({ status }) => status === 403)).to.deep.equal([]);
  });

  it('gives no address that is in use or not of the project, and says why; the same command again heals it', async () => {
    const patch = (name: string, ip: string) =>
      kubectl(
        ...['patch', 'service', name, '--namespace', 'plinth-sample', '--type', 'merge'],
        ...['--patch', JSON.stringify({ spec: { loadBalancerIP: ip } })],
      );
    await patch('gateway', reserved('public-gateway'));
    await patch('ssh-proxy', '34.0.0.1');
    const said = (words: string) => async () =>
      (await kubectl('get', 'events', '--namespace', 'plinth-sample'))
        .split('\n')
        .some((line) => /Warning +SyncLoadBalancerFailed +/.test(line) && line.includes(words));
    const invalid = "googleapi: Error 400: Invalid value for field 'resource.IPAddress': ";
    await until(
      'the first is refused',
      said(`${invalid}'${reserved('public-gateway')}'. Specified IP address is in-use`),
    );
    await until('the second is refused', said(`${invalid}'34.0.0.1'. Invalid IP address specified., invalid`));
    // As with Google's own, the old rule went before the new one was refused.
    expect(inCloud('gateway').status).to.equal('RESERVED');

    succeeded(await bootstrap());
    for (const name of ['gateway', 'public-gateway', 'ssh-proxy']) {
      expect(addressOf(await service(name)), name).to.equal(reserved(name));
      await until(`${name} is in use`, async () => inCloud(name).status === 'IN_USE');
      expect(inCloud(name).users, name).to.have.length(1);
    }
  });

  it('frees the address when a service goes', async () => {
    await kubectl('delete', 'service', 'gateway', '--namespace', 'plinth-sample');
    expect(inCloud('gateway').status).to.equal('RESERVED');
    expect(ruleOf('gateway')).to.equal(undefined);
  });

  it('is nobody to the API without the certificate of the kubeconfig', async () => {
    const reply = await promisify(execFile)('curl', ['-sk', `https://127.0.0.1:${port}/api/v1/nodes`]);
    expect(JSON.parse(reply.stdout)).to.include({ code: 401, reason: 'Unauthorized' });
  });
});
