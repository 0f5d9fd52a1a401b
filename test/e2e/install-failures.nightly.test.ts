/**
 * What goes wrong while a platform is installed, as its caller sees it: what is said, what is to be done, and that the same
 * command goes on from there. One bootstrap for all; the packages are a few lines of shell.
 */

import { createHash, generateKeyPairSync, randomBytes } from 'node:crypto';
import { copyFileSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import { guests } from '../../local/cloud/compute/instance-life.js';
import { runPlinth } from '../../local/demo/plinth-process.js';
import { publishPackage } from '../../local/stack/publish-package.js';
import type { BootstrapView } from '../../shared/bootstrap/bootstrap.js';
import { openSshPair } from '../../shared/openssh.js';
import { makeShellPackage } from '../package/jumpbox.js';
import { until } from '../support/halves.js';
import { needMachines } from '../support/machines.js';
import { type Caller, failedWith, makeScene, outcomeOf, type Scene, succeeded } from '../support/scene.js';

/** Lies on the jumpbox's disk; components that run there write and read it. */
const notes = '/var/tmp/notes';

describe('what goes wrong in an install', function () {
  this.timeout(300_000);
  let scene: Scene;
  let alice: Caller;
  let folder: string;
  let view: BootstrapView;

  before(async () => {
    needMachines();
    folder = mkdtempSync(join(tmpdir(), 'plinth-package-'));
    scene = await makeScene({ machines: 'embedded' });
    alice = await scene.caller();
  });
  after(async () => {
    await scene?.close();
    rmSync(folder, { recursive: true, force: true });
  });

  const name = 'goes-wrong';
  const install = (version: string) => alice.bootstrap(name, { 'install-version': version });
  const machines = () => scene.stack.cloudHalf?.machines ?? expect.fail('no machines');
  const vm = (which: string) => `projects/${view.projectId}/zones/${view.zone}/instances/${which}`;

  /** On the jumpbox, as root, by the caller's own SSH; undefined: it does not answer, or says no. */
  async function said(command: string): Promise<string | undefined> {
    const quoted = `'${command.replaceAll("'", "'\\''")}'`;
    const args = ['beta', 'bootstrap-cloud', 'ssh', name, 'jumpbox', '--', 'sudo', 'bash', '-c', quoted];
    const { exitCode, stdout } = await runPlinth(args, alice);
    return exitCode === 0 ? stdout.trim() : undefined;
  }
  const seen = (what: string, command: string, wanted: string) =>
    until(what, async () => ((await said(command)) === wanted ? true : undefined));

  const admin = async (name: string, verb: string): Promise<void> => {
    const { accessToken } = await scene.stack.tokens('admin@example.com');
    const reply = await fetch(`${scene.cloud.endpoints.compute}/compute/v1/${vm(name)}/${verb}`, {
      method: 'POST',
      headers: { authorization: `Bearer ${accessToken}` },
    });
    expect(reply.status, await reply.text()).to.equal(200);
    await machines().settle();
  };

  /** What each component does when it is installed; `arrives` is what the store holds in the end. */
  async function publish(version: string, components: Record<string, string>, arrives?: (made: Buffer) => Buffer) {
    const at = join(folder, version);
    mkdirSync(at, { recursive: true });
    const [full, lite] = [join(at, 'installer.tar.gz'), join(at, 'installer-lite.tar.gz')];
    const programs = Object.entries(components).map(([component, script]) => [
      component,
      `cat > /dev/null\nif [ "$PLINTH_ACTION" != install ]; then echo "${component} $PLINTH_ACTION" >> ${notes}; exit 0; fi\n${script}`,
    ]);
    const { hash } = await makeShellPackage(full, Object.fromEntries(programs));
    const sha256 = createHash('sha256').update(readFileSync(full)).digest('hex');
    if (arrives !== undefined) writeFileSync(full, arrives(readFileSync(full)));
    copyFileSync(full, lite);
    const made = { version, hash, full: { path: full, sha256 }, lite: { path: lite, sha256 } };
    await publishPackage(scene.cloud, made);
    return made;
  }

  it('a package that is damaged in the store is refused on the jumpbox, named, with both sums; whole again it goes on', async () => {
    const components = {
      first: `echo first >> ${notes}`,
      second: 'if [ -e /var/tmp/mended ]; then exit 0; fi; echo "no route to the moon"; exit 1',
    };
    const damaged = await publish('1.0.0', components, (made) => Buffer.concat([made, Buffer.from('x')]));
    const outcome = await install('1.0.0');
    failedWith(
      outcome,
      'package',
      `packages/1.0.0/${damaged.hash}/installer`,
      damaged.full.sha256,
      'run the same command again',
    );
    view = outcome.result.bootstrap as BootstrapView;
    expect(await said(`ls /var/lib/platform/packages; cat ${notes}`)).to.equal(undefined);
    await publish('1.0.0', components);
  });

  it('a component that fails is named with what it said last; by the same command, once it is mended, only it is installed', async () => {
    failedWith(await install('1.0.0'), 'install:dc1', 'second', 'no route to the moon', 'run the same command again');
    expect(await said('touch /var/tmp/mended')).to.equal('');
    succeeded(await install('1.0.0'));
    expect((await said(`cat ${notes}`))?.split('\n')).to.deep.equal([
      ...['first', 'first check', 'first check', 'second check'],
    ]);
  });

  it('a component that says that it will pass fails so, too, and the caller is told', async () => {
    await publish('1.1.0', { first: 'echo "the mirror is busy"; exit 75' });
    failedWith(await install('1.1.0'), 'install:dc1', 'the mirror is busy', 'this will pass');
    await publish('1.1.1', { first: 'exit 0' });
    succeeded(await install('1.1.1'));
  });

  it('a VM that is stopped in the midst of it is started again, and the job is begun anew', async () => {
    await publish('1.2.0', {
      first: 'echo begun >> /var/tmp/stopped; [ "$(wc -l < /var/tmp/stopped)" = 2 ] || sleep 1000',
    });
    const running = alice.start(name, { 'install-version': '1.2.0' });
    await seen('the job has begun', 'cat /var/tmp/stopped', 'begun');
    await admin('jumpbox', 'stop');
    view = succeeded(outcomeOf(await running.ended));
    expect(await said('cat /var/tmp/stopped')).to.equal('begun\nbegun');
  });

  for (const [how, silently] of [
    ['dropped without a word', true],
    ['broken', false],
  ] as const) {
    it(`a connection that is ${how} is made anew, and the job is followed to its end`, async () => {
      const file = `/var/tmp/cut-${silently}`;
      await publish(`1.3.${Number(silently)}`, {
        first: `echo begun >> ${file}; until [ -e ${file}-go ]; do sleep 0.2; done`,
      });
      const running = alice.start(name, { 'install-version': `1.3.${Number(silently)}` });
      await seen('the job has begun', `cat ${file}`, 'begun');
      const before = scene.stack.logs.length;
      machines().cut({ silently });
      await until('it is found out', () => scene.stack.logs.slice(before).find((line) => /was lost/.test(line)));
      expect(await said(`touch ${file}-go`)).to.equal('');
      succeeded(outcomeOf(await running.ended));
      expect(await said(`cat ${file}`)).to.equal('begun');
    });
  }

  it('a jumpbox without room for the package says so, naming the machine; with room it goes on', async () => {
    await publish('1.4.0', { first: `: ${randomBytes(400_000).toString('base64')}` });
    const small = 'mount -t tmpfs -o size=200k tmpfs /var/lib/platform/packages';
    expect(await said(small)).to.equal('');
    const outcome = await install('1.4.0');
    failedWith(outcome, 'package', 'no room left on jumpbox', 'Make room on its disk');
    expect(outcome.result.bootstrap?.instances.find(({ id }) => id === 'package')?.problem?.code).to.equal('host-full');
    expect(await said('umount /var/lib/platform/packages')).to.equal('');
    succeeded(await install('1.4.0'));
  });

  it('a machine with another host key than it published is refused, with both named, and nothing is sent to it', async () => {
    const guest = guests(scene.cloud.world)[vm('k0s-2')] ?? expect.fail('no k0s-2');
    const [own, published] = [guest.hostKey, guest.attributes['hostkeys'] ?? {}];
    const privateKeyPem = String(generateKeyPairSync('ed25519').privateKey.export({ format: 'pem', type: 'pkcs8' }));
    guest.hostKey = { privateKeyPem, publicKey: openSshPair(privateKeyPem, 'k0s-2').publicKey };
    await admin('k0s-2', 'reset');
    guest.attributes['hostkeys'] = published;
    const print = (line: string) =>
      `SHA256:${createHash('sha256')
        .update(Buffer.from(line.split(' ')[1] ?? '', 'base64'))
        .digest('base64')
        .replace(/=+$/, '')}`;
    const outcome = await install('1.4.0');
    const words = [
      'k0s-2 shows another host key',
      print(own.publicKey),
      print(guest.hostKey.publicKey),
      'do not go on',
    ];
    failedWith(outcome, 'host-setup:k0s-2', ...words);
    for (const word of words) expect(outcome.stderr + outcome.stdout).to.include(word);

    guest.hostKey = own;
    await admin('k0s-2', 'reset');
    succeeded(await install('1.4.0'));
  });
});
