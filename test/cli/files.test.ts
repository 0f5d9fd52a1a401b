import {
  chmodSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { generateX25519Identity } from 'age-encryption';
import { expect } from 'chai';
import { decryptSecrets } from '../../shared/install-config/secrets.js';
import { bootstrap, five, type Sandbox, testKey } from './run-cli.js';
import {
  configOf,
  endedEvent,
  json,
  makeView,
  planReply,
  refuse,
  type Service,
  secretsFor,
  stateEvent,
} from './service.js';
import { useService } from './use-service.js';

const secretsOfOther = async (): Promise<string> => secretsFor(await generateX25519Identity(), 'other');
const mode = (path: string): string => (statSync(path).mode & 0o777).toString(8);

describe('files of a bootstrap', () => {
  let service: Service;
  let sandbox: Sandbox;
  useService((each) => {
    ({ service, sandbox } = each);
  });
  const run = async (...args: string[]) => {
    const ran = await sandbox.run([...bootstrap, ...five, ...args]);
    expect(ran.code, ran.stderr).to.equal(0);
    return ran;
  };
  const identityFile = () => join(sandbox.configFolder, 'age', 'b-one.txt');
  const asked = (path: string) => service.seen.filter((seen) => seen.path.startsWith(path)).length;

  it('are config, encrypted secrets (0600) and the age identity (0600, in the config folder)', async () => {
    await run();
    expect(sandbox.read('config.yaml')).to.equal(service.files.config);
    expect(sandbox.read('prod.vault.yaml')).to.equal(service.files.secrets);
    expect(readFileSync(identityFile(), 'utf8')).to.match(/^# public key: age1\w+\nAGE-SECRET-KEY-1\w+\n$/);
    expect([
      mode(sandbox.path('prod.vault.yaml')),
      mode(identityFile()),
      mode(join(identityFile(), '..')),
    ]).to.deep.equal(['600', '600', '700']);
    const { secrets } = await decryptSecrets(sandbox.read('prod.vault.yaml'), service.files.identity);
    expect(secrets[0]?.fields?.password).to.equal('first');
  });

  it('keep the age identity in a folder that others cannot write into, also if they could', async () => {
    const folder = join(identityFile(), '..');
    mkdirSync(folder, { recursive: true });
    chmodSync(folder, 0o777);
    await run();
    expect([mode(folder), mode(identityFile())]).to.deep.equal(['700', '600']);
  });

  it('are written nowhere else, whatever the record says', async () => {
    const { result } = makeView();
    const [datacenter] = result.datacenters;
    const key = '../../owned';
    const odd = makeView({
      result: { ...result, datacenters: [{ id: 1, name: 'dev', ready: true, ...datacenter, key }] },
    });
    service.instead.set(`GET /bootstraps/b-one/config`, [(response) => void response.end('owned: true')]);
    service.view = odd;
    const { code, stderr } = await sandbox.run([...bootstrap, ...five]);
    expect(code, stderr).to.equal(5);
    expect(stderr).to.include('"../../owned" is no id that plinth makes');
    expect([readdirSync(sandbox.folder), readdirSync(join(sandbox.folder, '..')).sort()]).to.deep.equal([
      [],
      ['home', 'work'],
    ]);
  });

  it('leave nothing temporary beside them', async () => {
    await run();
    expect(readdirSync(sandbox.folder)).to.have.members(['config.yaml', 'prod.vault.yaml']);
  });

  it('are not written with --write-config=false, and no identity is asked for', async () => {
    await run('--write-config=false');
    expect(readdirSync(sandbox.folder)).to.deep.equal([]);
    expect(existsSync(identityFile())).to.equal(false);
    expect(asked('/bootstraps/b-one/age-identity')).to.equal(0);
  });

  it('have a place that is tried, and told of with all other faults, before anything is made', async () => {
    const args = ['--install-config=/proc/config.yaml', '--secrets-file=/proc/s.yaml', '--preemptible', '--spot-vms'];
    const { code, stderr } = await sandbox.run([...bootstrap, ...five, ...args]);
    expect(code).to.equal(2);
    expect(stderr)
      .to.include('--install-config /proc/config.yaml cannot be written: its folder')
      .and.include('--secrets-file /proc/s.yaml cannot be written: its folder')
      .and.include('--preemptible');
    expect(service.seen).to.deep.equal([]);
  });

  it('that cannot be written at the end take nothing from the result, and the flag is named', async () => {
    mkdirSync(sandbox.path('out'));
    service.instead.set('GET /bootstraps/b-one/config', [
      (response) => {
        rmSync(sandbox.path('out'), { recursive: true });
        response.end(service.files.config);
      },
    ]);
    const args = [...bootstrap, ...five, '--install-config=out/config.yaml', '--json'];
    const { code, stdout, stderr } = await sandbox.run(args);
    expect(code, stderr).to.equal(2);
    const result = JSON.parse(stdout.trim().split('\n').at(-1) ?? '');
    expect(result).to.have.nested.property('bootstrap.state', 'succeeded');
    expect(result).to.have.nested.property('problem.errors[0].path', '--install-config');
    expect(stderr).to.include('The bootstrap stands, but out/config.yaml is not written').and.not.include('inside');
  });

  it('are written, and the result is shown, also when the test user cannot be fetched', async () => {
    rmSync(join(sandbox.home, '.ssh', 'id_rsa.pub'));
    const done = { id: 'test-user', step: 'test-user', title: 'Test user', state: 'done', attempt: 0 } as const;
    const [jumpbox] = makeView().result.vms;
    const { externalIp: _, ...unreachable } = jumpbox as NonNullable<typeof jumpbox>;
    service.view = makeView({ instances: [done], result: { ...makeView().result, vms: [unreachable] } });
    const { stdout, stderr } = await run('--create-test-user', '--install-version=1', '--registry-user=u', '--json');
    const result = JSON.parse(stdout.trim().split('\n').at(-1) ?? '');
    expect(stderr).to.include('Warning: the test user was made, but is not fetched');
    expect(result.files).to.have.lengthOf(3);
    expect(result.warnings.join()).to.include('The jumpbox has no address yet. Run the same command again');
    expect(sandbox.read('config.yaml')).to.equal(service.files.config);
  });

  describe('are there as soon as they are ready', () => {
    const config = [stateEvent('running'), endedEvent('config:dc1', 2)];
    const both = ['config.yaml', 'prod.vault.yaml'];

    for (const state of ['failed', 'cancelled'] as const) {
      it(`also of a bootstrap that is ${state}, and are told of`, async () => {
        service.view = makeView({ state });
        service.events = [...config, stateEvent(state)];
        const { code, stdout } = await sandbox.run([...bootstrap, ...five, '--json']);
        expect(code).to.equal(7);
        expect(readdirSync(sandbox.folder)).to.have.members(both);
        const { files } = JSON.parse(stdout.trim().split('\n').at(-1) ?? '') as { files: { state: string }[] };
        expect(files.map((file) => file.state)).to.deep.equal(['written', 'written', 'written']);
      });
    }

    it('while the bootstrap goes on, so that Ctrl-C leaves them', async () => {
      service.view = makeView({ state: 'running' });
      service.events = config;
      service.stream = 'hold';
      const started = sandbox.start([...bootstrap, ...five]);
      while (!sandbox.has('prod.vault.yaml')) await new Promise((resolve) => setTimeout(resolve, 25));
      started.interrupt();
      expect((await started.ended).code).to.equal(130);
      expect(readdirSync(sandbox.folder)).to.have.members(both);
      expect(existsSync(identityFile())).to.equal(true);
    });

    it('but not of a bootstrap that is being removed, nor of one whose files are not ready', async () => {
      const { result } = makeView();
      const datacenters = result.datacenters.map((datacenter) => ({ ...datacenter, ready: false }));
      service.view = makeView({ state: 'failed', result: { ...result, datacenters } });
      expect((await sandbox.run([...bootstrap, ...five])).code).to.equal(7);
      const removal = {
        requestedAt: new Date().toISOString(),
        by: 'alice@example.com',
        why: 'asked' as const,
        failures: 3,
      };
      service.view = makeView({ state: 'removal-failed', removal });
      expect((await sandbox.run([...bootstrap, ...five])).code).to.equal(7);
      expect(readdirSync(sandbox.folder)).to.deep.equal([]);
    });
  });

  it('go where the flags say', async () => {
    await run('--install-config', '~/c.yaml', '--secrets-file=s.yaml');
    expect(existsSync(join(sandbox.home, 'c.yaml'))).to.equal(true);
    expect(sandbox.has('s.yaml')).to.equal(true);
  });

  it('are one pair a datacenter', async () => {
    const [dc1] = service.view.result.datacenters;
    service.view = makeView({
      result: {
        ...service.view.result,
        datacenters: [
          { key: 'dc1', id: 1, name: 'dev', ready: true },
          { ...dc1, key: 'dc2', id: 2, name: 'dev-dc2', ready: true },
        ],
      },
    });
    await run('--multi-dc');
    expect(readdirSync(sandbox.folder)).to.have.members([
      'config.yaml',
      'prod.vault.yaml',
      'config-dc2.yaml',
      'prod-dc2.vault.yaml',
    ]);
    expect(asked('/bootstraps/b-one/config?datacenter=dc2')).to.equal(1);
    await run('--multi-dc');
    expect(service.seen.findLast(({ method, path }) => method === 'POST' && path === '/bootstraps')?.body)
      .to.have.property('base')
      .with.keys('dc1', 'dc2');
  });

  describe('that stand already', () => {
    it('are the base of a re-run, and are left alone when their content is the same', async () => {
      await run();
      const before = statSync(sandbox.path('prod.vault.yaml')).mtimeMs;
      const text = sandbox.read('prod.vault.yaml');
      sandbox.write('config.yaml', `# mine\n${service.files.config}`);
      // Encrypted anew: other bytes, the same content.
      service.files.secrets = await secretsFor(service.files.identity, 'first');
      service.seen.length = 0;
      const { stdout } = await run();
      expect(service.request().base).to.deep.equal({
        dc1: { config: `# mine\n${service.files.config}`, secrets: text },
      });
      expect(statSync(sandbox.path('prod.vault.yaml')).mtimeMs).to.equal(before);
      expect(sandbox.read('config.yaml')).to.match(/^# mine/);
      expect(stdout.match(/unchanged/g)).to.have.lengthOf(3);
      expect(asked('/bootstraps/b-one/age-identity')).to.equal(0);
    });

    it('are written again when their content differs', async () => {
      await run();
      service.files.secrets = await secretsFor(service.files.identity, 'second');
      service.files.config += 'secrets:\n  baseDir: /etc/platform/secrets\n';
      await run();
      expect(sandbox.read('config.yaml')).to.include('baseDir');
      expect(sandbox.read('prod.vault.yaml')).to.equal(service.files.secrets);
    });

    it('keep what a person wrote meanwhile: as it is if nothing new came, else aside', async () => {
      await run();
      const sent = service.files.config;
      const meanwhile = `${sent}override:\n  id: 9123456789012345678\n`;
      const answer = (config: string) => {
        sandbox.write('config.yaml', sent);
        service.instead.set('GET /bootstraps/b-one/config', [
          (response) => {
            sandbox.write('config.yaml', meanwhile);
            response.writeHead(200, { 'content-type': 'application/yaml' }).end(config);
          },
        ]);
      };
      answer(sent);
      await run();
      expect(sandbox.read('config.yaml')).to.equal(meanwhile);
      answer(meanwhile.replace('5678', '5679'));
      const { stdout } = await run();
      expect(sandbox.read('config.yaml')).to.equal(meanwhile.replace('5678', '5679'));
      expect(sandbox.read('config.edited.yaml')).to.equal(meanwhile);
      expect(stdout).to.include('config.edited.yaml');
    });

    it('become secret again if they were not', async () => {
      await run();
      chmodSync(sandbox.path('prod.vault.yaml'), 0o644);
      await run();
      expect(mode(sandbox.path('prod.vault.yaml'))).to.equal('600');
    });

    it('stay as closed as they were when they are written again', async () => {
      await run();
      chmodSync(sandbox.path('config.yaml'), 0o600);
      service.files.config += 'extra: 1\n';
      await run();
      expect(sandbox.read('config.yaml')).to.include('extra');
      expect(mode(sandbox.path('config.yaml'))).to.equal('600');
    });

    it('are written through a link', async () => {
      sandbox.write('real.yaml', service.files.config);
      symlinkSync('real.yaml', sandbox.path('config.yaml'));
      service.standing = true;
      service.files.config += 'extra: 1\n';
      await run();
      expect(sandbox.read('real.yaml')).to.include('extra');
    });

    it('are moved aside, and said to be, if they are of another bootstrap, and never travel', async () => {
      const [config, secrets] = [configOf('b-other', 'other-99'), await secretsOfOther()];
      sandbox.write('config.yaml', config);
      sandbox.write('prod.vault.yaml', secrets);
      const { stdout } = await run();
      expect(service.request().base).to.equal(undefined);
      expect(sandbox.read('config.other-99.yaml')).to.equal(config);
      expect(sandbox.read('prod.vault.other-99.yaml')).to.equal(secrets);
      expect(sandbox.read('config.yaml')).to.equal(service.files.config);
      expect(stdout).to.include('config.other-99.yaml').and.include('prod.vault.other-99.yaml');
      sandbox.write('config.yaml', config);
      await run();
      expect(sandbox.has('config.other-99-2.yaml')).to.equal(true);
    });

    it('are moved aside, and never travel, if their bootstrap is removed', async () => {
      const [config, secrets] = [configOf('b-old', 'demo-99'), await secretsOfOther()];
      sandbox.write('config.yaml', config);
      sandbox.write('prod.vault.yaml', secrets);
      service.instead.set('GET /bootstraps', [
        (response) => json(response, 200, [makeView({ id: 'b-old', projectId: 'demo-99', state: 'removed' })]),
      ]);
      await run();
      expect(service.request().base).to.equal(undefined);
      expect(sandbox.read('config.demo-99.yaml')).to.equal(config);
      expect(sandbox.read('prod.vault.demo-99.yaml')).to.equal(secrets);
      expect(sandbox.read('config.yaml')).to.equal(service.files.config);
    });

    it('of another bootstrap are told by their recipient when no config is beside them', async () => {
      await run();
      rmSync(sandbox.path('config.yaml'));
      service.seen.length = 0;
      await run();
      expect(service.request().base?.dc1).to.have.keys('secrets');
      const other = await secretsOfOther();
      sandbox.write('prod.vault.yaml', other);
      rmSync(sandbox.path('config.yaml'));
      service.seen.length = 0;
      await run();
      expect(service.request().base).to.equal(undefined);
      expect(sandbox.read('prod.vault.previous.yaml')).to.equal(other);
    });

    it('stay where they are when the bootstrap is refused', async () => {
      sandbox.write('config.yaml', configOf('b-other', 'other-99'));
      service.instead.set('POST /bootstraps', [refuse('forbidden', 'No.')]);
      const { code } = await sandbox.run([...bootstrap, ...five]);
      expect(code).to.equal(3);
      expect(readdirSync(sandbox.folder)).to.deep.equal(['config.yaml']);
    });

    it('that are no YAML are an error before anything is made', async () => {
      for (const text of ['a: [', 'just words', '- a\n']) {
        sandbox.write('config.yaml', text);
        const { code, stderr } = await sandbox.run([...bootstrap, ...five]);
        expect([code, stderr.includes('--install-config config.yaml cannot be read')]).to.deep.equal([2, true]);
      }
      expect(service.seen).to.deep.equal([]);
    });
  });
});

describe('the SSH key', () => {
  let service: Service;
  let sandbox: Sandbox;
  useService((each) => {
    ({ service, sandbox } = each);
  });
  const ssh = (name: string) => join(sandbox.home, '.ssh', name);
  const sent = async (...args: string[]) => {
    service.seen.length = 0;
    const ran = await sandbox.run([...bootstrap, ...five, '--write-config=false', ...args]);
    expect(ran.code, ran.stderr).to.equal(0);
    return { key: service.request().sshPublicKey, stderr: ran.stderr };
  };

  it('is id_rsa.pub, else id_ed25519.pub', async () => {
    expect((await sent()).key).to.equal(testKey);
    rmSync(ssh('id_rsa.pub'));
    writeFileSync(ssh('id_ed25519.pub'), `${testKey}-2\n`);
    expect((await sent()).key).to.equal(`${testKey}-2`);
  });

  it('is the one that a flag names', async () => {
    writeFileSync(sandbox.path('k.pub'), `${testKey}-3\n`);
    expect((await sent('--ssh-public-key-path=k.pub')).key).to.equal(`${testKey}-3`);
  });

  it('is made, kept 0600 and said when there is none; the same one the next time', async () => {
    rmSync(ssh('id_rsa.pub'));
    service.instead.set('POST /bootstraps', [(response) => json(response, 200, planReply())]);
    const made = join(sandbox.configFolder, 'ssh', 'id_ed25519');
    await sent('--dry-run');
    expect(existsSync(made), 'a dry run makes none').to.equal(false);
    const first = await sent();
    expect(first.key).to.match(/^ssh-ed25519 [A-Za-z0-9+/]+ plinth$/);
    expect(first.stderr).to.include(`plinth made one: ${made}`);
    expect(mode(made)).to.equal('600');
    expect(readFileSync(made, 'utf8')).to.match(/^-----BEGIN OPENSSH PRIVATE KEY-----/);
    const second = await sent();
    expect(second.key).to.equal(first.key);
    expect(second.stderr).to.not.include('made one');
  });

  it('is refused when the file is no public key', async () => {
    writeFileSync(sandbox.path('k.pub'), '-----BEGIN PRIVATE KEY-----\nplanted\n');
    const { code, stderr } = await sandbox.run([...bootstrap, ...five, '--ssh-public-key-path=k.pub']);
    expect([code, stderr.includes('k.pub holds no SSH public key'), stderr.includes('planted')]).to.deep.equal([
      2,
      true,
      false,
    ]);
  });
});
