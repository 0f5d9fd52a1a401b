/** `--recover-config`: configs and secrets of two datacenters back from the jumpbox by the caller's own key, also when plinth has lost its record. */
import { readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { homeOf } from '../../local/plinth-process.js';
import type { BootstrapView } from '../../shared/bootstrap/bootstrap.js';
import { collections } from '../../shared/names.js';
import { makeExecutable, needMachines } from '../support/machines.js';
import { type Caller, type Flags, historyOf, madeTwice, makeScene, type Scene, succeeded } from '../support/scene.js';

describe('--recover-config', function () {
  this.timeout(300_000);
  let scene: Scene;
  let alice: Caller;
  let flags: Flags;
  let made: BootstrapView;

  before(async function () {
    needMachines(this);
    scene = await makeScene({ machines: 'embedded' });
    alice = await scene.caller();
    flags = { 'multi-dc': true, 'remote-cli-binary': makeExecutable(join(alice.folder, 'own-plinth'), 50_000) };
    made = succeeded(await alice.bootstrap('recovered', flags));
  });
  after(() => scene?.close());

  const file = (name: string) => join(alice.folder, name);
  const identityFile = () => join(homeOf(alice.folder), '.config', 'plinth', 'age', `${made.id}.txt`);
  const backups = () => readdirSync(alice.folder).filter((name) => name.endsWith('.bak'));

  const configs = ['config.yaml', 'config-dc2.yaml'];
  const vaults = ['prod.vault.yaml', 'prod-dc2.vault.yaml'];
  let whole: Awaited<ReturnType<typeof held>>;
  const held = async () => ({
    configs: configs.map((name) => alice.read(name)),
    secrets: await Promise.all(vaults.map((name) => alice.secrets(name))),
  });

  it('brings all four back over what stands, keeps that as a backup, and goes on as a resume', async () => {
    whole = await held();
    for (const name of configs) writeFileSync(file(name), '{ not: [even, yaml');
    for (const name of vaults) rmSync(file(name));
    rmSync(identityFile());
    const again = await alice.bootstrap('recovered', { ...flags, 'recover-config': true });
    expect(succeeded(again).id).to.equal(made.id);
    expect(again.result.created).to.equal(false);
    expect(again.result['recovered']).to.have.lengthOf(5);
    expect(await held()).to.deep.equal(whole);
    expect(backups()).to.have.lengthOf(2);
    for (const name of backups()) expect(readFileSync(file(name), 'utf8')).to.equal('{ not: [even, yaml');
  });

  it('touches nothing where the jumpbox does not let the caller in, or the flags mean something else', async () => {
    const other = await scene.caller('alice@example.com');
    const { exitCode, result } = await other.bootstrap('recovered', { ...flags, 'recover-config': true });
    expect(exitCode).to.equal(2);
    expect(result.problem?.detail).to.include('No SSH key was found');
    expect(other.has('config.yaml')).to.equal(false);

    writeFileSync(file('config.yaml'), 'mine: true\n');
    const one = await alice.bootstrap('recovered', { 'recover-config': true });
    expect(one.exitCode).to.equal(5);
    expect(one.result.problem?.advice).to.include('--multi-dc');
    expect(alice.read('config.yaml')).to.equal('mine: true\n');
  });

  it('takes the bootstrap up again when its record is lost: the same project and secrets, nothing made twice', async () => {
    const { store } = scene.stack.functionsHalf ?? {};
    const lost = await Promise.all(
      [collections.bootstraps, collections.names].map((collection) => store?.query({ collection })),
    );
    await store?.commit(
      lost.flatMap((found) => (found ?? []).map(({ collection, id }) => ({ kind: 'delete', collection, id }))),
    );
    const before = backups().length;
    for (const name of vaults) rmSync(file(name));
    rmSync(identityFile());

    const [key, publicKey] = ['id_ed25519', 'id_ed25519.pub'].map((name) =>
      join(homeOf(alice.folder), '.config', 'plinth', 'ssh', name),
    );
    const bob = await scene.caller('bob@example.com');
    const keys = { 'ssh-private-key-path': key, 'ssh-public-key-path': publicKey };
    const refused = await bob.bootstrap('recovered', { ...flags, ...keys, 'recover-config': true });
    expect(refused.result.problem).to.deep.include({ code: 'forbidden' });

    const again = await alice.bootstrap('recovered', { ...flags, 'recover-config': true });
    expect(succeeded(again)).to.include({ id: made.id, projectId: made.projectId });
    // Labels hold whole seconds.
    const second = ({ deadlineAt }: BootstrapView) => Math.floor(Date.parse(deadlineAt) / 1000);
    expect(second(succeeded(again))).to.equal(second(made));
    expect(again.result.created).to.equal(false);
    expect(again.result['recovered']).to.have.lengthOf(5);
    expect(await held()).to.deep.equal(whole);
    expect(backups()).to.have.lengthOf(before + 1);
    expect(madeTwice(historyOf(scene.cloud))).to.deep.equal([]);

    // From here on it is a bootstrap as any other.
    const resumed = await alice.bootstrap('recovered', flags);
    expect(succeeded(resumed).id).to.equal(made.id);
    expect((await alice.plinth('list')).stdout).to.include(made.projectId);
  });

  it('finds no project that does not bear our proof', async () => {
    const stranger = await alice.bootstrap('plinth-local', { 'recover-config': true });
    expect(stranger.exitCode).to.equal(4);
    expect(stranger.result.problem?.detail).to.include('without a record');
  });
});
