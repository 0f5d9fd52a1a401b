/** The flags whose effect is on machines: what each does there, and what dropping it on a re-run does. */
import { generateKeyPairSync } from 'node:crypto';
import { appendFileSync, copyFileSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { runPlinth } from '../../local/demo/plinth-process.js';
import { type MadePackage, makePackage } from '../../local/packages/make-package.js';
import { publishPackage } from '../../local/stack/publish-package.js';
import { flagName, type Option } from '../../shared/bootstrap/options.js';
import { openSshPair } from '../../shared/openssh.js';
import { sha256 } from '../../shared/sha256.js';
import { needMachines } from '../support/machines.js';
import { runAt } from '../support/plinth-here.js';
import {
  argsOf,
  type Caller,
  type Flags,
  makeScene,
  type Outcome,
  outcomeOf,
  type Scene,
  succeeded,
} from '../support/scene.js';
import { rows } from './flag-effects.js';

type OnMachines = { [O in Option]: (typeof rows)[O] extends { readonly by: 'machines' } ? O : never }[Option];
type Ending = 'gone' | 'this run' | 'stays';

const name = 'flags-there';

describe('the effect of flags on machines', function () {
  this.timeout(600_000);
  let scene: Scene;
  let alice: Caller;
  let made: MadePackage;
  let newer: MadePackage;
  let binary: string;

  before(async () => {
    needMachines();
    scene = await makeScene({ machines: 'embedded' });
    alice = await scene.caller();
    const packed = (version: string) => {
      const folder = join(alice.folder, version);
      mkdirSync(folder);
      return makePackage(folder, version);
    };
    made = await packed('1.0.0');
    newer = await packed('1.0.1');
    await publishPackage(scene.cloud, made);
    binary = join(alice.folder, 'own-plinth');
    copyFileSync(join('dist', 'bin', 'plinth-linux-amd64'), binary);
    // Another file, which runs as the release does.
    appendFileSync(binary, 'own');
    const pem = generateKeyPairSync('ed25519').privateKey.export({ type: 'pkcs8', format: 'pem' }) as string;
    const pair = openSshPair(pem, 'own');
    writeFileSync(join(alice.folder, 'own.pub'), `${pair.publicKey}\n`);
    writeFileSync(join(alice.folder, 'elsewhere'), pair.privateKey, { mode: 0o600 });
    writeFileSync(join(alice.folder, 'values.yaml'), 'replicas: 4711\n');
  });
  after(() => scene?.close());

  const keys = { 'ssh-public-key-path': 'own.pub', 'ssh-private-key-path': 'elsewhere' };
  const run = async (flags: Flags): Promise<Outcome> => {
    const common = { 'install-skip-steps': ['postgres'], ...flags };
    return outcomeOf(await runAt(['beta', 'bootstrap-cloud', '--json', ...argsOf(name, common)], alice));
  };
  const onJumpbox = async (...command: string[]) => {
    const words = ['beta', 'bootstrap-cloud', 'ssh', name, 'jumpbox', '--ssh-private-key-path', 'elsewhere'];
    return (await runPlinth([...words, '--ssh-public-key-path', 'own.pub', '--', ...command], alice)).stdout.trim();
  };
  const health = async () =>
    JSON.parse(await onJumpbox('curl', '--silent', 'http://127.0.0.1:8080/healthz')) as Record<string, unknown>;
  const values = () => onJumpbox('sudo', 'grep', '-rhs', '4711', '/etc', '||', 'true');
  const plinthThere = () => onJumpbox('sha256sum', '/usr/local/bin/plinth');
  const said = ({ stdout, stderr }: Outcome) => /"type":"log"/.test(stdout) || / │ /.test(stderr);

  /** By option, as it was seen. */
  const found: Partial<Record<OnMachines, Ending>> = {};

  it('all of them, and a second run without each', async () => {
    const first = {
      ...keys,
      'install-version': made.version,
      'install-hash': made.hash,
      'remote-cli-binary': binary,
      'pc-apps-values': 'values.yaml',
      'create-test-user': true,
      'ssh-quiet': true,
    } as const;
    const one = await run(first);
    succeeded(one);
    expect(await health()).to.include({ version: made.version, hash: made.hash });
    expect(await plinthThere()).to.include(sha256(readFileSync(binary)));
    expect(await values()).to.equal('replicas: 4711');
    const { token, url } = one.result['testUser'] as { token: string; url: string };
    const answer = () =>
      onJumpbox(
        'curl',
        '--silent',
        '--output',
        '/dev/null',
        '--write-out',
        '%{http_code}',
        '--header',
        `'Authorization: Bearer ${token}'`,
        url,
      );
    expect(await answer()).to.equal('200');
    expect(said(one)).to.equal(false);

    // Nothing was uploaded but by the key that was named: without it the files would not come.
    const { 'ssh-private-key-path': _, ...unnamed } = first;
    const refused = await run(unnamed);
    expect(refused.exitCode).to.equal(2);
    expect(`${refused.result.problem?.detail} ${refused.result.problem?.advice}`).to.include(
      flagName('sshPrivateKeyPath'),
    );
    found.sshPrivateKeyPath = 'this run';

    const two = await run({ ...keys, 'install-version': made.version, 'install-hash': made.hash });
    succeeded(two);
    found.remoteCliBinary = (await plinthThere()).includes(sha256(readFileSync(binary))) ? 'stays' : 'gone';
    found.pcAppsValues = (await values()) === '' ? 'gone' : 'stays';
    found.createTestUser = (await answer()) === '200' ? 'stays' : 'gone';
    found.sshQuiet = said(two) ? 'this run' : 'stays';

    const three = await run({ ...keys, 'recover-config': true });
    succeeded(three);
    expect(three.result['recovered']).not.to.deep.equal([]);
    const stays = (await health())['version'] === made.version ? 'stays' : 'gone';
    found.installVersion = stays;
    found.installHash = stays;

    const four = await run({ ...keys, 'install-local': newer.lite.path });
    succeeded(four);
    found.recoverConfig = four.result['recovered'] === undefined ? 'this run' : 'stays';
    expect(await health()).to.include({ version: newer.version });
    succeeded(await run(keys));
    found.installLocal = (await health())['version'] === newer.version ? 'stays' : 'gone';
  });

  const promised = Object.entries(rows).flatMap(([option, row]) =>
    'by' in row && row.by === 'machines' ? [[option as OnMachines, row.dropped] as const] : [],
  );
  for (const [option, dropped] of promised) {
    const ending = typeof dropped === 'string' ? dropped : `stays, as ${dropped.stays}`;
    it(`${flagName(option)}; dropped: ${ending}`, () => {
      expect(found[option]).to.equal(typeof dropped === 'string' ? dropped : 'stays');
    });
  }
});
