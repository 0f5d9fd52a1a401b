/** One datacenter, by the command line over the wire: what stands afterwards, what is written, what a second run does. */
import { statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import type { BootstrapView } from '../../shared/bootstrap/bootstrap.js';
import { type Caller, changesIn, clientSecret, domainOf, makeScene, type Scene, succeeded } from '../support/scene.js';

describe('a bootstrap of one datacenter', function () {
  this.timeout(240_000);
  const name = 'one-dc';
  let scene: Scene;
  let alice: Caller;
  let bootstrap: BootstrapView;

  before(async () => {
    scene = await makeScene();
    alice = await scene.caller();
    bootstrap = succeeded(await alice.bootstrap(name));
  });
  after(() => scene?.close());

  it('makes project, network, VMs, addresses, records and roles, and nothing else', async () => {
    await scene.expectAll(bootstrap);
  });

  it('shows what stands: 8 VMs, the jumpbox alone with an external address, 3 addresses, 5 records', () => {
    const { vms, addresses, dns } = bootstrap.result;
    expect(vms.map((vm) => vm.name)).to.have.members([
      'jumpbox',
      'postgres',
      'ceph-1',
      'ceph-2',
      'ceph-3',
      'k0s-1',
      'k0s-2',
      'k0s-3',
    ]);
    expect(vms.filter((vm) => vm.externalIp !== undefined).map((vm) => vm.name)).to.deep.equal(['jumpbox']);
    expect(addresses).to.have.lengthOf(3);
    expect(dns?.records.map((record) => record.name)).to.have.members(
      ['cs', '*.cs', 'ws', '*.ws', '*.ssh.cs'].map((each) => `${each}.${domainOf(name)}`),
    );
    expect(dns?.nameServers).to.have.lengthOf(4);
  });

  it('writes a config that holds what stands', () => {
    const config = alice.config();
    const address = (wanted: string) => bootstrap.result.addresses.find((each) => each.name === wanted)?.address;
    const vm = (wanted: string) => bootstrap.result.vms.find((each) => each.name === wanted)?.internalIp;
    expect(config.bootstrap).to.deep.include({ id: bootstrap.id, projectId: bootstrap.projectId });
    expect(config.cluster.gateway.ipAddress).to.equal(address('gateway'));
    expect(config.cluster.publicGateway.ipAddress).to.equal(address('public-gateway'));
    expect(config.postgres.primary?.ip).to.equal(vm('postgres'));
    expect(config.ceph.hosts.map((host) => host.ipAddress)).to.deep.equal(['ceph-1', 'ceph-2', 'ceph-3'].map(vm));
    expect(config.platform.domain).to.equal(`cs.${domainOf(name)}`);
  });

  it('writes secrets that the kept identity opens, for the owner alone', async () => {
    const { secrets } = await alice.secrets();
    const found = new Map(secrets.map((secret) => [secret.name, secret]));
    expect(found.get('forge1AppClientSecret')?.fields?.password).to.equal(clientSecret);
    expect(found.get('tokenPrivateKey')?.file?.content).to.include('PRIVATE KEY');
    expect(alice.read('prod.vault.yaml')).not.to.include(clientSecret);
    expect(statSync(join(alice.folder, 'prod.vault.yaml')).mode & 0o777).to.equal(0o600);
  });

  it('changes nothing when the same command runs again: no call that makes, the same files', async () => {
    const before = [alice.read('config.yaml'), alice.read('prod.vault.yaml')];
    const since = scene.cloud.calls.last();
    const again = await alice.bootstrap(name);
    expect(succeeded(again).id).to.equal(bootstrap.id);
    expect(again.result.created).to.equal(false);
    const made = changesIn(scene.cloud, since).map(({ method, params }) => `${method} ${JSON.stringify(params)}`);
    // What the caller gave is kept anew with each command; in Google's clouds nothing moves.
    expect(made.filter((call) => !call.includes('plinth-local'))).to.deep.equal([]);
    expect([alice.read('config.yaml'), alice.read('prod.vault.yaml')]).to.deep.equal(before);
  });

  it('edits the config that a person has edited: what a flag changes, and not a byte beside it', async () => {
    const path = join(alice.folder, 'config.yaml');
    const override = [
      'override:   # of ours\r',
      '      id: 9123456789012345678',
      '      mode: 0644   # octal for some',
      '      {version: 1.10, "at": 12:30:45, on: yes}',
    ];
    override[3] = `      more: ${override[3]?.trim()}`;
    const edited = `# written by hand\n${alice.read('config.yaml').replace('  features: {}', '  features: {} # none yet')}${override.join('\n')}`;
    writeFileSync(path, edited);
    const run = await alice.bootstrap(name, { 'feature-flags': ['fast'] });
    succeeded(run);
    const wanted = edited.replace('  features: {} # none yet', '  features: # none yet\n    fast: true');
    expect(alice.read('config.yaml')).to.equal(wanted);
    for (const words of [
      'config.yaml',
      'leading 0',
      `line ${edited.slice(0, edited.indexOf('0644')).split('\n').length}`,
    ]) {
      expect(run.stderr).to.include(words);
    }
    const { idToken } = await scene.stack.tokens(alice.email);
    const kept = await fetch(`${scene.stack.url}/bootstraps/${bootstrap.id}/config`, {
      headers: { authorization: `Bearer ${idToken}` },
    });
    expect(await kept.text(), 'what plinth keeps').to.equal(wanted);
  });

  it('refuses an alias that leaves an override, by its line, and changes nothing', async () => {
    const [path, text] = [join(alice.folder, 'config.yaml'), alice.read('config.yaml')];
    const edited = text.replace(/^override:.*$/m, '$&\n      name: *dc').replace(/^dataCenter:$/m, 'dataCenter: &dc');
    writeFileSync(path, edited);
    const since = scene.cloud.calls.last();
    const refused = await alice.bootstrap(name, { 'feature-flags': ['other'] });
    expect(refused.exitCode, refused.stderr).to.equal(2);
    const line = edited.slice(0, edited.indexOf('*dc')).split('\n').length;
    expect(refused.result.problem?.detail).to.include('config.yaml').and.include(`line ${line}`);
    expect(changesIn(scene.cloud, since)).to.deep.equal([]);
    expect(alice.read('config.yaml')).to.equal(edited);
    writeFileSync(path, text);
  });

  it('refuses another region by showing both values, and changes nothing', async () => {
    const refused = await alice.bootstrap(name, { region: 'us-central1' });
    expect(refused.exitCode).to.equal(5);
    const text = JSON.stringify(refused.result);
    expect(text).to.include('europe-west4').and.to.include('us-central1');
    expect((await scene.view(bootstrap.id)).region).to.equal('europe-west4');
  });

  it('is invisible to others, and its name is taken for them', async () => {
    const bob = await scene.caller('bob@example.com');
    const refused = await bob.bootstrap(name);
    expect(refused.exitCode).to.equal(5);
    expect(JSON.stringify(refused.result)).not.to.include(bootstrap.projectId);
    expect((await bob.plinth('status', bootstrap.projectId)).exitCode).to.equal(4);
    expect((await bob.plinth('list', '--json')).stdout).not.to.include(bootstrap.projectId);
  });

  it('is listed and shown to its owner', async () => {
    expect((await alice.plinth('list')).stdout).to.include(bootstrap.projectId);
    const status = await alice.plinth('status', name);
    expect(status.exitCode).to.equal(0);
    expect(status.stdout).to.include('jumpbox').and.to.include('succeeded');
  });
});
