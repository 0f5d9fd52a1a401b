/** A firewall policy of the organization that closes SSH: said when the machines can't be reached, and healed without it. */
import { expect } from 'chai';
import { writeFirewallPolicy } from '../../local/cloud/compute/firewall-policies.js';
import { local } from '../../local/stack/deployment.js';
import { needMachines } from '../support/machines.js';
import { makeScene, type Scene, succeeded } from '../support/scene.js';

describe('with a hierarchical firewall rule that closes port 22', function () {
  this.timeout(400_000);
  let scene: Scene;
  before(async () => {
    needMachines();
    scene = await makeScene({ machines: 'embedded' });
  });
  after(() => scene?.close());

  it('the connection that fails names the rule, and the same command goes on without it', async () => {
    const rule = {
      priority: 100,
      description: 'no SSH from outside',
      action: 'deny',
      direction: 'INGRESS',
      match: { srcIpRanges: ['0.0.0.0/0'], layer4Configs: [{ ipProtocol: 'tcp', ports: ['22'] }] },
    };
    writeFirewallPolicy(scene.cloud.world, local.folder, [rule]);
    const alice = await scene.caller();
    const { exitCode, result } = await alice.bootstrap('closed');
    expect(exitCode).to.equal(7);
    const words = 'the rule 100 (“no SSH from outside”) of the firewall policy';
    const failed = (result.bootstrap?.instances ?? []).filter(({ state }) => state === 'failed');
    expect(failed.map(({ id }) => id)).to.include('host-setup:jumpbox');
    for (const { problem } of failed) {
      expect(problem?.code).to.equal('cloud-policy');
      expect(problem?.detail).to.include(words);
    }
    expect(result.bootstrap?.warnings.join()).to.include(words);

    writeFirewallPolicy(scene.cloud.world, local.folder, []);
    expect(succeeded(await alice.bootstrap('closed')).warnings).to.deep.equal([]);
  });
});
