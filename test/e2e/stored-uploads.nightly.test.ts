/** Big files of the caller's by Cloud Storage: an upload that is cut, a session that is over, and a hardened organization. */
import { execFileSync } from 'node:child_process';
import { readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { homeOf, runPlinth } from '../../local/demo/plinth-process.js';
import { makeExecutable, needMachines } from '../support/machines.js';
import { type Caller, makeScene, outcomeOf, type Scene, succeeded } from '../support/scene.js';
import { bigBytes, sha256Of, shown, storedUploads, uploadsIn } from './upload-story.js';

const bigger = 72 * 1024 * 1024;

describe('big files of the caller’s, where only IAP leads to the jumpbox and the upload is cut', function () {
  this.timeout(300_000);
  let scene: Scene;
  let alice: Caller;

  before(async () => {
    needMachines();
    scene = await makeScene({ machines: 'embedded', settings: { PLINTH_MACHINE_ACCESS: 'iap' } });
    alice = await scene.caller();
  });
  after(() => scene?.close());

  const keptSessions = () => readdirSync(join(homeOf(alice.folder), '.config', 'plinth', 'uploads'));
  const onJumpbox = async (name: string, command: string) =>
    (await runPlinth(['beta', 'bootstrap-cloud', 'ssh', name, '--', command], alice)).stdout.trim();

  it('go on in the same session after a kill; where that is over, they begin anew, and say so', async () => {
    const file = makeExecutable(join(alice.folder, 'bigger-plinth'), bigger);
    const flags = { 'remote-cli-binary': file };
    const interrupted = async () => {
      const run = alice.start('cut-off', flags);
      await shown(run, /"state":"sending","bytes":[1-9]/);
      run.interrupt();
      const { exitCode } = await run.ended;
      expect(exitCode, run.stdout().slice(-2000)).to.equal(130);
      return run;
    };
    await interrupted();
    const [kept = ''] = keptSessions();
    expect(statSync(join(homeOf(alice.folder), '.config', 'plinth', 'uploads', kept)).mode & 0o777).to.equal(0o600);
    const second = await interrupted();
    const [first] = [...second.stdout().matchAll(/"state":"sending","bytes":(\d+)/g)].map(([, bytes]) => Number(bytes));
    expect(first).to.be.above(0);

    for (const session of Object.values(scene.cloud.world.table<{ begunAt: number }>('storage.uploads'))) {
      session.begunAt -= 8 * 86_400_000;
    }
    const third = await alice.bootstrap('cut-off', flags);
    succeeded(third);
    const [again, anew] = uploadsIn(third.events);
    expect(again).to.include({ state: 'trying again' });
    expect(again?.['why']).to.include('bigger-plinth went to Cloud Storage is over').and.include('anew');
    expect(anew).to.include({ state: 'sending', bytes: 0 });
    expect(await onJumpbox('cut-off', 'sha256sum < /usr/local/bin/plinth')).to.equal(`${sha256Of(file)}  -`);
    expect(storedUploads(scene)).to.deep.equal([]);
  });
});

describe('in a hardened organization, a big file of the caller’s', function () {
  this.timeout(300_000);
  let scene: Scene;

  before(async () => {
    needMachines();
    const settings = { PLINTH_LOAD_BALANCERS: 'internal' };
    scene = await makeScene({ machines: 'embedded', world: 'hardened', settings });
  });
  after(() => scene?.close());

  it('goes by Cloud Storage to a jumpbox without a public address, whose user is of OS Login', async () => {
    const alice = await scene.caller();
    const key = join(alice.folder, 'key');
    execFileSync('ssh-keygen', ['-q', '-t', 'ed25519', '-N', '', '-f', key]);
    const file = makeExecutable(join(alice.folder, 'big-plinth'), bigBytes);
    const run = alice.start('hard', { 'remote-cli-binary': file, 'ssh-private-key-path': key });
    await shown(run, /has no user for machines at OS Login yet/);
    const { idToken } = await scene.stack.tokens(alice.email);
    const found = await fetch(`${scene.stack.url}/bootstraps?name=hard`, {
      headers: { authorization: `Bearer ${idToken}` },
    });
    const [{ projectId } = { projectId: '' }] = (await found.json()) as { projectId: string }[];
    const { PLINTH_ENDPOINT_OSLOGIN: osLogin, PLINTH_ACCESS_TOKEN: token } = alice.env;
    // As `gcloud compute os-login ssh-keys add` does.
    const brought = await fetch(`${osLogin}/v1/users/${alice.email}:importSshPublicKey?projectId=${projectId}`, {
      method: 'POST',
      headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
      body: JSON.stringify({ key: readFileSync(`${key}.pub`, 'utf8') }),
    });
    expect(brought.status, await brought.text()).to.equal(200);
    const outcome = outcomeOf(await run.ended);
    const { result } = succeeded(outcome);
    expect(uploadsIn(outcome.events).at(-1)).to.include({ state: 'sent', bytes: bigBytes });
    for (const vm of result.vms) expect(vm.externalIp, vm.name).to.equal(undefined);
    const command = ['ssh', 'hard', '--ssh-private-key-path', key, '--', 'sha256sum < /usr/local/bin/plinth'];
    const there = await runPlinth(['beta', 'bootstrap-cloud', ...command], alice);
    expect(there.stdout, there.stderr).to.include(sha256Of(file));
    expect(storedUploads(scene)).to.deep.equal([]);
  });
});
