/** `--recover-config`: configs and secrets of two datacenters back from the jumpbox by the caller's own key, also when plinth has lost its record. */
import { generateKeyPairSync } from 'node:crypto';
import { readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { generateX25519Identity, identityToRecipient } from 'age-encryption';
import { expect } from 'chai';
import { homeOf, runPlinth } from '../../local/demo/plinth-process.js';
import type { BootstrapView } from '../../shared/bootstrap/bootstrap.js';
import { decryptSecrets, findSecret } from '../../shared/install-config/secrets.js';
import { encryptSops, type SopsTree } from '../../shared/install-config/sops.js';
import { collections } from '../../shared/names.js';
import { openSshPair } from '../../shared/openssh.js';
import { makeExecutable, needMachines } from '../support/machines.js';
import { runAt } from '../support/plinth-here.js';
import {
  type Caller,
  clientSecret,
  type Flags,
  historyOf,
  madeTwice,
  makeScene,
  type Scene,
  succeeded,
} from '../support/scene.js';

/** Takes the tests that are for the night alone: `it`, or nothing. */
type ByNight = (title: string, test: () => Promise<void>) => void;

export function recoversConfigs(byNight: ByNight): void {
  describe('--recover-config', function () {
    this.timeout(300_000);
    let scene: Scene;
    let alice: Caller;
    let flags: Flags;
    let made: BootstrapView;

    before(async () => {
      needMachines();
      scene = await makeScene({ machines: 'embedded' });
      alice = await scene.caller();
      makeExecutable(join(alice.folder, 'own-plinth'), 50_000);
      flags = {
        'multi-dc': true,
        'remote-cli-binary': 'own-plinth',
        zone: 'us-central1-b',
        'secrets-dir': '/etc/mine',
        'vault-uri': 'https://vault.example.com',
        'vault-password': 'planted-vault-0815',
        'project-ttl': '5h',
      };
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

    it('finds there, byte for byte, what a person wrote into the configs here', async () => {
      for (const [index, name] of configs.entries()) {
        const override = `override:   # of ours\n      id: 912345678901234567${index}\n      mode: {file: 0644, version: 1.10}`;
        writeFileSync(file(name), `# by hand\r\n${alice.read(name)}${override}`);
      }
      const edited = configs.map((name) => alice.read(name));
      const again = await alice.bootstrap('recovered', flags);
      succeeded(again);
      expect(again.stderr)
        .to.match(/config\.yaml .*leading 0/)
        .and.to.match(/config-dc2\.yaml .*leading 0/);
      expect(configs.map((name) => alice.read(name))).to.deep.equal(edited);
      expect(await Promise.all(configs.map((name) => onJumpbox(`cat /etc/platform/${name}`)))).to.deep.equal(edited);
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

    /** What the command requires, with a secret that nobody remembers. */
    const five: Flags = { 'registry-user': undefined, 'forge1-app-client-secret': 'dummy-secret-4712' };

    it('needs only what is required, a dummy secret among it, and changes nothing of what it recovers', async () => {
      for (const name of [...configs, ...vaults]) rmSync(file(name));
      const again = await alice.bootstrap('recovered', {
        ...five,
        'base-domain': 'other.example.com',
        'recover-config': true,
      });
      expect(succeeded(again).options).to.deep.equal(made.options);
      expect(again.result.changes).to.deep.equal([]);
      expect(again.result['notApplied']).to.deep.equal(['--base-domain', '--forge1-app-client-secret']);
      expect(again.stderr).to.match(/cannot change while the project exists: --base-domain\n/);
      expect(again.stderr).to.match(/not applied: --forge1-app-client-secret\..*PLINTH_FORGE1_APP_CLIENT_SECRET/);
      for (const secret of ['dummy-secret-4712', clientSecret, 'planted-vault-0815']) {
        expect(again.stderr + again.stdout).to.not.include(secret);
      }
      expect(await held()).to.deep.equal(whole);
      const identity = (await onJumpbox('cat /etc/mine/age_key.txt')).trim();
      const { secrets } = await decryptSecrets(await onJumpbox(`cat ${there}`), identity);
      expect(findSecret({ version: 1, secrets }, 'forge1AppClientSecret')?.fields?.password).to.equal(clientSecret);
    });

    byNight('shows the command that applies what was given with another value', async () => {
      const other = { 'registry-user': undefined, 'feature-flags': ['one', 'two words'], 'project-ttl': '7h' };
      const again = await alice.bootstrap('recovered', { ...other, 'recover-config': true });
      expect(succeeded(again).options).to.deep.equal(made.options);
      expect(again.result['notApplied']).to.deep.equal(['--project-ttl', '--feature-flags']);
      const command = /then run: plinth (.*)$/m.exec(again.stderr)?.[1] ?? '';
      const words = [...command.matchAll(/(?:[^\s']|'[^']*')+/g)].map(([word]) => word.replaceAll("'", ''));
      const applied = await runAt([...words, '--json'], alice);
      expect(applied.exitCode, applied.stderr).to.equal(0);
      const view = await scene.view(made.id);
      expect(view.options).to.deep.equal({ ...made.options, projectTtl: '7h', featureFlags: ['one', 'two words'] });
      made = view;
      whole = await held();
    });

    byNight('is looked at by --check: with what would be recovered, and with what would not be applied', async () => {
      rmSync(file('config.yaml'));
      const looked = await alice.bootstrap('recovered', {
        ...five,
        'base-domain': 'other.example.com',
        'recover-config': true,
        check: true,
      });
      expect(looked.exitCode, looked.stderr).to.equal(0);
      const { check } = looked.result as unknown as { check: { findings: { code: string; what: string }[] } };
      const what = check.findings.find(({ code }) => code === 'files')?.what;
      expect(what)
        .to.match(/not applied: --forge1-app-client-secret/)
        .and.to.match(/project exists: --base-domain/);
      expect(looked.stdout + looked.stderr).to.not.match(/dummy-secret-4712|planted-vault-0815/);
      const strictly = await alice.bootstrap('recovered', {
        ...five,
        'recover-config': true,
        check: true,
        strict: true,
      });
      expect([strictly.exitCode, strictly.result.problem?.code]).to.deep.equal([2, 'bad-input']);
      expect(alice.has('config.yaml')).to.equal(false);
      succeeded(await recovery());
    });

    byNight('refuses with --strict what it would not apply, before anything is written', async () => {
      rmSync(file('config.yaml'));
      const refused = await alice.bootstrap('recovered', { ...five, 'recover-config': true, strict: true });
      expect([refused.exitCode, refused.result.problem?.code]).to.deep.equal([2, 'bad-input']);
      expect(refused.result.problem?.detail).to.include('--forge1-app-client-secret');
      expect(alice.has('config.yaml')).to.equal(false);
      succeeded(await recovery());
    });

    byNight('keeps to a plan that was agreed to, and brings nothing back where it no longer fits', async () => {
      const before = backups().length;
      const apply = (plan: string) => ({ ...five, 'recover-config': true, apply: plan }) as const;
      const changing = { ...five, 'recover-config': undefined, plan: 'changing.json' } as const;
      expect((await alice.bootstrap('recovered', { ...flags, ...changing })).exitCode).to.equal(0);
      rmSync(file('config.yaml'));
      const refused = await alice.bootstrap('recovered', apply('changing.json'));
      expect([refused.exitCode, refused.result.problem?.code]).to.deep.equal([5, 'precondition-failed']);
      expect(alice.has('config.yaml')).to.equal(false);
      const written = await alice.bootstrap('recovered', { ...five, 'recover-config': true, plan: 'agreed.json' });
      expect(written.exitCode, written.stderr).to.equal(0);
      expect(backups()).to.have.lengthOf(before);
      const again = await alice.bootstrap('recovered', apply('agreed.json'));
      expect(succeeded(again).id).to.equal(made.id);
      expect(again.result['recovered']).to.have.lengthOf(4);
      expect(await held()).to.deep.equal(whole);
      for (const name of backups()) rmSync(file(name));
    });

    const there = '/etc/mine/prod.vault.yaml';
    const onJumpbox = async (script: string): Promise<string> => {
      const words = ['ssh', 'recovered', 'jumpbox', '--', 'sudo', 'bash', '-c', `'${script}'`];
      const { stdout, stderr, exitCode } = await runPlinth(['beta', 'bootstrap-cloud', ...words], alice);
      expect(exitCode, stderr).to.equal(0);
      return stdout;
    };
    const recovery = () => alice.bootstrap('recovered', { ...flags, 'recover-config': true });

    it('names the file there that was tampered with or is no identity, and so does a run that writes it anew', async () => {
      await onJumpbox(`cp ${there} /root/whole; sed -i /^version:/d ${there}`);
      const tampered = await recovery();
      expect(tampered.exitCode).to.equal(5);
      expect(tampered.result.problem?.detail).to.include(
        `${there} on the jumpbox of recovered cannot be read: its MAC`,
      );
      expect(tampered.result.problem?.detail).to.not.include('identity');
      const resumed = await alice.bootstrap('recovered', flags);
      expect(resumed.exitCode).to.not.equal(0);
      expect(JSON.stringify(resumed.result)).to.include(`${there} on the jumpbox cannot be read: its MAC`);

      const identity = '/etc/mine/age_key.txt';
      await onJumpbox(`cp /root/whole ${there}; cp ${identity} /root/key; echo AGE-SECRET-KEY-nothing >${identity}`);
      const unreadable = await recovery();
      expect(unreadable.result.problem?.detail).to.include(
        `${identity} on the jumpbox of recovered: line 1 is not a whole age identity`,
      );
      await onJumpbox(`{ printf "# edited\\r\\n"; sed "s/$/\\r/" /root/key; } >${identity}`);
      succeeded(await recovery());
      await onJumpbox(`cp /root/key ${identity}`);
    });

    byNight('says that what it keeps as a backup is in clear', async () => {
      writeFileSync(file('prod.vault.yaml'), 'version: 1\nsecrets: []\n');
      const again = await recovery();
      succeeded(again);
      whole = await held();
      const recovered = again.result['recovered'] as { path: string; backup?: string; inClear?: boolean }[];
      expect(recovered.filter(({ inClear }) => inClear)).to.have.lengthOf(1);
      for (const name of backups().filter((each) => each.startsWith('prod.vault'))) rmSync(file(name));
    });

    it('touches nothing where the jumpbox does not let the caller in', async () => {
      const other = await scene.caller('alice@example.com');
      const { exitCode, result } = await other.bootstrap('recovered', { ...five, 'recover-config': true });
      expect(exitCode).to.equal(2);
      expect(result.problem?.detail).to.include('No SSH key was found');
      expect(other.has('config.yaml')).to.equal(false);

      const pem = generateKeyPairSync('ed25519').privateKey.export({ format: 'pem', type: 'pkcs8' });
      const { privateKey, publicKey } = openSshPair(String(pem), 'of another day');
      const path = join(other.folder, 'id_ed25519');
      writeFileSync(path, privateKey, { mode: 0o600 });
      writeFileSync(`${path}.pub`, `${publicKey}\n`);
      const strange = { 'recover-config': true, 'ssh-private-key-path': path } as const;
      const refused = await other.bootstrap('recovered', { ...five, ...strange });
      expect(refused.exitCode, refused.stderr).to.equal(3);
      const { detail, advice } = refused.result.problem ?? {};
      expect(detail).to.include('refused').and.to.include(`${path}.pub`);
      expect(advice).to.include('--ssh-private-key-path').and.not.to.include('minute');
      expect(other.has('config.yaml')).to.equal(false);
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
      writeFileSync(file('config.yaml'), 'mine: true\n');
      for (const name of vaults) rmSync(file(name));
      rmSync(identityFile());

      const [key, publicKey] = ['id_ed25519', 'id_ed25519.pub'].map((name) =>
        join(homeOf(alice.folder), '.config', 'plinth', 'ssh', name),
      );
      const bob = await scene.caller('bob@example.com');
      const keys = { 'ssh-private-key-path': key, 'ssh-public-key-path': publicKey };
      const refused = await bob.bootstrap('recovered', { ...five, ...keys, 'recover-config': true });
      expect(refused.result.problem).to.deep.include({ code: 'forbidden' });

      const again = await alice.bootstrap('recovered', { ...five, 'recover-config': true });
      expect(succeeded(again)).to.include({ id: made.id, projectId: made.projectId, zone: made.zone });
      expect(succeeded(again).options).to.deep.equal(made.options);
      expect(again.result['notApplied']).to.deep.equal(['--forge1-app-client-secret']);
      // Labels hold whole seconds.
      const second = ({ deadlineAt }: BootstrapView) => Math.floor(Date.parse(deadlineAt) / 1000);
      expect(second(succeeded(again))).to.equal(second(made));
      expect(again.result.created).to.equal(false);
      expect(again.result['recovered']).to.have.lengthOf(5);
      expect(await held()).to.deep.equal(whole);
      expect(backups()).to.have.lengthOf(before + 1);
      expect(madeTwice(historyOf(scene.cloud))).to.deep.equal([]);

      // From here on it is a bootstrap as any other.
      const resumed = await alice.bootstrap('recovered', { ...flags, 'feature-flags': ['one', 'two words'] });
      expect(succeeded(resumed).id).to.equal(made.id);
      expect((await alice.plinth('list')).stdout).to.include(made.projectId);
    });

    byNight('keeps the second recipient of the file there when it is written anew', async () => {
      const identity = (await onJumpbox('cat /etc/mine/age_key.txt')).trim();
      const colleague = await identityToRecipient(await generateX25519Identity());
      const { secrets } = await decryptSecrets(await onJumpbox(`cat ${there}`), identity);
      const means = { now: new Date(), random: (bytes: number) => crypto.getRandomValues(new Uint8Array(bytes)) };
      const tree = { version: 1, secrets } as SopsTree;
      const text = await encryptSops(tree, [colleague, await identityToRecipient(identity)], means);
      await onJumpbox(`rm ${there}`);
      // A command has 32 KiB at most.
      for (const part of text.match(/[\s\S]{1,9000}/g) ?? []) {
        await onJumpbox(`echo ${Buffer.from(part).toString('base64')} | base64 -d >>${there}`);
      }
      succeeded(await alice.bootstrap('recovered', { ...flags, 'vault-password': 'of-the-vault' }));
      const written = await onJumpbox(`cat ${there}`);
      expect(written).to.include(`recipient: ${colleague}`);
      expect(JSON.stringify(await decryptSecrets(written, identity))).to.include('of-the-vault');
    });

    it('finds no project that does not bear our proof', async () => {
      const stranger = await alice.bootstrap('plinth-local', { 'recover-config': true });
      expect(stranger.exitCode).to.equal(4);
      expect(stranger.result.problem?.detail).to.include('can be recovered');
    });
  });
}
