/** `--custom-pg-ip`: addresses at which no server of the caller's can be, and installs that lack its values, are refused before anything is created. */
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { stringify } from 'yaml';
import { callerEnvironment } from '../../local/demo/plinth-process.js';
import { makePackage, sampleVersion } from '../../local/packages/make-package.js';
import { publishPackage } from '../../local/packages/publish.js';
import { local } from '../../local/stack/deployment.js';
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

/** One address of each range, and the name by which the refusal calls it. */
const unusable = {
  '0.0.0.0': '0.0.0.0/8 (this host)',
  '127.0.0.1': '127.0.0.0/8 (loopback)',
  '169.254.169.254': '169.254.0.0/16 (link-local)',
  '224.0.0.1': '224.0.0.0/4 (multicast)',
  '255.255.255.255': '240.0.0.0/4 (reserved)',
  '10.10.15.255': "10.10.0.0/20 (the project's subnet)",
  '100.96.0.1': '100.96.0.0/11 (pods)',
  '100.64.0.10': '100.64.0.0/13 (Kubernetes services)',
  '::': '::/128 (unspecified)',
  '::1': '::1/128 (loopback)',
  'fe80::1': 'fe80::/10 (link-local)',
  'ff02::1': 'ff00::/8 (multicast)',
  '::ffff:127.0.0.1': '127.0.0.0/8 (loopback)',
  '::ffff:a0a:1': "10.10.0.0/20 (the project's subnet)",
};

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
    for (const [address, range] of Object.entries(unusable)) {
      const words = `must be an address outside ${range}`;
      refusedWith(await alice.bootstrap('own-pg', { 'custom-pg-ip': address }), 'bad-input', `--custom-pg-ip ${words}`);
    }
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

  it('may be anywhere else; an IPv6 address is warned of, since the machines have IPv4 alone', async () => {
    const plan = async (address: string) => {
      const args = ['beta', 'bootstrap-cloud', '--dry-run', '--json', ...argsOf('own-pg', { 'custom-pg-ip': address })];
      const run = await runAt(args, alice);
      expect(run.exitCode, run.stdout + run.stderr).to.equal(0);
      return run.stderr + run.stdout;
    };
    for (const address of ['10.10.16.1', '10.9.255.255', '100.95.255.255', '192.0.2.7', '1.0.0.1']) {
      expect(await plan(address), address).not.to.include('--custom-pg-ip is an IPv6');
    }
    expect(await plan('2001:db8::1')).to.include('--custom-pg-ip is an IPv6 address');
  });

  it('is no endpoint of this machine’s either: the flags that name services refuse such hosts', async () => {
    for (const [flag, value] of [
      ['vault-uri', 'https://127.0.0.1:8200'],
      ['oidc-issuer-url', 'https://localhost/realm'],
      ['metrics-remote-write-url', 'https://[::1]/write'],
      ['central-otel-endpoint', '0.0.0.0:4317'],
      ['external-logstore-endpoint', 'https://169.254.169.254'],
      ['local-trace-endpoint', 'localhost:4317'],
    ] as const) {
      const needed: Flags = flag.startsWith('oidc') ? { 'oidc-client-id': 'x', 'oidc-client-secret': 'y' } : {};
      const outcome = await alice.bootstrap('own-pg', { ...needed, [flag]: value });
      refusedWith(outcome, 'bad-input', `--${flag} must name a host that the platform can reach`);
    }
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

    it('is refused with an install, by the command line, its check and its plan, and by the API', async () => {
      refusedWith(await alice.bootstrap('own-pg', install), 'bad-input', ...words);
      for (const preview of ['--check', '--dry-run']) {
        const run = await runAt(['beta', 'bootstrap-cloud', preview, '--json', ...argsOf('own-pg', install)], alice);
        expect(run.exitCode, run.stdout + run.stderr).to.equal(2);
        for (const word of words) expect(run.stdout, preview).to.include(word);
        if (preview === '--check') expect(outcomeOf(run).result['check']).to.nested.include({ go: false });
      }
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
