/** The private key that a flag names is looked at before anybody is asked: whether it is one, and whose. */
import { generateKeyPairSync } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { openSshPair } from '../../shared/openssh.js';
import { bootstrap, five, type Sandbox } from './run-cli.js';
import { json, type Service } from './service.js';
import { useService } from './use-service.js';

/** As ssh-keygen writes one with a passphrase; made for this test, it protects nothing. */
const lockedKey = `-----BEGIN OPENSSH PRIVATE KEY-----
b3BlbnNzaC1rZXktdjEAAAAACmFlczI1Ni1jdHIAAAAGYmNyeXB0AAAAGAAAABBzVBtguB
+GFOAhjr8uLs2WAAAAEAAAAAEAAAAzAAAAC3NzaC1lZDI1NTE5AAAAIDefsyDNTjRgi9ih
bb83wFbXLZUrLh8Za1czQgIdstHqAAAAkMr0kH6yXSVxgXfCg4V40R6QWeeo183CyBlo+l
MdQWMHJpurmAeczAKeW4oZajfXO8vYAoShCPeXo+VYFhHU58R2u4NeGcbxuKlnb9jAQrQn
baKT8AJMKbv0aZBWo/r4nJfV1IUADex9SArUi9ps9ROMg2ItyQ5aSwbKvAaq/oAQP+FbKr
PmXfUyX2cnZjkTPg==
-----END OPENSSH PRIVATE KEY-----
`;
const lockedPublicKey = 'ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIDefsyDNTjRgi9ihbb83wFbXLZUrLh8Za1czQgIdstHq locked';

describe('the private key of --ssh-private-key-path', () => {
  let service: Service;
  let sandbox: Sandbox;
  useService((each) => {
    ({ service, sandbox } = each);
  });

  const pair = (comment: string, kind: 'ed25519' | 'rsa' = 'ed25519') => {
    const pem = { type: 'pkcs8', format: 'pem' } as const;
    const { privateKey } =
      kind === 'rsa' ? generateKeyPairSync('rsa', { modulusLength: 2048 }) : generateKeyPairSync('ed25519');
    const text = privateKey.export(pem).toString();
    return { pem: text, ...openSshPair(text, comment) };
  };
  const put = (name: string, privateKey: string, publicKey: string): void => {
    sandbox.write(name, privateKey);
    sandbox.write(`${name}.pub`, `${publicKey}\n`);
  };
  /** The service itself finds nothing. */
  const preflighted = (): void =>
    void service.instead.set('POST /preflights', [(response) => json(response, 200, { go: true, findings: [] })]);
  const refusal = async (name: string, ...more: string[]): Promise<string> => {
    const { code, stderr } = await sandbox.run([...bootstrap, ...five, `--ssh-private-key-path=${name}`, ...more]);
    expect([code, service.seen], stderr).to.deep.equal([2, []]);
    return stderr;
  };

  it('is refused when it is garbage, or a public key, before anybody is asked', async () => {
    const { publicKey } = pair('one');
    put('garbage', 'private', publicKey);
    put('public', publicKey, publicKey);
    expect(await refusal('garbage')).to.include('--ssh-private-key-path garbage holds no SSH private key');
    expect(await refusal('public')).to.include('--ssh-private-key-path public is a public key');
  });

  it('is refused when its public half is another, of each kind, locked or not', async () => {
    const [one, two, rsa] = [pair('one'), pair('two'), pair('three', 'rsa')];
    put('other', one.privateKey, two.publicKey);
    expect(await refusal('other')).to.include('other does not belong to the public key in other.pub');
    put('pkcs8', rsa.pem, one.publicKey);
    expect(await refusal('pkcs8')).to.include('pkcs8 does not belong to the public key in pkcs8.pub');
    put('right', one.privateKey, one.publicKey);
    sandbox.write('named.pub', two.publicKey);
    expect(await refusal('right', '--ssh-public-key-path=named.pub')).to.include('the public key in named.pub');
    put('locked', lockedKey, two.publicKey);
    expect(await refusal('locked')).to.include('locked does not belong to the public key in locked.pub');
  });

  it('is refused with the command that converts it where OpenSSH cannot read it', async () => {
    const { privateKey, publicKey } = pair('one');
    put('crlf', privateKey.replaceAll('\n', '\r\n'), publicKey);
    expect(await refusal('crlf')).to.match(/crlf cannot be read by OpenSSH.*tr -d '\\r'/s);
    put('open', privateKey.trimEnd(), publicKey);
    expect(await refusal('open')).to.match(/open cannot be read by OpenSSH.*echo >> open/s);
    sandbox.write('beside', privateKey.trimEnd());
    sandbox.write('beside.pub', publicKey);
    const beside = await sandbox.run([...bootstrap, ...five, '--ssh-public-key-path=beside.pub']);
    expect([beside.code, service.seen], beside.stderr).to.deep.equal([2, []]);
  });

  it('is refused with that command, also in the usual place, by a run, by --check and by doctor', async () => {
    const { privateKey, publicKey } = pair('one');
    writeFileSync(join(sandbox.home, '.ssh', 'id_rsa.pub'), `${publicKey}\n`);
    writeFileSync(join(sandbox.home, '.ssh', 'id_rsa'), privateKey.replaceAll('\n', '\r\n'));
    for (const args of [[...bootstrap, ...five], [...bootstrap, ...five, '--check'], ['doctor']]) {
      preflighted();
      const { code, stdout, stderr } = await sandbox.run(args);
      expect(code, stdout + stderr).to.equal(2);
      expect(stdout + stderr).to.match(/id_rsa cannot be read by OpenSSH.*tr -d/s);
    }
    expect(service.seen.filter(({ method, path }) => method === 'POST' && path === '/bootstraps')).to.deep.equal([]);
  });

  it('is refused where its public half was cut or changed, by --check too', async () => {
    const { privateKey, publicKey } = pair('one');
    const [type = '', blob = ''] = publicKey.split(' ');
    for (const damaged of [blob.slice(0, -8), blob.slice(0, 30), `${blob.slice(0, 20)}${blob.slice(24)}`]) {
      put('cut', privateKey, `${type} ${damaged} one`);
      for (const more of [[], ['--check']]) {
        preflighted();
        const { code, stdout, stderr } = await sandbox.run([
          ...bootstrap,
          ...five,
          ...more,
          '--ssh-private-key-path=cut',
        ]);
        expect(code, stdout + stderr).to.equal(2);
        expect(stdout + stderr)
          .to.include('cut.pub holds no SSH public key')
          .and.include('ssh-keygen -y -f cut');
      }
    }
  });

  it('is taken with its own public half, also with a passphrase', async () => {
    const [one, rsa] = [pair('one'), pair('three', 'rsa')];
    for (const [name, privateKey, publicKey] of [
      ['right', one.privateKey, one.publicKey],
      ['pkcs8', rsa.pem, rsa.publicKey],
      ['locked', lockedKey, lockedPublicKey],
    ] as const) {
      put(name, privateKey, publicKey);
      service.seen.length = 0;
      const { code, stderr } = await sandbox.run([...bootstrap, ...five, `--ssh-private-key-path=${name}`]);
      expect(code, stderr).to.equal(0);
      expect(service.request().sshPublicKey).to.equal(publicKey);
    }
  });
});
