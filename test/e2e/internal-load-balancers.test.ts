/** A deployment whose platforms have internal load balancers: addresses, firewall, DNS, quota and config follow. */
import { expect } from 'chai';
import type { BootstrapView } from '../../shared/bootstrap/bootstrap.js';
import { type Caller, makeScene, type Scene, succeeded } from '../support/scene.js';

const insideSubnet = /^10\.10\.\d+\.\d+$/;

describe('with internal load balancers', function () {
  this.timeout(240_000);
  let scene: Scene;
  let alice: Caller;
  let view: BootstrapView;

  before(async () => {
    scene = await makeScene({
      settings: { PLINTH_LOAD_BALANCERS: 'internal' },
      // None of its addresses is public but the jumpbox's.
      worldSettings: { 'quota.STATIC_ADDRESSES': 0, 'quota.IN_USE_ADDRESSES': 1 },
    });
    alice = await scene.caller();
    view = succeeded(await alice.bootstrap('inside'));
  });
  after(() => scene?.close());

  it('all stands, and each address is one of the subnet', async () => {
    await scene.expectAll(view, { loadBalancers: 'internal' });
    expect(view.loadBalancers).to.equal('internal');
    expect(view.result.addresses).to.have.length(3);
    for (const { name, address } of view.result.addresses) expect(address, name).to.match(insideSubnet);
  });

  it('the names lead there, and the config tells the installer', () => {
    for (const { name, address } of view.result.dns?.records ?? []) expect(address, name).to.match(insideSubnet);
    const { cluster, platform } = alice.config();
    for (const entry of [cluster.gateway, cluster.publicGateway, cluster.sshProxy]) {
      expect(entry).to.deep.include({ serviceType: 'LoadBalancer', internal: true });
      expect(entry.ipAddress).to.match(insideSubnet);
    }
    expect(platform.publicIp).to.equal(cluster.publicGateway.ipAddress);
  });

  it('the web is open to private networks alone', () => {
    const path = `projects/${view.projectId}/global/firewalls/allow-ingress-web`;
    const found = scene.cloud.world.table<{ resource: object }>('compute.firewalls')[path];
    expect(found?.resource).to.deep.include({ sourceRanges: ['10.0.0.0/8', '172.16.0.0/12', '192.168.0.0/16'] });
  });
});
