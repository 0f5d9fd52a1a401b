/** Host keys on a serial console, which shows much else. */
import { expect } from 'chai';
import { hostKeysOnConsole } from '../../functions/cloud/console-host-keys.js';
import { badKeys, goodKeys, makeHostKey } from '../support/host-keys.js';

const printed = (...keys: string[]): string =>
  ['-----BEGIN SSH HOST KEY KEYS-----', ...keys, '-----END SSH HOST KEY KEYS-----', ''].join('\r\n');
const boot =
  '[    0.000000] Linux version 5.15.0-1083-gcp\r\n<14>cloud-init: -----BEGIN SSH HOST KEY FINGERPRINTS-----\r\n';

describe('host keys on a serial console', () => {
  const key = makeHostKey();

  it('are all that were printed at the first boot, without their comments', () => {
    const keys = goodKeys();
    const console = boot + printed(...keys.map((each) => `${each} root@k0s-1`));
    expect(hostKeysOnConsole(console)).to.deep.equal(keys);
  });

  it('are not what somebody prints later', () => {
    const console = boot + printed(`${key} root@k0s-1`) + printed(`${makeHostKey()} root@k0s-1`);
    expect(hostKeysOnConsole(console)).to.deep.equal([key]);
  });

  it('are none before the last line is there, or without any', () => {
    const whole = printed(`${key} root@k0s-1`);
    expect(hostKeysOnConsole(boot + whole.slice(0, -10))).to.deep.equal([]);
    expect(hostKeysOnConsole(boot)).to.deep.equal([]);
    expect(hostKeysOnConsole(printed('no key', ''))).to.deep.equal([]);
  });

  it('are nothing that is no public key', () => {
    // A line of the console ends where a value with a line feed would go on.
    const lines = badKeys(key).flatMap(([, type, value]) => (/[\r\n ]/.test(value) ? [] : [`${type} ${value}`]));
    expect(hostKeysOnConsole(boot + printed(...lines, key))).to.satisfy((keys: string[]) =>
      keys.every((each) => each === key),
    );
    expect(hostKeysOnConsole(boot + printed(...lines, key))).to.include(key);
  });
});
