import { createPrivateKey, createPublicKey, X509Certificate } from 'node:crypto';
import { identityToRecipient } from 'age-encryption';
import { expect } from 'chai';
import { decryptSops as decryptWithSopsAge } from 'sops-age';
import ssh2 from 'ssh2';
import { parse } from 'yaml';
import { createKeyMaker } from '../../functions/host/keys.js';
import { realRandom } from '../../functions/host/random.js';
import { makeCaCertificate } from '../../functions/steps/config/certificates.js';
import { InstallConfig, writeInstallConfig } from '../../shared/install-config/config.js';
import {
  encryptSecrets,
  fieldSecret,
  postgresServices,
  type SecretsFile,
} from '../../shared/install-config/secrets.js';
import { sopsRecipients } from '../../shared/install-config/sops.js';
import { isPemPair } from '../../shared/openssh.js';
import { Problem } from '../../shared/problems.js';
import { type DatacenterFiles, internalIp, keysAtHand, type MadeBootstrap, makeBootstrap } from './made-bootstrap.js';
import { verifySops } from './sops-verifier.js';

const means = {
  now: new Date('2026-03-04T05:06:07Z'),
  random: (bytes: number) => crypto.getRandomValues(new Uint8Array(bytes)),
};

const dc = (files: Record<string, DatacenterFiles>, key: string): DatacenterFiles => {
  const found = files[key];
  if (found === undefined) throw new Error(`no files of ${key}`);
  return found;
};
const refusal = async (act: Promise<unknown>): Promise<Problem> => {
  try {
    await act;
  } catch (error) {
    if (error instanceof Problem) return error;
    throw error;
  }
  return expect.fail('it was accepted');
};
const names = (file: SecretsFile) => file.secrets.map(({ name }) => name).sort();
/** The caller's copy of the secrets, changed and encrypted again. */
const edited = async (bootstrap: MadeBootstrap, file: SecretsFile, edit: (secrets: SecretsFile['secrets']) => void) => {
  const copy = structuredClone(file);
  edit(copy.secrets);
  return encryptSecrets(copy, await identityToRecipient(await bootstrap.identity()), means);
};
const without = (name: string) => (secrets: SecretsFile['secrets']) => {
  secrets.splice(
    secrets.findIndex((secret) => secret.name === name),
    1,
  );
};

const generated = [
  'tokenPrivateKey',
  'tokenPublicKey',
  'domainAuthPrivateKey',
  'domainAuthPublicKey',
  'selfSignedCaKeyPem',
  'cephSshPrivateKey',
  'sshWorkspaceProxyHostKey',
  'postgresCaKeyPem',
  'postgresPrimaryServerKeyPem',
  'postgresPassword',
  'postgresReplicaPassword',
  ...postgresServices.flatMap((service) => [`postgresUser${service}`, `postgresPassword${service}`]),
  'mounterHmacSecret',
  'openFgaPresharedKey',
];

describe('the install config and the secrets file', () => {
  before(keysAtHand);

  describe('of one datacenter', () => {
    let bootstrap: MadeBootstrap;
    let files: DatacenterFiles;
    before(async () => {
      bootstrap = makeBootstrap({
        options: { registryUser: 'ada', forge1AppName: 'my app', clusterAdminEmail: 'Alice@Example.com' },
        caller: { forge1AppClientSecret: 'client-secret', forge1Pat: 'the-token' },
      });
      files = dc(await bootstrap.go(), 'dc1');
    });

    it('has this config', () => {
      const { postgres, cluster, ceph, ...rest } = files.config;
      expect(rest).to.deep.equal({
        version: 1,
        bootstrap: { id: 'b1', projectId: 'my-project-abcd1234' },
        dataCenter: { id: 1, name: 'dev' },
        secrets: { baseDir: '/etc/platform/secrets' },
        registry: { type: 'forge1', server: 'ghcr.io', replaceImagesInBom: false, loadContainerImages: false },
        kubernetes: {
          managedByPlatform: true,
          version: 'v1.31.14+k0s.0',
          apiServerHost: '10.10.0.7',
          controlPlanes: [{ hostname: 'k0s-1', ipAddress: '10.10.0.7' }],
          workers: [
            { hostname: 'k0s-1', ipAddress: '10.10.0.7' },
            { hostname: 'k0s-2', ipAddress: '10.10.0.8' },
            { hostname: 'k0s-3', ipAddress: '10.10.0.9' },
          ],
          podCidr: '100.96.0.0/11',
          serviceCidr: '100.64.0.0/13',
        },
        platform: {
          domain: 'cs.example.com',
          workspaceHostingBaseDomain: 'ws.example.com',
          sshBaseDomain: 'ssh.cs.example.com',
          publicIp: '203.0.113.2',
          certIssuer: {
            acme: { server: 'https://acme-v02.api.letsencrypt.org/directory', email: 'admin@example.com' },
          },
          internal: ['headless-services', 'vcluster', 'custom-service-image', 'ms-in-ls'],
          preview: {
            'openfga-authz': true,
            'cluster-admin': true,
            'secret-management': true,
            'sub-path-mount': true,
            'workspace-ssh': true,
            'virtual-machines': true,
          },
          features: {},
          clusterAdminEmail: 'alice@example.com',
          forges: {
            forge1: {
              enabled: true,
              url: 'https://github.com',
              apiBaseUrl: 'https://api.github.com',
              oauth: {
                clientAuthMethod: 'client_secret_post',
                redirectUri: 'https://cs.example.com/ide/auth/forge1/callback',
                installationUri: 'https://github.com/apps/my%20app/installations/new',
              },
            },
          },
          telemetry: { remoteExport: false, spanMetrics: false },
        },
        operations: { skip: [] },
      });
      expect(postgres).to.deep.include({ mode: 'install' });
      expect(postgres.primary).to.deep.include({ ip: internalIp(1), hostname: 'postgres' });
      expect(ceph).to.deep.include({
        nodesSubnet: '10.10.0.0/20',
        csiKubeletDir: '/var/lib/k0s/kubelet',
        hosts: [
          { hostname: 'ceph-1', ipAddress: '10.10.0.4', isMaster: true },
          { hostname: 'ceph-2', ipAddress: '10.10.0.5', isMaster: false },
          { hostname: 'ceph-3', ipAddress: '10.10.0.6', isMaster: false },
        ],
        osds: [
          {
            specId: 'default',
            placement: { hostPattern: '*' },
            dataDevices: { size: '50G:', limit: 1 },
            dbDevices: { size: '10G:50G', limit: 1 },
          },
        ],
      });
      expect(ceph.cephAdmSshKey.publicKey).to.match(/^ssh-rsa [A-Za-z0-9+/=]+ ceph-dc1$/);
      const { certificates, ...services } = cluster;
      expect(services).to.deep.equal({
        gateway: { serviceType: 'LoadBalancer', ipAddress: '203.0.113.1' },
        publicGateway: { serviceType: 'LoadBalancer', ipAddress: '203.0.113.2' },
        sshProxy: { serviceType: 'LoadBalancer', ipAddress: '203.0.113.3' },
        monitoring: { prometheus: { remoteWrite: { enabled: false, clusterName: 'my-project-abcd1234' } } },
        certManager: { dnsSolver: { cloudDns: { project: 'dns-project', zone: 'tool-testing' } } },
      });
      expect(certificates.ca).to.deep.include({ algorithm: 'RSA', keySizeBits: 2048 });
    });

    it('has these secrets', () => {
      expect(names(files.secrets)).to.deep.equal(
        [
          ...generated,
          'registryUsername',
          'registryPassword',
          'forge1AppClientId',
          'forge1AppClientSecret',
          'cluster-admin-email',
        ].sort(),
      );
      expect(files.value('registryUsername')).to.equal('ada');
      expect(files.value('registryPassword')).to.equal('the-token');
      expect(files.value('forge1AppClientSecret')).to.equal('client-secret');
      expect(files.value('cluster-admin-email')).to.equal('alice@example.com');
      expect(files.value('postgresUserAuth')).to.equal('auth_blue');
      expect(files.value('postgresUserUsageAggregationReader')).to.equal('usageaggregationreader_blue');
      for (const name of ['postgresPassword', 'postgresReplicaPassword', 'postgresPasswordTeam']) {
        expect(files.value(name), name).to.match(/^[A-Za-z0-9]{32}$/);
      }
      for (const name of ['mounterHmacSecret', 'openFgaPresharedKey']) {
        expect(files.value(name), name).to.match(/^[0-9a-f]{64}$/);
      }
      const values = files.secrets.secrets
        .map(({ fields }) => fields?.password)
        .filter((value) => (value?.length ?? 0) >= 32);
      expect(new Set(values).size).to.equal(values.length);
    });

    it('has keys of the right kinds, each with its other half', () => {
      const { config, value } = files;
      expect(isPemPair(value('tokenPrivateKey') ?? '', value('tokenPublicKey') ?? '')).to.equal(true);
      expect(value('tokenPrivateKey')).to.match(/^-----BEGIN PRIVATE KEY-----/);
      expect(value('tokenPublicKey')).to.match(/^-----BEGIN PUBLIC KEY-----/);
      expect(isPemPair(value('domainAuthPrivateKey') ?? '', value('domainAuthPublicKey') ?? '')).to.equal(true);
      expect(createPublicKey(value('domainAuthPublicKey') ?? '').asymmetricKeyDetails).to.deep.equal({
        namedCurve: 'prime256v1',
      });
      const ca = new X509Certificate(config.cluster.certificates.ca.certPem);
      expect(ca.ca).to.equal(true);
      expect(ca.checkPrivateKey(createPrivateKey(value('selfSignedCaKeyPem') ?? ''))).to.equal(true);
      if (config.postgres.mode !== 'install') throw new Error('not installed');
      const pgCa = new X509Certificate(config.postgres.caCertPem);
      expect(pgCa.checkPrivateKey(createPrivateKey(value('postgresCaKeyPem') ?? ''))).to.equal(true);
      const server = new X509Certificate(config.postgres.primary.sslConfig.serverCertPem);
      expect(server.verify(pgCa.publicKey)).to.equal(true);
      expect(server.checkPrivateKey(createPrivateKey(value('postgresPrimaryServerKeyPem') ?? ''))).to.equal(true);
      expect(server.checkIP(internalIp(1))).to.equal(internalIp(1));
      expect(server.checkHost('postgres')).to.equal('postgres');
    });

    it('has SSH keys that an SSH client reads', () => {
      const publicHalf = (name: string) => {
        const key = ssh2.utils.parseKey(files.value(name) ?? '');
        if (key instanceof Error) throw key;
        return `${key.type} ${key.getPublicSSH().toString('base64')}`;
      };
      const [type, blob] = files.config.ceph.cephAdmSshKey.publicKey.split(' ');
      expect(publicHalf('cephSshPrivateKey')).to.equal(`${type} ${blob}`);
      expect(publicHalf('sshWorkspaceProxyHostKey')).to.match(/^ssh-ed25519 /);
    });

    it('is encrypted for the bootstrap, in a form that others open', async () => {
      const identity = await bootstrap.identity();
      expect(sopsRecipients(files.secretsText)).to.deep.equal([await identityToRecipient(identity)]);
      expect((await verifySops(files.secretsText, identity)).macMatches).to.equal(true);
      const opened = await decryptWithSopsAge(files.secretsText, { secretKey: identity, fileType: 'yaml' });
      expect(opened).to.deep.equal(files.secrets);
    });

    it('shows no secret in an output or a file', async () => {
      const shown = [JSON.stringify(bootstrap.outputs), ...bootstrap.files.values()].join('\n');
      for (const { name, file, fields } of files.secrets.secrets) {
        if (/^(postgresUser|registryUsername|forge1AppClientId|cluster-admin-email|.*PublicKey$)/.test(name)) continue;
        const secret = fields?.password ?? (file?.content ?? '').split('\n')[3] ?? '';
        expect(secret, name).to.have.length.above(5);
        expect(shown, name).not.to.include(secret);
      }
      expect(shown).not.to.include('AGE-SECRET-KEY');
      expect(shown).not.to.include('PRIVATE KEY');
    });

    it('is left alone, to the byte, when nothing has changed', async () => {
      const runs = bootstrap.runs.length;
      const again = dc(await bootstrap.go(), 'dc1');
      expect(bootstrap.runs.length).to.equal(runs);
      expect(again.secretsText).to.equal(files.secretsText);
      expect(again.configText).to.equal(files.configText);
    });

    it('is left alone when the caller sends the same files as base', async () => {
      const { configText: config, secretsText: secrets } = files;
      const again = dc(await bootstrap.go({ base: { dc1: { config, secrets } } }), 'dc1');
      expect(again.secretsText).to.equal(files.secretsText);
      expect(again.configText).to.equal(files.configText);
    });

    it('is written at once with its machine key and identity in Secret Manager', () => {
      expect([...bootstrap.stored.keys()].sort()).to.deep.equal(['age-identity', 'machine-key', 'secrets-dc1']);
      for (const versions of bootstrap.stored.values()) expect(versions).to.have.length(1);
    });
  });

  describe('run again', () => {
    let bootstrap: MadeBootstrap;
    let files: DatacenterFiles;
    beforeEach(async () => {
      bootstrap = makeBootstrap({ caller: { forge1AppClientSecret: 'client-secret' } });
      files = dc(await bootstrap.go(), 'dc1');
    });

    it('with another PostgreSQL address renews the server certificate and nothing else', async () => {
      const again = dc(await bootstrap.go({ postgresIp: '10.10.0.99' }), 'dc1');
      if (again.config.postgres.mode !== 'install' || files.config.postgres.mode !== 'install') throw new Error('mode');
      const certificate = new X509Certificate(again.config.postgres.primary.sslConfig.serverCertPem);
      expect(certificate.checkIP('10.10.0.99')).to.equal('10.10.0.99');
      expect(certificate.checkIP(internalIp(1))).to.equal(undefined);
      expect(again.config.postgres.caCertPem).to.equal(files.config.postgres.caCertPem);
      expect(again.secretsText).to.equal(files.secretsText);
      const { postgres: _, ...rest } = again.config;
      const { postgres: __, ...before } = files.config;
      expect(rest).to.deep.equal(before);
    });

    it('with a certificate that has run out renews it', async () => {
      const again = dc(await bootstrap.go({ now: new Date('2028-06-01T00:00:00Z') }), 'dc1');
      expect(again.config.postgres).not.to.deep.equal(files.config.postgres);
      expect(again.secretsText).to.equal(files.secretsText);
    });

    it('with other flags changes what they set, and keeps every value that was made', async () => {
      const again = dc(
        await bootstrap.go({
          options: { vaultUri: 'https://vault.example.com', featureFlags: ['x'] },
          caller: { forge1AppClientSecret: 'another', vaultPassword: 'pw' },
        }),
        'dc1',
      );
      expect(again.config.platform.vault).to.deep.equal({
        uri: 'https://vault.example.com',
        engine: 'cs-secrets-engine',
        user: 'admin',
      });
      expect(again.config.platform.features).to.deep.equal({ x: true });
      expect(again.value('forge1AppClientSecret')).to.equal('another');
      expect(again.value('vaultPassword')).to.equal('pw');
      for (const name of generated) expect(again.value(name), name).to.equal(files.value(name));
    });

    it('with flags left out takes away what they wrote into both files, and nothing that a person or a host wrote', async () => {
      const dropping = makeBootstrap();
      const with_ = {
        clusterAdminEmail: 'alice@example.com',
        forge2AppClientId: 'two',
        metricsRemoteWriteUrl: 'https://metrics.example.com/write',
        metricsRemoteWriteUser: 'writer',
      };
      const caller = { forge2AppClientSecret: 'secret-of-two', metricsRemoteWritePassword: 'password-of-writer' };
      const before = dc(await dropping.go({ options: with_, caller }), 'dc1');
      const derived = ['cluster-admin-email', 'forge2AppClientId', 'forge2AppClientSecret', 'metricsRemoteWriteUser'];
      for (const name of [...derived, 'metricsRemoteWritePassword']) expect(before.value(name), name).to.be.a('string');
      const secrets = await edited(dropping, before.secrets, (all) => {
        all.push(fieldSecret('mine', 'by hand'), { name: 'kubeConfig', file: { name: 'kubeConfig', content: 'host' } });
      });
      const without = Object.fromEntries(Object.keys(with_).map((option) => [option, undefined]));
      const after = dc(await dropping.go({ options: without, caller: {}, base: { dc1: { secrets } } }), 'dc1');
      for (const name of [...derived, 'metricsRemoteWritePassword'])
        expect(after.value(name), name).to.equal(undefined);
      expect([after.value('mine'), after.value('kubeConfig')]).to.deep.equal(['by hand', 'host']);
      expect(after.config.platform.clusterAdminEmail).to.equal(undefined);
      for (const name of generated) expect(after.value(name), name).to.equal(before.value(name));
    });

    it('keeps what a person added by hand to the config', async () => {
      const config = structuredClone(files.config);
      config.platform.override = { replicas: 3 };
      config.cluster.monitoring.prometheus.override = { retention: '2d' };
      config.override = { note: 'mine' };
      const base = { dc1: { config: writeInstallConfig(config), secrets: files.secretsText } };
      const again = dc(await bootstrap.go({ base, options: { featureFlags: ['x'] } }), 'dc1');
      expect(again.config.platform.override).to.deep.equal({ replicas: 3 });
      expect(again.config.cluster.monitoring.prometheus.override).to.deep.equal({ retention: '2d' });
      expect(again.config.override).to.deep.equal({ note: 'mine' });
      expect(again.config.platform.features).to.deep.equal({ x: true });
      // From another machine, without the files: they are still there.
      expect(dc(await bootstrap.go({ base: {} }), 'dc1').config.override).to.deep.equal({ note: 'mine' });
    });

    it('keeps every byte that a person wrote into the config, and what it means where that is a comment alone', async () => {
      const hash = () => (bootstrap.outputs.at(-1) as { sha256: string }).sha256;
      const before = hash();
      const config = `# by hand\n${files.configText.replace('  version:', '  version: # of k0s\n   ')}`;
      const again = dc(await bootstrap.go({ base: { dc1: { config } } }), 'dc1');
      expect(again.configText).to.equal(config);
      expect(hash()).to.equal(before);
      const added = `${config}override: {id: 9123456789012345678, mode: 0644} # mine`;
      const more = { options: { featureFlags: ['x'] }, base: { dc1: { config: added } } };
      const edited = dc(await bootstrap.go(more), 'dc1').configText;
      expect(edited).to.equal(added.replace('  features: {}', '  features:\n    x: true'));
      expect(hash()).not.to.equal(before);
    });

    it('refuses an alias that leaves an override, by its line', async () => {
      const config = `${files.configText.replace('dataCenter:', 'dataCenter: &dc')}override:\n  name: *dc\n`;
      const problem = await refusal(bootstrap.go({ base: { dc1: { config } } }));
      expect(problem.code).to.equal('bad-input');
      expect(problem.detail).to.include(`at line ${config.trimEnd().split('\n').length}, column 9`);
    });

    it('keeps secrets that a person added, and values that a person changed', async () => {
      const secrets = await edited(bootstrap, files.secrets, (all) => {
        all.push(fieldSecret('mine', 'by hand'));
        const password = all.find(({ name }) => name === 'postgresPassword');
        if (password?.fields !== undefined) password.fields.password = 'chosen by hand';
      });
      const again = dc(await bootstrap.go({ base: { dc1: { secrets } } }), 'dc1');
      expect(again.value('mine')).to.equal('by hand');
      expect(again.value('postgresPassword')).to.equal('chosen by hand');
      expect(again.value('postgresReplicaPassword')).to.equal(files.value('postgresReplicaPassword'));
    });

    it('never lets an older copy of the caller win over what the hosts wrote', async () => {
      const recipient = await identityToRecipient(await bootstrap.identity());
      const written = structuredClone(files.secrets);
      written.secrets.push({ name: 'kubeConfig', file: { name: 'kubeConfig', content: 'new' } });
      bootstrap.files.set('secrets-dc1', await encryptSecrets(written, recipient, means));
      const secrets = await edited(bootstrap, files.secrets, (all) => {
        all.push({ name: 'kubeConfig', file: { name: 'kubeConfig', content: 'old' } });
      });
      const again = dc(await bootstrap.go({ base: { dc1: { secrets } } }), 'dc1');
      expect(again.value('kubeConfig')).to.equal('new');
    });

    describe('refuses', () => {
      const lost = {
        selfSignedCaKeyPem: 'cluster.certificates.ca.certPem',
        cephSshPrivateKey: 'ceph.cephAdmSshKey.publicKey',
        postgresCaKeyPem: 'postgres.caCertPem',
        postgresPrimaryServerKeyPem: 'postgres.primary.sslConfig.serverCertPem',
      };
      for (const [secret, path] of Object.entries(lost)) {
        it(`secrets that lost ${secret}`, async () => {
          const secrets = await edited(bootstrap, files.secrets, without(secret));
          const problem = await refusal(bootstrap.go({ base: { dc1: { config: files.configText, secrets } } }));
          expect(problem.code).to.equal('conflict');
          expect(problem.detail).to.include(`${secret} is missing in the secrets file`).and.include(path);
        });

        it(`a config that lost ${path}`, async () => {
          const tree = parse(files.configText) as Record<string, unknown>;
          const parts = path.split('.');
          const parent = parts.slice(0, -1).reduce<Record<string, unknown>>((at, name) => at[name] as typeof at, tree);
          delete parent[parts.at(-1) as string];
          const config = JSON.stringify(tree);
          const problem = await refusal(bootstrap.go({ base: { dc1: { config, secrets: files.secretsText } } }));
          expect(problem.code).to.equal('conflict');
          expect(problem.detail).to.include(`${path} is missing in the config`).and.include(secret);
        });
      }

      for (const half of ['tokenPrivateKey', 'tokenPublicKey', 'domainAuthPrivateKey']) {
        it(`secrets that lost ${half}`, async () => {
          const secrets = await edited(bootstrap, files.secrets, without(half));
          const problem = await refusal(bootstrap.go({ base: { dc1: { secrets } } }));
          expect(problem.detail).to.include(`${half} is missing`);
        });
      }

      it('a key and a certificate that do not belong together', async () => {
        const config = structuredClone(files.config);
        const stranger = await createKeyMaker().make('rsa-2048');
        config.cluster.certificates.ca.certPem = await makeCaCertificate(stranger, 'a stranger', {
          now: means.now,
          random: realRandom,
        });
        const problem = await refusal(bootstrap.go({ base: { dc1: { config: writeInstallConfig(config) } } }));
        expect(problem.detail).to.include('cluster.certificates.ca.certPem does not belong to selfSignedCaKeyPem');
      });

      it('the config of another bootstrap', async () => {
        const config = structuredClone(files.config);
        config.bootstrap = { id: 'b2', projectId: 'other-project' };
        const problem = await refusal(bootstrap.go({ base: { dc1: { config: writeInstallConfig(config) } } }));
        expect(problem.detail).to.include('belongs to the project other-project');
      });

      it('secrets that were changed by other means than sops', async () => {
        const secrets = files.secretsText.replace(/(name: )ENC\[[^\]]+\]/, '$1""');
        const problem = await refusal(bootstrap.go({ base: { dc1: { secrets } } }));
        expect(problem.code).to.equal('bad-input');
        expect(problem.detail).to.include('MAC');
      });

      it('a config with a key that it does not know, naming it', async () => {
        const config = files.configText.replace('dataCenter:', 'stranger: 1\ndataCenter:');
        const problem = await refusal(bootstrap.go({ base: { dc1: { config } } }));
        expect(problem.code).to.equal('bad-input');
        expect(problem.detail).to.include('stranger');
      });
    });

    it('after its secrets were lost in Secret Manager takes them over from the file', async () => {
      bootstrap.stored.delete('secrets-dc1');
      const again = dc(await bootstrap.go(), 'dc1');
      for (const name of generated) expect(again.value(name), name).to.equal(files.value(name));
      expect(again.config).to.deep.equal(files.config);
    });

    it('after secrets and file were lost says what is lost, and makes no new keys', async () => {
      bootstrap.stored.delete('secrets-dc1');
      bootstrap.files.delete('secrets-dc1');
      const problem = await refusal(bootstrap.go());
      expect(problem.code).to.equal('conflict');
      for (const name of ['selfSignedCaKeyPem', 'cephSshPrivateKey', 'postgresCaKeyPem']) {
        expect(problem.detail).to.include(name);
      }
      expect(bootstrap.stored.has('secrets-dc1')).to.equal(false);
    });
  });

  describe('of two datacenters', () => {
    let bootstrap: MadeBootstrap;
    let first: DatacenterFiles;
    let second: DatacenterFiles;
    before(async () => {
      bootstrap = makeBootstrap({
        options: { multiDc: true, cloudAcmeIssuer: true, installSkipSteps: ['ceph'] },
        caller: { forge1AppClientSecret: 'client-secret' },
      });
      const files = await bootstrap.go();
      [first, second] = [dc(files, 'dc1'), dc(files, 'dc2')];
    });

    it('names both in each config', () => {
      for (const { config } of [first, second]) {
        expect(config.dataCenters).to.deep.equal([
          { id: 1, name: 'dev' },
          { id: 2, name: 'dev-dc2' },
        ]);
        expect(config.defaultDataCenterId).to.equal(1);
        expect(config.platform.domain).to.equal('cs.example.com');
      }
      expect(first.config.dataCenter).to.deep.equal({ id: 1, name: 'dev' });
      expect(second.config.dataCenter).to.deep.equal({ id: 2, name: 'dev-dc2' });
      expect(first.config.platform.workspaceHostingBaseDomain).to.equal('1.ws.example.com');
      expect(second.config.platform.sshBaseDomain).to.equal('2.ssh.cs.example.com');
      expect(second.config.secrets.baseDir).to.equal('/etc/platform/secrets-dc2');
      expect(second.config.ceph.hosts.map(({ hostname }) => hostname)).to.deep.equal([
        'ceph-1-dc2',
        'ceph-2-dc2',
        'ceph-3-dc2',
      ]);
      expect(second.config.kubernetes.controlPlanes.map(({ hostname }) => hostname)).to.deep.equal(['k0s-1-dc2']);
      expect(second.config.cluster.gateway.ipAddress).to.equal('203.0.113.4');
    });

    it('shares the PostgreSQL server, which the first installs', () => {
      expect(first.config.postgres.mode).to.equal('install');
      expect(second.config.postgres).to.deep.equal({
        mode: 'external',
        caCertPem: first.config.postgres.caCertPem,
        primary: { ip: first.config.postgres.primary.ip, hostname: 'postgres' },
      });
      expect(first.config.operations.skip).to.deep.equal(['ceph']);
      expect(second.config.operations.skip).to.deep.equal(['ceph', 'postgres']);
    });

    it('shares all secrets but those of each datacenter alone', () => {
      expect(names(second.secrets)).to.deep.equal(names(first.secrets));
      const own = ['selfSignedCaKeyPem', 'cephSshPrivateKey', 'acmeEabMacKey'];
      for (const name of names(first.secrets).filter((name) => !own.includes(name))) {
        expect(second.value(name), name).to.equal(first.value(name));
      }
      expect(second.value('acmeEabMacKey')).to.equal('mac-key-dc2');
      expect(second.config.platform.certIssuer.acme.eabKeyId).to.equal('key-dc2');
      expect(second.config.ceph.cephAdmSshKey.publicKey).to.match(/ ceph-dc2$/);
      expect(second.config.cluster.certificates.ca.certPem).not.to.equal(first.config.cluster.certificates.ca.certPem);
    });

    it('copies what a person changed in the first to the second, and nothing that is its own', async () => {
      const secrets = await edited(bootstrap, first.secrets, (all) => {
        all.push(fieldSecret('mine', 'by hand'), fieldSecret('rgwKey', 'rgw'), fieldSecret('csiKey', 'csi'));
        all.push({ name: 'kubeConfig', file: { name: 'kubeConfig', content: 'dc1' } });
      });
      const again = await bootstrap.go({ base: { dc1: { secrets } } });
      expect(dc(again, 'dc2').value('mine')).to.equal('by hand');
      for (const name of ['rgwKey', 'csiKey', 'kubeConfig']) {
        expect(dc(again, 'dc1').value(name), name).not.to.equal(undefined);
        expect(dc(again, 'dc2').value(name), name).to.equal(undefined);
      }
    });
  });

  describe('with --custom-pg-ip', () => {
    it('has no CA, server pair or admin password, and says what is missing', async () => {
      const bootstrap = makeBootstrap({ options: { customPgIp: '192.0.2.7', multiDc: true } });
      const all = await bootstrap.go();
      for (const key of ['dc1', 'dc2']) {
        const { config, secrets } = dc(all, key);
        expect(config.postgres).to.deep.equal({ mode: 'external', primary: { ip: '192.0.2.7', hostname: 'postgres' } });
        expect(names(secrets)).not.to.include.members(['postgresCaKeyPem']);
        for (const name of ['postgresCaKeyPem', 'postgresPrimaryServerKeyPem', 'postgresPassword']) {
          expect(names(secrets)).not.to.include(name);
        }
      }
      expect(bootstrap.outputs.at(-1)).to.deep.include({
        missing: ['postgres.caCertPem in config-dc2.yaml', 'postgresPassword in prod-dc2.vault.yaml'],
      });

      const pem = dc(await makeBootstrap().go(), 'dc1').config.cluster.certificates.ca.certPem;
      const { config, secrets } = dc(all, 'dc1');
      const withCa = { ...config, postgres: { ...config.postgres, caCertPem: pem } };
      const base = {
        dc1: {
          config: writeInstallConfig(InstallConfig.parse(withCa)),
          secrets: await edited(
            bootstrap,
            secrets,
            (list) => void list.push(fieldSecret('postgresPassword', 'theirs')),
          ),
        },
      };
      const again = await bootstrap.go({ base });
      for (const key of ['dc1', 'dc2']) {
        expect(dc(again, key).config.postgres).to.deep.include({ mode: 'external', caCertPem: pem });
        expect(dc(again, key).value('postgresPassword')).to.equal('theirs');
      }
      expect(bootstrap.outputs.at(-1)).to.deep.include({ missing: [] });
    });
  });

  describe('with the registry', () => {
    it('on the jumpbox, has its address, CA and password', async () => {
      const bootstrap = makeBootstrap({ options: { registryType: 'local-container', multiDc: true } });
      const all = await bootstrap.go();
      for (const key of ['dc1', 'dc2']) {
        const { config, value } = dc(all, key);
        expect(config.registry).to.deep.include({
          type: 'local-container',
          server: `${internalIp(0)}:5000`,
          replaceImagesInBom: true,
          loadContainerImages: true,
        });
        expect(new X509Certificate(config.registry.caCertPem ?? '').ca).to.equal(true);
        expect(value('registryUsername')).to.equal('custom-registry');
        expect(value('registryPassword')).to.match(/^[A-Za-z0-9]{32}$/);
      }
      expect(dc(all, 'dc2').config.registry).to.deep.equal(dc(all, 'dc1').config.registry);
      expect(dc(all, 'dc2').value('registryPassword')).to.equal(dc(all, 'dc1').value('registryPassword'));
    });

    it('of the project, has its server and no password, for machines have tokens', async () => {
      const bootstrap = makeBootstrap({ options: { registryType: 'artifact-registry' } });
      const { config, value } = dc(await bootstrap.go(), 'dc1');
      expect(config.registry).to.deep.equal({
        type: 'artifact-registry',
        server: 'europe-west4-docker.pkg.dev/my-project-abcd1234/platform-registry',
        replaceImagesInBom: true,
        loadContainerImages: true,
      });
      expect(value('registryUsername')).to.equal('oauth2accesstoken');
      expect(value('registryPassword')).to.equal(undefined);
    });
  });

  describe('with the ACME authority', () => {
    const cases = {
      'default one': [{}, 'https://acme-v02.api.letsencrypt.org/directory', undefined],
      'default one, staging': [
        { acmeStaging: true },
        'https://acme-staging-v02.api.letsencrypt.org/directory',
        undefined,
      ],
      'cloud one': [{ cloudAcmeIssuer: true }, 'https://dv.acme-v02.api.pki.goog/directory', 'key-dc1'],
      'cloud one, staging': [
        { cloudAcmeIssuer: true, acmeStaging: true },
        'https://dv.acme-v02.test-api.pki.goog/directory',
        'key-dc1',
      ],
    } as const;
    for (const [name, [options, server, eabKeyId]] of Object.entries(cases)) {
      it(`the ${name}, names its directory`, async () => {
        const { config, value } = dc(await makeBootstrap({ options }).go(), 'dc1');
        expect(config.platform.certIssuer.acme).to.deep.equal({
          server,
          email: 'admin@example.com',
          ...(eabKeyId === undefined ? {} : { eabKeyId }),
        });
        expect(value('acmeEabMacKey')).to.equal(eabKeyId === undefined ? undefined : 'mac-key-dc1');
      });
    }
  });

  it('takes every provider and endpoint from the flags', async () => {
    const bootstrap = makeBootstrap({
      options: {
        forge2AppClientId: 'two',
        forge3AppClientId: 'three',
        forge4AppClientId: 'four',
        oidcClientId: 'oidc',
        oidcIssuerUrl: 'https://id.example.com',
        vaultUri: 'https://vault.example.com',
        vaultUser: 'root',
        vaultEngine: 'kv',
        centralOtelEndpoint: 'https://otel.example.com',
        centralOtelUsername: 'otel-user',
        centralOtelSpanMetrics: true,
        localTraceEndpoint: 'http://tempo:4317',
        externalLogstoreEndpoint: 'https://logs.example.com',
        externalLogstoreUser: 'logs-user',
        metricsRemoteWriteUrl: 'https://metrics.example.com/write',
        metricsRemoteWriteUser: 'metrics-user',
      },
      caller: {
        forge2AppClientSecret: 's2',
        forge3AppClientSecret: 's3',
        forge4AppClientSecret: 's4',
        oidcClientSecret: 's5',
        vaultPassword: 's6',
        centralOtelPassword: 's7',
        externalLogstoreSecret: 's8',
        metricsRemoteWritePassword: 's9',
      },
    });
    const { config, secrets, value } = dc(await bootstrap.go(), 'dc1');
    const { platform, cluster } = config;
    expect(Object.keys(platform.forges)).to.deep.equal(['forge1', 'forge2', 'forge3', 'forge4']);
    expect(platform.forges.forge2?.apiBaseUrl).to.equal('https://gitlab.com/api/v4');
    expect(platform.forges.forge3?.oauth.redirectUri).to.equal('https://cs.example.com/ide/auth/forge3/callback');
    expect(platform.oauth?.oidc).to.deep.equal({
      enabled: true,
      name: 'OIDC',
      issuerUrl: 'https://id.example.com',
      scopes: ['openid', 'profile', 'email'],
    });
    expect(platform.vault).to.deep.equal({ uri: 'https://vault.example.com', engine: 'kv', user: 'root' });
    expect(platform.telemetry).to.deep.equal({
      remoteEndpoint: 'https://otel.example.com',
      remoteUser: 'otel-user',
      remoteExport: true,
      spanMetrics: true,
      localTraceEndpoint: 'http://tempo:4317',
    });
    expect(cluster.monitoring.logs).to.deep.equal({ endpoint: 'https://logs.example.com', user: 'logs-user' });
    expect(cluster.monitoring.prometheus.remoteWrite).to.deep.equal({
      enabled: true,
      url: 'https://metrics.example.com/write',
      username: 'metrics-user',
      clusterName: 'my-project-abcd1234',
    });
    expect(value('forge2AppClientId')).to.equal('two');
    expect(value('forge4AppClientSecret')).to.equal('s4');
    expect(value('oidcClientSecret')).to.equal('s5');
    expect(value('vaultPassword')).to.equal('s6');
    expect(secrets.secrets.find(({ name }) => name === 'centralOtelCreds')?.fields).to.deep.equal({
      username: 'otel-user',
      password: 's7',
    });
    expect(value('logstorePassword')).to.equal('s8');
    expect(value('metricsRemoteWriteUser')).to.equal('metrics-user');
    expect(value('metricsRemoteWritePassword')).to.equal('s9');
  });
});
