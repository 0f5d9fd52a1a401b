/** Who gets in to a simulated VM that uses OS Login, and by what: seen with OpenSSH's own client. */
import { expect } from 'chai';
import type { JsonObject } from '../../local/cloud/kernel/api.js';
import { owner, stranger } from '../local-cloud/ready-cloud.js';
import { describeMachines, type MachineWorld, machineWorld } from './machine-world.js';

describeMachines('logging in by OS Login', (isolation) => {
  let world: MachineWorld;
  before(async () => {
    world = await machineWorld(['node-1'], isolation);
    await setMetadata('TRUE');
    await bring(owner, 'ours');
    await bring(stranger, 'other');
  });
  after(() => world?.close());

  async function setMetadata(osLogin: 'TRUE' | 'FALSE'): Promise<void> {
    const { metadata } = (await world.vm('GET instances/jumpbox')) as { metadata: JsonObject };
    const others = (metadata['items'] as JsonObject[]).filter(({ key }) => key !== 'enable-oslogin');
    await world.vm('POST instances/jumpbox/setMetadata', {
      fingerprint: metadata['fingerprint'],
      items: [...others, { key: 'enable-oslogin', value: osLogin }],
    });
  }

  async function bring(email: string, key: 'ours' | 'other'): Promise<void> {
    const line = `POST /v1/users/${email}:importSshPublicKey?projectId=ready-project`;
    const reply = await world.cloud.call('oslogin', line, { key: world.publicKey(key) }, { as: email });
    expect(reply.status, reply.message).to.equal(200);
  }

  async function grant(role: string, member: string): Promise<void> {
    const { body } = await world.cloud.call('cloudresourcemanager', 'POST /v3/projects/ready-project:getIamPolicy', {});
    const others = ((body['bindings'] ?? []) as { role: string }[]).filter((each) => !each.role.includes('compute.os'));
    const policy = { ...body, bindings: [...others, { role, members: [member] }] };
    const set = await world.cloud.call('cloudresourcemanager', 'POST /v3/projects/ready-project:setIamPolicy', {
      policy,
    });
    expect(set.status, set.message).to.equal(200);
  }

  const code = async (...of: Parameters<MachineWorld['ssh']>) => (await world.ssh(...of)).code;
  const bob = 'bob_example_com@jumpbox';

  it('takes no key of the metadata', async () => {
    expect(await code('ubuntu@jumpbox', 'true')).to.equal(255);
  });

  it('lets the owner of the project in under their own name, with a home and sudo', async () => {
    const run = await world.ssh('alice_example_com@jumpbox', 'pwd; touch mine && ls; sudo -n id -u; id -un');
    expect(run).to.deep.include({ code: 0, stdout: '/home/alice_example_com\nmine\n0\nalice_example_com\n' });
  });

  it('refuses who has no role, and the key of another', async () => {
    expect(await code(bob, 'true', { key: 'other' })).to.equal(255);
    expect(await code('alice_example_com@jumpbox', 'true', { key: 'other' })).to.equal(255);
  });

  it('gives osLogin no sudo by any way, and osAdminLogin all', async () => {
    await grant('roles/compute.osLogin', `user:${stranger}`);
    for (const command of [
      'sudo -n true',
      'USER=ubuntu sudo -n true',
      'nsenter -t 1 -m -- true',
      'cat /root/.profile',
    ]) {
      expect(await code(bob, command, { key: 'other' }), command).to.equal(1);
    }
    await grant('roles/compute.osAdminLogin', `user:${stranger}`);
    expect((await world.ssh(bob, 'sudo -n id -u', { key: 'other' })).stdout).to.equal('0\n');
  });

  it('refuses who has lost the role, though their own file has the key', async () => {
    await grant('roles/compute.osLogin', `user:${stranger}`);
    const own = 'mkdir -p .ssh && cat > .ssh/authorized_keys';
    expect(await code(bob, own, { key: 'other', stdin: world.publicKey('other') })).to.equal(0);
    await grant('roles/compute.osLogin', 'user:carol@example.com');
    expect(await code(bob, 'true', { key: 'other' })).to.equal(255);
  });

  it('takes keys of the metadata again where OS Login is off, and none where the organization requires it', async () => {
    await setMetadata('FALSE');
    expect(await code('ubuntu@jumpbox', 'true')).to.equal(0);
    const settings = { 'policy.compute.requireOsLogin': 'enforced' };
    await fetch(`${world.cloud.frontUrl}/_local/world`, {
      method: 'PUT',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ settings }),
    });
    expect(await code('ubuntu@jumpbox', 'true')).to.equal(255);
    expect(await code('alice_example_com@jumpbox', 'true')).to.equal(0);
  });
});
