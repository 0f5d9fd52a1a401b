/** What a record may make the command line write for OpenSSH's client: only what is a key or an address of that machine. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import type { BootstrapView, VmView } from '../../shared/bootstrap/bootstrap.js';
import { badKeys, makeHostKey } from '../support/host-keys.js';
import { createSandbox, type Sandbox } from './run-cli.js';
import { createService, makeView, type Service } from './service.js';

describe('the config for ssh', () => {
  let service: Service;
  let sandbox: Sandbox;
  const good = makeHostKey();
  beforeEach(async () => {
    service = await createService();
    service.standing = true;
    sandbox = createSandbox(service.url);
  });
  afterEach(async () => {
    sandbox.remove();
    await service.close();
  });

  /** As `status` would show it: what the jumpbox is besides a host key that is good. */
  const standsWith = (jumpbox: Partial<VmView>, changes: Partial<BootstrapView> = {}): void => {
    const { result, ...view } = makeView(changes);
    const vms = result.vms.map((vm) => ({ ...vm, hostKeys: [good], ...(vm.name === 'jumpbox' ? jumpbox : {}) }));
    service.view = { ...view, result: { ...result, vms } };
  };
  const ssh = () => sandbox.run(['beta', 'bootstrap-cloud', 'ssh', 'demo', '--print-config']);
  const folder = () => join(sandbox.configFolder, 'ssh', 'demo-ab12cd34');
  const read = (name: string) => readFileSync(join(folder(), name), 'utf8');

  it('holds each key for its own machine, and nothing else that a record says', async () => {
    standsWith({ hostKeys: [...badKeys(good).map(([, type, value]) => `${type} ${value}`), good] });
    expect((await ssh()).code).to.equal(0);
    expect(read('known_hosts')).to.equal(`jumpbox.demo-ab12cd34 ${good}\nk0s-1.demo-ab12cd34 ${good}\n`);
    expect(read('config').match(/HostKeyAlgorithms .*/g)).to.deep.equal(Array(2).fill('HostKeyAlgorithms ssh-ed25519'));
  });

  it('is not written while the jumpbox has published no key that is one', async () => {
    for (const [title, type, value] of badKeys(good)) {
      standsWith({ hostKeys: [`${type} ${value}`] });
      const { code, stderr } = await ssh();
      expect({ title, code, why: stderr.includes('has published no host key yet') }).to.deep.equal({
        title,
        code: 5,
        why: true,
      });
    }
  });

  const tunnel = { project: 'demo-ab12cd34', zone: 'europe-west4-a', instance: 'jumpbox' };
  const odd: readonly (readonly [title: string, jumpbox: Partial<VmView>, changes?: Partial<BootstrapView>])[] = [
    ['an address with a line behind it', { externalIp: '203.0.113.7\n  ProxyCommand touch /tmp/owned' }],
    ['an address that is an option', { externalIp: '-oProxyCommand=touch owned' }],
    ['a name of a host in place of an address', { externalIp: 'evil.example' }],
    [
      'the instance of a tunnel with a line behind it',
      { tunnel: { ...tunnel, instance: 'jumpbox\n  LocalCommand x' } },
    ],
    ['the zone of a tunnel with words of a shell', { tunnel: { ...tunnel, zone: 'a; touch owned' } }],
    ['the project of a tunnel with words of a shell', { tunnel: { ...tunnel, project: '$(touch owned)' } }],
    ['a project that leads out of the folder', {}, { projectId: '../../../owned' }],
    ['a project with a line behind it', {}, { projectId: 'demo-ab12cd34\n@revoked * x' }],
  ];
  for (const [title, jumpbox, changes] of odd) {
    it(`is refused with ${title}`, async () => {
      standsWith(jumpbox, changes);
      const { code, stderr } = await ssh();
      expect(code, stderr).to.equal(5);
      expect(stderr).to.include('Nothing is written for ssh');
      expect(() => read('config')).to.throw('ENOENT');
    });
  }

  it('is not written by a proxy that is no http://host:port, and shows no password of it', async () => {
    standsWith({ externalIp: '203.0.113.7' });
    for (const proxy of ['proxy', 'http://robot:planted-word@proxy.example:3128', 'https://proxy.example:3128']) {
      const { code, stdout, stderr } = await sandbox.run(['beta', 'bootstrap-cloud', 'ssh', 'demo', '--print-config'], {
        PLINTH_SSH_PROXY: proxy,
      });
      expect({ proxy, code }, stderr).to.deep.equal({ proxy, code: 2 });
      expect(stderr).to.include('PLINTH_SSH_PROXY must be http://host:port');
      expect(stdout + stderr).to.not.include('planted-word');
      expect(() => read('config')).to.throw('ENOENT');
    }
  });

  it('is refused with the name of another machine that holds a line', async () => {
    standsWith({});
    const [first, second] = service.view.result.vms as [VmView, VmView];
    service.view.result.vms.splice(0, 2, first, { ...second, name: 'k0s-1\nHost *\n  LocalCommand touch owned' });
    const { code, stderr } = await ssh();
    expect(code, stderr).to.equal(5);
    expect(() => read('config')).to.throw('ENOENT');
  });
});
