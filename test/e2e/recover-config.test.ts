/** `--recover-config`: config and secrets back from the jumpbox by the caller's own key, also when plinth has lost its record. */
import { readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { homeOf } from '../../local/plinth-process.js';
import type { BootstrapView } from '../../shared/bootstrap/bootstrap.js';
import { collections } from '../../shared/names.js';
import { makeExecutable, needMachines } from '../support/machines.js';
import { type Caller, type Flags, makeScene, type Scene, succeeded } from '../support/scene.js';

describe('--recover-config', function () {
  this.timeout(120_000);
  let scene: Scene;
  let alice: Caller;
  let flags: Flags;
  let made: BootstrapView;

  before(async function () {
    needMachines(this);
    scene = await makeScene({ machines: 'embedded' });
    alice = await scene.caller();
    flags = { 'remote-cli-binary': makeExecutable(join(alice.folder, 'own-plinth'), 50_000) };
    made = succeeded(await alice.bootstrap('recovered', flags));
  });
  after(() => scene?.close());

  const file = (name: string) => join(alice.folder, name);
  const identityFile = () => join(homeOf(alice.folder), '.config', 'plinth', 'age', `${made.id}.txt`);
  const backups = () => readdirSync(alice.folder).filter((name) => name.endsWith('.bak'));

  it('brings them back over what stands, keeps that as a backup, and goes on as a resume', async () => {
    const [config, secrets] = [alice.read('config.yaml'), await alice.secrets()];
    writeFileSync(file('config.yaml'), '{ not: [even, yaml');
    rmSync(file('prod.vault.yaml'));
    rmSync(identityFile());
    const again = await alice.bootstrap('recovered', { ...flags, 'recover-config': true });
    expect(succeeded(again).id).to.equal(made.id);
    expect(again.result.created).to.equal(false);
    expect(alice.read('config.yaml')).to.equal(config);
    expect(await alice.secrets()).to.deep.equal(secrets);
    expect(backups()).to.have.lengthOf(1);
    expect(readFileSync(file(backups()[0] ?? ''), 'utf8')).to.equal('{ not: [even, yaml');
  });

  it('touches nothing where the jumpbox does not let the caller in', async () => {
    const other = await scene.caller('alice@example.com');
    const { exitCode, result } = await other.bootstrap('recovered', { 'recover-config': true });
    expect(exitCode).to.equal(2);
    expect(result.problem?.detail).to.include('No SSH key was found');
    expect(other.has('config.yaml')).to.equal(false);
  });

  it('works when the record is lost, for a project that bears our proof, and for no other', async () => {
    const store = scene.stack.functionsHalf?.store;
    const documents = await store?.query({ collection: collections.bootstraps });
    const names = await store?.query({ collection: collections.names });
    await store?.commit(
      [...(documents ?? []), ...(names ?? [])].map(({ collection, id }) => ({ kind: 'delete', collection, id })),
    );
    const config = alice.read('config.yaml');
    for (const name of ['config.yaml', 'prod.vault.yaml']) rmSync(file(name));
    rmSync(identityFile());
    const { exitCode, result, stderr } = await alice.bootstrap('recovered', { ...flags, 'recover-config': true });
    expect(exitCode, stderr).to.equal(0);
    expect(result['recovered']).to.have.lengthOf(3);
    expect(alice.read('config.yaml')).to.equal(config);
    expect((await alice.secrets()).secrets.length).to.be.greaterThan(5);

    const stranger = await alice.bootstrap('plinth-local', { 'recover-config': true });
    expect(stranger.exitCode).to.equal(4);
    expect(stranger.result.problem?.detail).to.include('without a record');
  });
});
