/** Files of the caller's on their way to the jumpbox: over SFTP with the caller's own key, resumed, checked, and never another than the one that was named. */
import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { cpSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { homeOf, runPlinth } from '../../local/demo/plinth-process.js';
import { version } from '../../shared/version.js';
import { makeExecutable, needMachines } from '../support/machines.js';
import { cliPath, runAt } from '../support/plinth-here.js';
import { argsOf, type Caller, failedWith, makeScene, outcomeOf, type Scene, succeeded } from '../support/scene.js';
import { sha256Of, uploadsIn } from './upload-story.js';

describe('files of the caller’s that machines need', () => {
  let scene: Scene;
  let alice: Caller;

  before(async () => {
    needMachines();
    scene = await makeScene({ machines: 'embedded' });
    alice = await scene.caller();
  });
  after(() => scene?.close());

  const onJumpbox = async (name: string, command: string) =>
    (await runPlinth(['beta', 'bootstrap-cloud', 'ssh', name, '--', command], alice)).stdout.trim();

  it('are uploaded when something waits for them, and not again; what is no plinth, or another version, is told', async () => {
    const bring = (file: string) => alice.bootstrap('brought', { 'remote-cli-binary': file });
    // Plinth of another version than the service: a warning, also of a resume.
    const older = makeExecutable(join(alice.folder, 'older'), 50_000, 'older', '2.7.1');
    const first = await bring(older);
    expect(succeeded(first).warnings.join())
      .to.include('2.7.1')
      .and.include(version)
      .and.include('--remote-cli-binary');
    expect(first.stderr).to.include('2.7.1');
    expect(succeeded(await bring(older)).warnings.join()).to.include('2.7.1');

    const good = makeExecutable(join(alice.folder, 'own-plinth'), 300_000);
    const made = await bring(good);
    expect(succeeded(made).warnings.join()).not.to.include('version');
    expect(uploadsIn(made.events).at(-1)).to.include({
      name: 'own-plinth',
      state: 'sent',
      bytes: 300_000,
      of: 300_000,
    });
    const plinthThere = () => onJumpbox('brought', 'sha256sum < /usr/local/bin/plinth');
    expect(await plinthThere()).to.equal(`${sha256Of(good)}  -`);
    expect(await onJumpbox('brought', 'stat -c %a,%s .plinth/uploads/*')).to.equal('600,300000');
    const again = await bring(good);
    succeeded(again);
    expect(uploadsIn(again.events)).to.deep.equal([]);

    // It is run before it becomes plinth: another program takes the place of none.
    const ls = join(alice.folder, 'ls');
    cpSync('/bin/ls', ls, { dereference: true });
    const words = ['--remote-cli-binary, ls, is not plinth', '--version --json', 'GNU coreutils'];
    failedWith(await bring(ls), 'plinth-binary', ...words, 'npm run build:binary', 'run the same command again');
    expect(await plinthThere()).to.equal(`${sha256Of(good)}  -`);
    expect(await onJumpbox('brought', 'ls /usr/local/bin')).not.to.include('given');
    succeeded(await bring(good));
  });

  it('go on from where an interrupted upload stopped; meanwhile status says what to run', async () => {
    const file = makeExecutable(join(alice.folder, 'big-plinth'), 80_000_000);
    const flags = { 'remote-cli-binary': file };
    const first = alice.start('interrupted', flags);
    const sending = new Promise<void>((resolve) => {
      first.onText(() => {
        const bytes = [...first.stdout().matchAll(/"state":"sending","bytes":(\d+)/g)].map(([, number]) =>
          Number(number),
        );
        if (bytes.some((number) => number > 0)) resolve();
      });
    });
    await Promise.race([sending, first.ended]);
    first.interrupt();
    expect((await first.ended).exitCode, first.stdout().slice(-2000)).to.equal(130);

    const status = await alice.plinth('status', 'interrupted');
    expect(status.stdout).to.include('the file of --remote-cli-binary').and.include('it uploads it');

    const second = await alice.bootstrap('interrupted', flags);
    succeeded(second);
    const [begun] = uploadsIn(second.events);
    expect(begun).to.include({ state: 'sending' });
    expect(begun?.['bytes']).to.be.greaterThan(0);
    expect(await onJumpbox('interrupted', 'sha256sum < /usr/local/bin/plinth')).to.equal(`${sha256Of(file)}  -`);
  });

  it('are refused when they have changed meanwhile; the same command goes on with what they are now', async () => {
    const file = makeExecutable(join(alice.folder, 'changing'), 100_000);
    const run = alice.start('changing', { 'remote-cli-binary': file });
    await new Promise<void>((resolve) => run.onText(() => run.stdout() !== '' && resolve()));
    makeExecutable(file, 100_000, 'another');
    const { exitCode, stderr } = await run.ended;
    expect(exitCode, stderr).to.equal(2);
    expect(stderr)
      .to.include('changing has changed since this command began')
      .and.include('Run the same command again');
    succeeded(await alice.bootstrap('changing', { 'remote-cli-binary': file }));
    expect(await onJumpbox('changing', 'sha256sum < /usr/local/bin/plinth')).to.equal(`${sha256Of(file)}  -`);
  });

  describe('with a key that has a passphrase', () => {
    let bob: Caller;
    let key: string;
    let flags: Record<string, string>;
    before(async () => {
      bob = await scene.caller('bob@example.com');
      key = join(bob.folder, 'locked');
      execFileSync('ssh-keygen', ['-q', '-t', 'ed25519', '-N', 'open sesame', '-C', 'bob', '-f', key]);
      const file = makeExecutable(join(bob.folder, 'own-plinth'), 50_000);
      flags = { 'remote-cli-binary': file, 'ssh-private-key-path': key };
    });

    it('nothing is made where nobody can be asked for it', async () => {
      const { exitCode, result } = await bob.bootstrap('locked', flags);
      expect(exitCode).to.equal(2);
      expect(result.problem?.detail).to.include('has a passphrase');
      expect(result.problem?.advice).to.include('ssh-add');
      expect((await bob.plinth('list', '--json')).stdout).not.to.include('locked');
    });

    it('it is asked for on a terminal, unseen; a wrong one is asked for again', async () => {
      const args = ['beta', 'bootstrap-cloud', ...argsOf('asked', flags)];
      const command = [process.execPath, cliPath, ...args].map((word) => `'${word}'`).join(' ');
      mkdirSync(homeOf(bob.folder), { recursive: true });
      const terminal = spawn('script', ['-qefc', command, '/dev/null'], {
        cwd: bob.folder,
        env: { PATH: process.env['PATH'] ?? '', HOME: homeOf(bob.folder), TERM: 'xterm', ...bob.env },
      });
      let text = '';
      const answers = ['wrong\r', 'open sesame\r'];
      terminal.stdout.on('data', (chunk: Buffer) => {
        text += chunk.toString();
        if (text.split('Passphrase of').length - 1 + answers.length > 2 && answers.length > 0) {
          terminal.stdin.write(answers.shift() ?? '');
        }
      });
      await once(terminal, 'close');
      expect(terminal.exitCode, text).to.equal(0);
      expect(text.split('Passphrase of')).to.have.lengthOf(3);
      expect(text).to.include('Upload of own-plinth').and.not.include('sesame');
    });

    it('ssh-agent opens it, however many others it has', async () => {
      const socket = join(bob.folder, 'agent.sock');
      const agent = spawn('ssh-agent', ['-D', '-a', socket], { stdio: ['ignore', 'pipe', 'inherit'] });
      await once(agent.stdout, 'data');
      const env = { ...process.env, SSH_AUTH_SOCK: socket };
      try {
        for (let n = 0; n < 8; n += 1) {
          const other = join(bob.folder, `other-${n}`);
          execFileSync('ssh-keygen', ['-q', '-t', 'ed25519', '-N', '', '-f', other]);
          execFileSync('ssh-add', ['-q', other], { env });
        }
        const askpass = join(bob.folder, 'askpass');
        writeFileSync(askpass, '#!/bin/sh\necho "open sesame"\n', { mode: 0o700 });
        execFileSync('ssh-add', ['-q', key], {
          env: { ...env, SSH_ASKPASS: askpass, SSH_ASKPASS_REQUIRE: 'force', DISPLAY: ':0' },
        });
        const args = ['beta', 'bootstrap-cloud', '--json', ...argsOf('by-agent', flags)];
        const run = await runAt(args, { folder: bob.folder, env: { ...bob.env, SSH_AUTH_SOCK: socket } });
        succeeded(outcomeOf(run));
      } finally {
        agent.kill();
      }
    });
  });
});
