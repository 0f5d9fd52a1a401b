/** What of the environment of whoever runs `plinth install` reaches the components of a package: the way out of the network, and no more. */
import { join } from 'node:path';
import { expect } from 'chai';
import { createSandbox, type Sandbox } from '../cli/run-cli.js';
import { keysAtHand, makeBootstrap } from '../install-config/made-bootstrap.js';
import { makeShellPackage } from './jumpbox.js';

describe('the environment of a component', () => {
  let sandbox: Sandbox;
  before(async function () {
    await keysAtHand.call(this);
    sandbox = createSandbox();
    const bootstrap = makeBootstrap();
    const files = (await bootstrap.go())['dc1'];
    sandbox.write('config.yaml', files?.configText ?? '');
    sandbox.write('prod.vault.yaml', files?.secretsText ?? '');
    sandbox.write('age_key.txt', `${await bootstrap.identity()}\n`);
    await makeShellPackage(sandbox.path('package.tar.gz'), {
      only: 'cat > /dev/null; [ "$PLINTH_ACTION" = check ] || env > "$PLINTH_ROOT/seen"',
    });
  });
  after(() => sandbox?.remove());

  it('has the proxies of its caller, in both spellings, and nothing else', async () => {
    const proxies = {
      ALL_PROXY: 'socks5h://127.0.0.1:1080',
      all_proxy: 'socks5h://127.0.0.1:1080',
      HTTPS_PROXY: 'http://proxy.example:3128',
      https_proxy: 'http://proxy.example:3128',
      HTTP_PROXY: 'http://proxy.example:3128',
      http_proxy: 'http://proxy.example:3128',
      NO_PROXY: '10.0.0.0/8,metadata.google.internal',
      no_proxy: '10.0.0.0/8',
    };
    const args = ['install', 'platform', '--package', 'package.tar.gz', '--root', sandbox.folder];
    const ran = await sandbox.run([...args, '--state-dir', join(sandbox.folder, 'state')], {
      ...proxies,
      FTP_PROXY: 'http://proxy.example:21',
      PLANTED: 'planted',
    });
    expect(ran.code, ran.stderr).to.equal(0);
    const seen = Object.fromEntries(
      sandbox
        .read('seen')
        .trim()
        .split('\n')
        .map((line) => [line.slice(0, line.indexOf('=')), line.slice(line.indexOf('=') + 1)]),
    );
    const own = ['PATH', 'HOME', 'LANG', 'PWD', 'OLDPWD', 'SHLVL', '_'];
    const handedOn = Object.entries(seen).filter(([name]) => !own.includes(name) && !name.startsWith('PLINTH_'));
    expect(Object.fromEntries(handedOn)).to.deep.equal(proxies);
    expect(Object.keys(seen)).not.to.include('PLINTH_TOKEN');
  });
});
