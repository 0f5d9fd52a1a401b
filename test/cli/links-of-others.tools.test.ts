/** A folder that several people share, where somebody else has put a link in place of a file that plinth writes. Only root can play two people. */
import { chmodSync, lchownSync, lstatSync, symlinkSync } from 'node:fs';
import { expect } from 'chai';
import { bootstrap, createSandbox, five, type Sandbox } from './run-cli.js';
import { createService, type Service } from './service.js';

const somebodyElse = 12_345;

describe('a link that somebody else has put into a shared folder', () => {
  let service: Service;
  let sandbox: Sandbox;
  beforeEach(async () => {
    service = await createService();
    service.standing = true;
    sandbox = createSandbox(service.url);
    chmodSync(sandbox.folder, 0o1777);
    sandbox.write('own.yaml', service.files.config);
    symlinkSync('own.yaml', sandbox.path('config.yaml'));
    lchownSync(sandbox.path('config.yaml'), somebodyElse, somebodyElse);
    service.files.config += 'extra: 1\n';
  });
  afterEach(async () => {
    sandbox.remove();
    await service.close();
  });

  it('leads nowhere: no file is written through it', async () => {
    const { code, stderr } = await sandbox.run([...bootstrap, ...five]);
    expect(code, stderr).to.equal(2);
    expect(stderr).to.contain('config.yaml').and.to.contain('it is a link of another user');
    expect(sandbox.read('own.yaml')).not.to.contain('extra');
    expect(lstatSync(sandbox.path('config.yaml')).isSymbolicLink()).to.equal(true);
  });
});
