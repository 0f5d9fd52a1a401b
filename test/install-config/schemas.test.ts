import { expect } from 'chai';
import { parse } from 'yaml';
import { InstallConfig, readInstallConfig, writeInstallConfig } from '../../shared/install-config/config.js';
import { keepOverrides } from '../../shared/install-config/edit-config.js';
import {
  encryptSecrets,
  fieldSecret,
  isDatacentersOwn,
  isWrittenByHosts,
  SecretsFile,
  sameContent,
  sameSecrets,
} from '../../shared/install-config/secrets.js';
import { Problem } from '../../shared/problems.js';
import { installConfigReference } from '../../tools/reference/install-config-reference.js';
import { keysAtHand, makeBootstrap } from './made-bootstrap.js';

describe('the schema of the install config', () => {
  let config: InstallConfig;
  before(async function () {
    await keysAtHand.call(this);
    const files = await makeBootstrap({ options: { registryType: 'local-container' } }).go();
    config = (files['dc1'] as { config: InstallConfig }).config;
  });

  /** The path of the fault that is found. */
  const fault = (change: (copy: never) => void): string | undefined => {
    const copy = structuredClone(config);
    change(copy as never);
    return InstallConfig.safeParse(copy).error?.issues[0]?.path.join('.');
  };

  it('takes what is written, and reads it back the same', () => {
    expect(readInstallConfig(writeInstallConfig(config))).to.deep.equal(config);
  });

  const cases: Record<string, [change: (config: never) => void, path: string]> = {
    'an unknown key at the top': [(c: Record<string, unknown>) => (c['stranger'] = 1), ''],
    'an unknown key deep down': [(c: { ceph: Record<string, unknown> }) => (c.ceph['stranger'] = 1), 'ceph'],
    'another version': [(c: { version: number }) => (c.version = 2), 'version'],
    'a registry type that is none': [(c: InstallConfig) => (c.registry.type = 'x' as never), 'registry.type'],
    'a local registry without its CA': [(c: InstallConfig) => delete c.registry.caCertPem, 'registry.caCertPem'],
    'a CA for another registry': [(c: InstallConfig) => (c.registry.type = 'forge1'), 'registry.caCertPem'],
    'an address that is none': [(c: InstallConfig) => (c.platform.publicIp = '300.1.1.1'), 'platform.publicIp'],
    'a server to install without a CA': [
      (c: { postgres: { caCertPem?: string } }) => delete c.postgres.caCertPem,
      'postgres.caCertPem',
    ],
    'an external server with a certificate of ours': [
      (c: { postgres: { mode: string } }) => (c.postgres.mode = 'external'),
      'postgres.primary',
    ],
    'an e-mail in capitals': [
      (c: InstallConfig) => (c.platform.clusterAdminEmail = 'Alice@example.com'),
      'platform.clusterAdminEmail',
    ],
    'a switch that is off': [(c: InstallConfig) => (c.platform.preview['x'] = false as never), 'platform.preview.x'],
    'a private key in the place of a certificate': [
      (c: InstallConfig) => (c.cluster.certificates.ca.certPem = '-----BEGIN PRIVATE KEY-----'),
      'cluster.certificates.ca.certPem',
    ],
  };
  for (const [name, [change, path]] of Object.entries(cases)) {
    it(`refuses ${name}`, () => {
      expect(fault(change)).to.equal(path);
    });
  }

  it('keeps overrides whose place is still there', () => {
    const standing = structuredClone(config);
    standing.kubernetes.override = { a: 1 };
    standing.platform.forges.forge1 = { ...standing.platform.forges.forge1, override: { b: 2 } } as never;
    const wanted = structuredClone(config);
    delete wanted.platform.forges.forge1;
    const kept = keepOverrides(wanted, standing);
    expect(kept.kubernetes.override).to.deep.equal({ a: 1 });
    expect(kept.platform.forges.forge1).to.equal(undefined);
    expect(keepOverrides(wanted, undefined)).to.equal(wanted);
  });

  it('names every fault of a file at once', () => {
    const copy = { ...config, version: 7, stranger: 1 };
    try {
      readInstallConfig(JSON.stringify(copy));
      expect.fail('it was read');
    } catch (error) {
      expect(error).to.be.instanceOf(Problem);
      expect((error as Problem).errors?.map(({ path }) => path)).to.deep.equal(['version', 'config']);
      expect((error as Problem).detail).to.include('stranger');
    }
    expect(() => readInstallConfig('a: [')).to.throw(Problem, 'not YAML');
  });
});

describe('the schema of the secrets file', () => {
  const accepted: Record<string, unknown> = {
    'no secrets': [],
    'a file': [{ name: 'a', file: { name: 'a.pem', content: 'x' } }],
    'a password': [{ name: 'a', fields: { password: 'x' } }],
    'a user and a password': [{ name: 'a', fields: { username: 'u', password: 'x' } }],
  };
  for (const [name, secrets] of Object.entries(accepted)) {
    it(`takes ${name}`, () => {
      expect(SecretsFile.safeParse({ version: 1, secrets }).success).to.equal(true);
    });
  }
  const refused: Record<string, unknown> = {
    'a secret of nothing': { version: 1, secrets: [{ name: 'a' }] },
    'a name that stands twice': { version: 1, secrets: [fieldSecret('a', '1'), fieldSecret('a', '2')] },
    'an unknown field': { version: 1, secrets: [{ name: 'a', fields: { token: 'x' } }] },
    'no version': { secrets: [] },
    'an unknown key': { version: 1, secrets: [], other: 1 },
  };
  for (const [name, file] of Object.entries(refused)) {
    it(`refuses ${name}`, () => {
      expect(SecretsFile.safeParse(file).success).to.equal(false);
    });
  }

  it('tells a datacenter’s own secrets and those of the hosts from the rest', () => {
    const all = [
      'selfSignedCaKeyPem',
      'cephSshPrivateKey',
      'kubeConfig',
      'acmeEabMacKey',
      'cephX',
      'csiX',
      'rgwX',
      'tokenPrivateKey',
    ];
    expect(all.filter(isDatacentersOwn)).to.deep.equal(all.slice(0, -1));
    expect(all.filter(isWrittenByHosts)).to.deep.equal(['kubeConfig', 'cephX', 'csiX', 'rgwX']);
  });

  it('is the same in another order, and when encrypted anew', async () => {
    const [a, b] = [fieldSecret('a', '1'), fieldSecret('b', '2', 'u')];
    const one: SecretsFile = { version: 1, secrets: [a, b] };
    const other: SecretsFile = { version: 1, secrets: [{ fields: { password: '2', username: 'u' }, name: 'b' }, a] };
    expect(sameContent(one, other)).to.equal(true);
    expect(sameContent(one, { version: 1, secrets: [a] })).to.equal(false);
    expect(sameContent(one, { version: 1, secrets: [a, fieldSecret('b', '2')] })).to.equal(false);

    const { generateX25519Identity, identityToRecipient } = await import('age-encryption');
    const identity = await generateX25519Identity();
    const means = { now: new Date(), random: (bytes: number) => crypto.getRandomValues(new Uint8Array(bytes)) };
    const encrypt = async (file: SecretsFile) => encryptSecrets(file, await identityToRecipient(identity), means);
    expect(await sameSecrets(await encrypt(one), await encrypt(other), identity)).to.equal(true);
    expect(await sameSecrets(await encrypt(one), await encrypt({ version: 1, secrets: [a] }), identity)).to.equal(
      false,
    );
  });
});

describe('the reference page of the install config', () => {
  before(keysAtHand);

  it('has a described row for every path of a config', async () => {
    const files = await makeBootstrap({
      options: {
        multiDc: true,
        oidcClientId: 'x',
        oidcIssuerUrl: 'https://id.example.com',
        vaultUri: 'https://v.example.com',
      },
    }).go();
    const page = installConfigReference();
    const rows = new Map(
      [...page.matchAll(/^\| `([^`]+)` \| .+ \| (?:yes|no) \| (.*) \|$/gm)].map((match) => [match[1], match[2]]),
    );
    const visit = (value: unknown, path: string): void => {
      if (path !== '') expect(rows.get(path), path).to.match(/\w/);
      if (Array.isArray(value)) {
        for (const item of value)
          if (typeof item === 'object')
            for (const [name, child] of Object.entries(item)) visit(child, `${path}[].${name}`);
      } else if (typeof value === 'object' && value !== null && !/(preview|features)$/.test(path)) {
        for (const [name, child] of Object.entries(value)) visit(child, path === '' ? name : `${path}.${name}`);
      }
    };
    for (const { configText } of Object.values(files)) visit(parse(configText), '');
    expect(rows.get('secrets[].fields.password')).to.match(/\w/);
    for (const [path, description] of rows) expect(description, path).to.match(/\w/);
  });
});
