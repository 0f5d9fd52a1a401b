/** Two datacenters with most of what flags can add: image repository, Google's public CA, the zone in another project. */
import { expect } from 'chai';
import { local } from '../../local/stack/deployment.js';
import type { BootstrapView } from '../../shared/bootstrap/bootstrap.js';
import {
  type Caller,
  domainOf,
  makeScene,
  type Outcome,
  ofBootstraps,
  type Scene,
  succeeded,
} from '../support/scene.js';

describe('a bootstrap of two datacenters', function () {
  this.timeout(240_000);
  const name = 'two-dcs';
  let scene: Scene;
  let alice: Caller;
  let outcome: Outcome;
  let bootstrap: BootstrapView;

  before(async () => {
    scene = await makeScene();
    alice = await scene.caller();
    outcome = await alice.bootstrap(name, {
      'multi-dc': true,
      'registry-type': 'artifact-registry',
      'cloud-acme-issuer': true,
      'dns-project-id': local.dnsProject,
      'dns-zone-name': 'shared',
    });
    bootstrap = succeeded(outcome);
  });
  after(() => scene?.close());

  it('makes 14 VMs, 6 addresses and the records of both, and a repository with its roles', async () => {
    await scene.expectAll(bootstrap, {
      multiDc: true,
      artifactRegistry: true,
      dnsProject: local.dnsProject,
      dnsZone: 'shared',
    });
    expect(bootstrap.result.vms).to.have.lengthOf(14);
    expect(bootstrap.result.addresses).to.have.lengthOf(6);
  });

  it('has nothing to say of its steps that would have to be hidden', () => {
    expect(JSON.stringify(outcome.events)).to.not.include('<secret>');
  });

  it('writes a config for each, that know of each other and share one PostgreSQL', () => {
    const [first, second] = [alice.config(), alice.config('config-dc2.yaml')];
    expect(first.dataCenter).to.deep.equal({ id: 1, name: 'dev' });
    expect(second.dataCenter).to.deep.equal({ id: 2, name: 'dev-dc2' });
    expect(second.dataCenters).to.deep.equal(first.dataCenters);
    expect(second.defaultDataCenterId).to.equal(1);
    expect([first.postgres.mode, second.postgres.mode]).to.deep.equal(['install', 'external']);
    expect(second.postgres.primary?.ip).to.equal(first.postgres.primary?.ip);
    expect(second.postgres.caCertPem).to.equal(first.postgres.caCertPem);
    expect(second.cluster.certificates.ca.certPem).not.to.equal(first.cluster.certificates.ca.certPem);
    expect(second.platform.workspaceHostingBaseDomain).to.equal(`2.ws.${domainOf(name)}`);
    const { host } = new URL(scene.stack.record.artifactRegistryDockerUrl);
    expect(first.registry.server).to.equal(`${host}/${bootstrap.projectId}/platform-registry`);
    expect(first.platform.certIssuer.acme.eabKeyId).to.be.a('string');
  });

  it("gives the second a copy of the first's secrets, less what is a datacenter's own", async () => {
    const named = async (file: string) =>
      new Map((await alice.secrets(file)).secrets.map((secret) => [secret.name, JSON.stringify(secret)]));
    const [first, second] = [await named('prod.vault.yaml'), await named('prod-dc2.vault.yaml')];
    for (const shared of ['postgresPassword', 'tokenPrivateKey', 'forge1AppClientSecret', 'mounterHmacSecret']) {
      expect(second.get(shared), shared).to.equal(first.get(shared)).and.not.equal(undefined);
    }
    for (const own of ['selfSignedCaKeyPem', 'cephSshPrivateKey']) {
      expect(second.get(own), own).not.to.equal(first.get(own));
    }
  });

  it('is refused together with --datacenter-id, before anything is made', async () => {
    const since = scene.cloud.calls.last();
    const refused = await alice.bootstrap('never', { 'multi-dc': true, 'datacenter-id': '1' });
    expect(refused.exitCode).to.equal(2);
    expect(ofBootstraps(scene.cloud, since)).to.deep.equal([]);
  });
});
