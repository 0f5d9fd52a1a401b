/** Host keys on a serial console, which shows much else. */
import { expect } from 'chai';
import { hostKeysOnConsole } from '../../functions/cloud/console-host-keys.js';

const printed = (...keys: string[]): string =>
  ['-----BEGIN SSH HOST KEY KEYS-----', ...keys, '-----END SSH HOST KEY KEYS-----', ''].join('\r\n');
const boot =
  '[    0.000000] Linux version 5.15.0-1083-gcp\r\n<14>cloud-init: -----BEGIN SSH HOST KEY FINGERPRINTS-----\r\n';

describe('host keys on a serial console', () => {
  it('are all that were printed at the first boot, without their comments', () => {
    const console = boot + printed('ecdsa-sha2-nistp256 AAAAE2Vj root@k0s-1', 'ssh-ed25519 AAAAC3Nz root@k0s-1');
    expect(hostKeysOnConsole(console)).to.deep.equal(['ecdsa-sha2-nistp256 AAAAE2Vj', 'ssh-ed25519 AAAAC3Nz']);
  });

  it('are not what somebody prints later', () => {
    const console = boot + printed('ssh-ed25519 AAAAC3Nz root@k0s-1') + printed('ssh-ed25519 AAAAevil root@k0s-1');
    expect(hostKeysOnConsole(console)).to.deep.equal(['ssh-ed25519 AAAAC3Nz']);
  });

  it('are none before the last line is there, or without any', () => {
    const whole = printed('ssh-ed25519 AAAAC3Nz root@k0s-1');
    expect(hostKeysOnConsole(boot + whole.slice(0, -10))).to.deep.equal([]);
    expect(hostKeysOnConsole(boot)).to.deep.equal([]);
    expect(hostKeysOnConsole(printed('no key', ''))).to.deep.equal([]);
  });
});
