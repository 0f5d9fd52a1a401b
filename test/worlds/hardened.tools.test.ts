/**
 * A whole bootstrap with an install where an organization has hardened everything that it can: nothing is public, and the
 * platform is reached within its network alone.
 */
import { execFile } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { type AddressInfo, connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createServer } from 'node:tls';
import { promisify } from 'node:util';
import { expect } from 'chai';
import type { JsonObject } from '../../local/cloud/kernel/api.js';
import { objectsOf } from '../../local/cloud/kernel/json-fields.js';
import { runPlinth } from '../../local/demo/plinth-process.js';
import { makePackage } from '../../local/packages/make-package.js';
import { publishPackage } from '../../local/stack/publish-package.js';
import type { BootstrapView } from '../../shared/bootstrap/bootstrap.js';
import { makeCertificate } from '../cli/certificate.js';
import { needMachines } from '../support/machines.js';
import { type Caller, makeScene, type Scene, succeeded } from '../support/scene.js';

describe('in a hardened organization, with all policies at once', function () {
  this.timeout(500_000);
  let scene: Scene;
  let alice: Caller;
  let folder: string;
  let view: BootstrapView;

  before(async () => {
    needMachines();
    folder = mkdtempSync(join(tmpdir(), 'plinth-hardened-'));
    scene = await makeScene({ world: 'hardened', machines: 'embedded' });
    await publishPackage(scene.cloud, await makePackage(folder));
    alice = await scene.caller();
    view = succeeded(await alice.bootstrap('hard', { 'install-version': '1.0.0' }));
  });
  after(async () => {
    await scene?.close();
    if (folder !== undefined) rmSync(folder, { recursive: true, force: true });
  });

  const resources = (kind: string): readonly JsonObject[] =>
    Object.entries(scene.cloud.world.table<{ resource: JsonObject }>(`compute.${kind}`))
      .filter(([path]) => path.startsWith(`projects/${view.projectId}/`))
      .map(([, { resource }]) => resource);

  it('ends with one warning, of the key that has no effect, and nobody was refused by a policy', () => {
    const [login, ...others] = view.warnings.filter((text) => /polic|firewall|key/i.test(text));
    expect(login).to.match(/^The organization requires OS Login/);
    expect(others).to.deep.equal([]);
    // Where guest attributes are off, host keys come from the serial console.
    const refused = scene.cloud.calls.list().filter(({ status }) => status === 412);
    expect(refused.filter(({ method }) => method !== 'compute.instances.getGuestAttributes')).to.deep.equal([]);
  });

  it('has internal load balancers, one for each address, made as the nodes', () => {
    const rules = resources('forwardingRules');
    expect(rules.map(({ loadBalancingScheme }) => loadBalancingScheme)).to.deep.equal(Array(3).fill('INTERNAL'));
    const reserved = view.result.addresses.map(({ address }) => address);
    expect(rules.map(({ IPAddress }) => String(IPAddress)).sort()).to.deep.equal([...reserved].sort());
    for (const { status, addressType } of resources('addresses')) {
      expect([status, addressType]).to.deep.equal(['IN_USE', 'INTERNAL']);
    }
    for (const { service } of view.result.addresses) expect(service).to.match(/^plinth-sample\//);
  });

  it('has no public address', () => {
    const nics = resources('instances').flatMap((vm) => objectsOf(vm['networkInterfaces']));
    expect(nics).to.have.length(8);
    for (const nic of nics) expect(nic).not.to.have.property('accessConfigs');
    expect(resources('addresses').filter(({ addressType }) => addressType !== 'INTERNAL')).to.deep.equal([]);
  });

  it('gcloud’s own ssh reaches a node, through IAP and the jumpbox', async () => {
    const { file, ...pair } = await makeCertificate(folder);
    // gcloud's client takes nothing but TLS.
    const front = createServer(pair, (inner) => {
      const outer = connect(scene.cloud.tunnel.port, '127.0.0.1');
      for (const one of [inner, outer]) one.on('error', () => [inner, outer].map((each) => each.destroy()));
      inner.pipe(outer).pipe(inner);
    });
    try {
      await once(front.listen(0, '127.0.0.1'), 'listening');
      const node = view.result.vms.find(({ name }) => name === 'k0s-1')?.internalIp;
      const { stdout } = await promisify(execFile)(
        'gcloud',
        [
          ...['compute', 'ssh', 'jumpbox', '--tunnel-through-iap', '--quiet', `--project=${view.projectId}`],
          ...[`--zone=${view.zone}`, '--strict-host-key-checking=no'],
          `--iap-tunnel-url-override=wss://localhost:${(front.address() as AddressInfo).port}/v4`,
          `--command=hostname; sudo ssh -o BatchMode=yes root@${node} hostname`,
        ],
        {
          env: {
            ...alice.env,
            PATH: process.env['PATH'],
            HOME: folder,
            CLOUDSDK_CONFIG: join(folder, 'gcloud'),
            CLOUDSDK_CORE_ACCOUNT: alice.email,
            CLOUDSDK_CORE_CUSTOM_CA_CERTS_FILE: file,
            PYTHONUNBUFFERED: '1',
          },
          timeout: 100_000,
        },
      );
      expect(stdout).to.match(/^jumpbox\nk0s-1\n$/m);
    } finally {
      front.close();
    }
  });

  it('is removed', async () => {
    const run = await runPlinth(['beta', 'bootstrap-cloud', 'cleanup', 'hard', '--yes'], alice);
    expect(run.exitCode, run.stderr).to.equal(0);
    await scene.stack.settle();
    expect((await scene.view(view.id)).state).to.equal('removed');
  });
});
