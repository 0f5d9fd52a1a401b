/** What a VM is told at its birth: who may log in, and how it sets itself up. */
import { spawnSync } from 'node:child_process';
import { expect } from 'chai';
import { sshKeysOf, startupScriptOf } from '../../functions/steps/cloud/vm-metadata.js';

const keys = ['ssh-ed25519 AAAA alice', 'ssh-ed25519 BBBB plinth', 'ssh-ed25519 AAAA alice\n'];

describe('metadata of VMs', () => {
  it('lets ubuntu and root in with each key once', () => {
    expect(sshKeysOf('k0s', keys).split('\n')).to.have.members([
      'ubuntu:ssh-ed25519 AAAA alice',
      'ubuntu:ssh-ed25519 BBBB plinth',
      'root:ssh-ed25519 AAAA alice',
      'root:ssh-ed25519 BBBB plinth',
    ]);
  });

  it('lets nobody in as root on the jumpbox', () => {
    expect(sshKeysOf('jumpbox', keys)).to.equal('ubuntu:ssh-ed25519 AAAA alice\nubuntu:ssh-ed25519 BBBB plinth');
    expect(startupScriptOf('jumpbox')).to.contain('PermitRootLogin no');
    expect(startupScriptOf('ceph')).to.contain('PermitRootLogin prohibit-password');
  });

  it('opens the jumpbox, and it alone, to many connections at once', () => {
    expect(startupScriptOf('jumpbox')).to.contain('MaxStartups 100\nMaxSessions 64');
    expect(startupScriptOf('postgres')).to.not.contain('MaxStartups');
  });

  for (const role of ['jumpbox', 'postgres', 'ceph', 'k0s'] as const) {
    it(`sets ${role} up with a script that a shell can read, sysctls included`, () => {
      const script = startupScriptOf(role);
      for (const line of ['max_user_watches=1048576', 'max_user_instances=8192', 'vm.max_map_count=262144'])
        expect(script).to.contain(line);
      const { status, stderr } = spawnSync('bash', ['-n'], { input: script, encoding: 'utf8' });
      expect(stderr).to.equal('');
      expect(status).to.equal(0);
    });
  }
});
