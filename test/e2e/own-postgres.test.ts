/** `--custom-pg-ip`: addresses at which no server of the caller's can be, and installs that lack its values, are refused before anything is created. */
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { stringify } from 'yaml';
import { callerEnvironment } from '../../local/demo/plinth-process.js';
import { makePackage, sampleVersion } from '../../local/packages/make-package.js';
import { local } from '../../local/stack/deployment.js';
import { publishPackage } from '../../local/stack/publish-package.js';
import { runAt } from '../support/plinth-here.js';
import {
  argsOf,
  type Caller,
  changesIn,
  clientSecret,
  domainOf,
  type Flags,
  makeScene,
  outcomeOf,
  refusedWith,
  type Scene,
} from '../support/scene.js';

describe('a PostgreSQL server of the caller’s own', function () {
  this.timeout(120_000);
  let scene: Scene;
  let alice: Caller;
  let since: number;
  before(async () => {
    const PLINTH_RELEASE_SHA256 = '0'.repeat(64);
    const PLINTH_RELEASES_URL = 'https://mirror.example.com';
    scene = await makeScene({ settings: { PLINTH_HOSTS: 'on', PLINTH_RELEASES_URL, PLINTH_RELEASE_SHA256 } });
    alice = await scene.caller();
    await publishPackage(scene.cloud, await makePackage(alice.folder));
  });
  after(() => scene?.close());
  beforeEach(() => {
    since = scene.cloud.calls.last();
  });
  afterEach(() => expect(changesIn(scene.cloud, since)).to.deep.equal([]));

  const begin = async (options: Readonly<Record<string, unknown>>) => {
    const { idToken } = await scene.stack.tokens(alice.email);
    const reply = await fetch(`${scene.stack.url}/bootstraps`, {
      method: 'POST',
      headers: { authorization: `Bearer ${idToken}`, 'content-type': 'application/json' },
      body: JSON.stringify({
        options: {
          projectName: 'by-api',
          billingAccount: local.billingAccount,
          baseDomain: domainOf('by-api'),
          forge1AppClientId: 'client-id',
          forge1AppClientSecret: clientSecret,
          ...options,
        },
        sshPublicKey: 'ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIOMqqnkVzrm0SdG6UOoqKLsabgH5C9okWi0dh2l9GKJl',
      }),
    });
    return { status: reply.status, text: await reply.text() };
  };

  it('has no address that leads to no other server: refused by flag, in plinth.yaml and by the API', async () => {
    const words = '--custom-pg-ip must be an address outside 0.0.0.0/8 (this host)';
    refusedWith(await alice.bootstrap('own-pg', { 'custom-pg-ip': '0.0.0.0' }), 'bad-input', words);
    const folder = join(alice.folder, 'own-pg');
    mkdirSync(folder);
    const keys = {
      'project-name': 'own-pg',
      'billing-account': local.billingAccount,
      'base-domain': domainOf('own-pg'),
      'forge1-app-client-id': 'client-id',
      'forge1-app-client-secret': { env: 'PLINTH_FORGE1_APP_CLIENT_SECRET' },
      'custom-pg-ip': '10.10.0.2',
    };
    writeFileSync(join(folder, 'plinth.yaml'), stringify(keys));
    const up = await runAt(['up', '--yes', '--json'], {
      folder,
      env: callerEnvironment({ folder: alice.folder, env: alice.env }),
    });
    expect(up.exitCode, up.stdout + up.stderr).to.equal(2);
    expect(up.stdout + up.stderr).to.include("must be an address outside 10.10.0.0/20 (the project's subnet)");
    const sent = await begin({ customPgIp: '127.0.0.1' });
    expect(sent.status, sent.text).to.equal(400);
    expect(sent.text).to.include('must be an address outside 127.0.0.0/8 (loopback)');
  });

  it('at an IPv6 address is warned of, since the machines have IPv4 alone', async () => {
    const args = argsOf('own-pg', { 'custom-pg-ip': '2001:db8::1' });
    const run = await runAt(['beta', 'bootstrap-cloud', '--dry-run', '--json', ...args], alice);
    expect(run.exitCode, run.stdout + run.stderr).to.equal(0);
    expect(run.stderr).to.include('--custom-pg-ip is an IPv6 address');
  });

  it('is no endpoint of this machine’s either: the flags that name services refuse such hosts', async () => {
    const flags: Flags = {
      'vault-uri': 'https://127.0.0.1:8200',
      'oidc-issuer-url': 'https://localhost/realm',
      'metrics-remote-write-url': 'https://[::1]/write',
      'central-otel-endpoint': '0.0.0.0:4317',
      'external-logstore-endpoint': 'https://169.254.169.254',
      'local-trace-endpoint': 'localhost:4317',
    };
    const words = Object.keys(flags).map((flag) => `--${flag} must name a host that the platform can reach`);
    refusedWith(await alice.bootstrap('own-pg', flags), 'bad-input', ...words);
  });

  describe('whose certificate and password are in no file yet', () => {
    const install: Flags = {
      'custom-pg-ip': '10.99.0.7',
      'install-version': sampleVersion,
      'registry-type': 'artifact-registry',
    };
    const words = [
      '--custom-pg-ip and --install-version',
      ...['postgres.caCertPem in config.yaml', 'postgresPassword in prod.vault.yaml'],
      ...['without --install-version', 'then run it with --install-version'],
    ];

    it('is refused with an install, by the command line, its check and the API, and a plan warns of it', async () => {
      refusedWith(await alice.bootstrap('own-pg', install), 'bad-input', ...words);
      const preview = async (flag: string) => {
        const run = await runAt(['beta', 'bootstrap-cloud', flag, '--json', ...argsOf('own-pg', install)], alice);
        for (const word of words) expect(run.stdout, flag).to.include(word);
        return run;
      };
      const checked = await preview('--check');
      expect(checked.exitCode, checked.stdout).to.equal(2);
      expect(outcomeOf(checked).result['check']).to.nested.include({ go: false });
      // A plan makes nothing in any case.
      const planned = await preview('--dry-run');
      expect(planned.exitCode, planned.stdout).to.equal(0);
      const sent = await begin({
        customPgIp: '10.99.0.7',
        installVersion: sampleVersion,
        registryType: 'artifact-registry',
      });
      expect(sent.status, sent.text).to.equal(400);
      for (const word of words) expect(sent.text).to.include(word);
    });

    it('is taken where the install skips the step postgres', async () => {
      const skipping = { ...install, 'install-skip-steps': ['postgres'] };
      const run = await runAt(['beta', 'bootstrap-cloud', '--dry-run', '--json', ...argsOf('own-pg', skipping)], alice);
      expect(run.exitCode, run.stdout + run.stderr).to.equal(0);
    });
  });
});
