import { expect } from 'chai';
import type { GivenFlags } from '../../shared/bootstrap/options.js';
import { checkOptions } from '../../shared/bootstrap/rules.js';
import { Problem } from '../../shared/problems.js';
import { acceptOptions } from '../support/accept-options.js';

const five = {
  projectName: 'demo',
  billingAccount: '012345-6789AB-CDEF01',
  baseDomain: 'demo.example.com',
  forge1AppClientId: 'client',
  forge1AppClientSecret: 'planted-secret',
} as const satisfies GivenFlags;
/** Without the warning that the five alone have. */
const quiet = { ...five, registryUser: 'alice' } as const;

interface Case {
  readonly name: string;
  readonly given: GivenFlags;
  /** Flags that are refused, and no others. */
  readonly refused?: readonly string[];
  /** Flags that are warned of, and no others. */
  readonly warned?: readonly string[];
}

const oidc = { oidcClientId: 'id', oidcClientSecret: 'oidc-secret', oidcIssuerUrl: 'https://id.example.com' };
const team = { forge1TeamOrg: 'org', forge1TeamSlug: 'slug', forge1Pat: 'token-1' };

const cases: readonly Case[] = [
  { name: 'the five required flags alone', given: five, warned: ['--registry-user'] },
  ...(['projectName', 'billingAccount', 'baseDomain', 'forge1AppClientId', 'forge1AppClientSecret'] as const).flatMap(
    (option): Case[] => {
      const { [option]: _, ...rest } = quiet;
      const flag = `--${option.replaceAll(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)}`;
      return [
        { name: `without ${flag}`, given: rest, refused: [flag] },
        { name: `with an empty ${flag}`, given: { ...quiet, [option]: '' }, refused: [flag] },
      ];
    },
  ),
  {
    name: 'airgapped with another registry type given',
    given: { ...quiet, airgapped: true, registryType: 'forge1' },
    refused: ['--registry-type'],
  },
  { name: 'airgapped with the default registry type', given: { ...five, airgapped: true } },
  {
    name: 'airgapped with local-container given',
    given: { ...five, airgapped: true, registryType: 'local-container' },
  },
  {
    name: 'airgapped=false with another type',
    given: { ...five, airgapped: false, registryType: 'artifact-registry' },
  },
  { name: 'preemptible and spot', given: { ...quiet, preemptible: true, spotVms: true }, refused: ['--preemptible'] },
  { name: 'preemptible, spot=false', given: { ...quiet, preemptible: true, spotVms: false } },
  {
    name: 'multi-dc and datacenter id',
    given: { ...quiet, multiDc: true, datacenterId: 2 },
    refused: ['--datacenter-id'],
  },
  {
    name: 'multi-dc and datacenter id 1',
    given: { ...quiet, multiDc: true, datacenterId: 1 },
    refused: ['--datacenter-id'],
  },
  { name: 'multi-dc=false and datacenter id', given: { ...quiet, multiDc: false, datacenterId: 3 } },
  {
    name: 'an unknown registry type',
    given: { ...quiet, registryType: 'elsewhere' as 'forge1' },
    refused: ['--registry-type'],
  },
  {
    name: 'an unknown registry type, no user',
    given: { ...five, registryType: 'elsewhere' as 'forge1', installHash: 'h' },
    refused: ['--registry-type'],
  },
  {
    name: 'airgapped with registry type forge1 given, no user',
    given: { ...five, airgapped: true, registryType: 'forge1', installHash: 'h' },
    refused: ['--registry-type'],
  },
  {
    name: 'registry type forge1 given, no user',
    given: { ...five, registryType: 'forge1' },
    refused: ['--registry-user'],
  },
  { name: 'artifact-registry, no user', given: { ...five, registryType: 'artifact-registry' } },
  { name: 'local-container, nothing installed', given: { ...five, registryType: 'local-container' } },
  {
    name: 'forge1 by default with an install, no user, no token',
    given: { ...five, installVersion: 'v1' },
    refused: ['--registry-user'],
    warned: ['--forge1-pat'],
  },
  {
    name: 'local-container with an install, no user, no token',
    given: { ...five, registryType: 'local-container', installHash: 'h' },
    refused: ['--registry-user', '--forge1-pat'],
  },
  {
    name: 'an install airgapped',
    given: { ...five, airgapped: true, installHash: 'h', registryUser: 'u', forge1Pat: 'token-1' },
  },
  {
    name: 'an install airgapped, no user, no token',
    given: { ...five, airgapped: true, installHash: 'h' },
    refused: ['--registry-user', '--forge1-pat'],
  },
  {
    name: 'artifact-registry with an install, no user, no token',
    given: { ...five, registryType: 'artifact-registry', installVersion: '1' },
  },
  ...(['artifact-registry', 'local-container'] as const).flatMap((registryType): Case[] => [
    {
      name: `${registryType}, nothing installed, with a user and a token`,
      given: { ...quiet, registryType, forge1Pat: 'token-1' },
      warned: ['--registry-user', '--forge1-pat'],
    },
    { name: `${registryType}, nothing installed, with a team`, given: { ...five, registryType, ...team } },
  ]),
  {
    name: 'artifact-registry with an install, a user and a token',
    given: { ...quiet, registryType: 'artifact-registry', installVersion: '1', forge1Pat: 'token-1' },
    warned: ['--registry-user', '--forge1-pat'],
  },
  { name: 'forge1, nothing installed, with a token', given: { ...quiet, forge1Pat: 'token-1' } },
  ...['9m', '599s', '30d1s', '721h'].map(
    (projectTtl): Case => ({
      name: `a time to live of ${projectTtl}`,
      given: { ...quiet, projectTtl },
      warned: ['--project-ttl'],
    }),
  ),
  ...['10m', '30d', '720h'].map(
    (projectTtl): Case => ({ name: `a time to live of ${projectTtl}`, given: { ...quiet, projectTtl } }),
  ),
  { name: 'a secret of 5 characters', given: { ...quiet, forge1Pat: 'token' }, warned: ['--forge1-pat'] },
  { name: 'a team', given: { ...quiet, ...team } },
  {
    name: 'a team without slug',
    given: { ...quiet, ...team, forge1TeamSlug: undefined },
    refused: ['--forge1-team-org'],
  },
  {
    name: 'a team without organization',
    given: { ...quiet, ...team, forge1TeamOrg: undefined },
    refused: ['--forge1-team-slug'],
  },
  { name: 'a team without token', given: { ...quiet, ...team, forge1Pat: undefined }, refused: ['--forge1-pat'] },
  ...([2, 3, 4] as const).flatMap((n): Case[] => [
    {
      name: `forge${n} id without secret`,
      given: { ...quiet, [`forge${n}AppClientId`]: 'x' },
      refused: [`--forge${n}-app-client-id`],
    },
    {
      name: `forge${n} secret without id`,
      given: { ...quiet, [`forge${n}AppClientSecret`]: 'client-secret' },
      refused: [`--forge${n}-app-client-secret`],
    },
    {
      name: `forge${n} whole`,
      given: { ...quiet, [`forge${n}AppClientId`]: 'x', [`forge${n}AppClientSecret`]: 'client-secret' },
    },
  ]),
  { name: 'OIDC whole', given: { ...quiet, ...oidc, oidcProviderName: 'Corp' } },
  { name: 'OIDC without id', given: { ...quiet, ...oidc, oidcClientId: undefined }, refused: ['--oidc-client-id'] },
  {
    name: 'OIDC without secret',
    given: { ...quiet, ...oidc, oidcClientSecret: undefined },
    refused: ['--oidc-client-secret'],
  },
  {
    name: 'OIDC without issuer',
    given: { ...quiet, ...oidc, oidcIssuerUrl: undefined },
    refused: ['--oidc-issuer-url'],
  },
  {
    name: 'OIDC id alone',
    given: { ...quiet, oidcClientId: 'id' },
    refused: ['--oidc-client-secret', '--oidc-issuer-url'],
  },
  { name: 'log store endpoint alone', given: { ...quiet, externalLogstoreEndpoint: 'logs.example.com:443' } },
  {
    name: 'log store user alone',
    given: { ...quiet, externalLogstoreUser: 'u' },
    warned: ['--external-logstore-user', '--external-logstore-user'],
  },
  {
    name: 'log store password alone',
    given: { ...quiet, externalLogstoreSecret: 'password' },
    warned: ['--external-logstore-secret'],
  },
  {
    name: 'remote write user without password',
    given: { ...quiet, metricsRemoteWriteUrl: 'https://m.example.com', metricsRemoteWriteUser: 'u' },
    warned: ['--metrics-remote-write-user'],
  },
  {
    name: 'OTel password without endpoint',
    given: { ...quiet, centralOtelPassword: 'password' },
    warned: ['--central-otel-password'],
  },
  {
    name: 'OTel span metrics without endpoint',
    given: { ...quiet, centralOtelSpanMetrics: true },
    warned: ['--central-otel-span-metrics'],
  },
  { name: 'both ACME flags', given: { ...quiet, acmeStaging: true, cloudAcmeIssuer: true } },
  { name: 'region and zone that agree', given: { ...quiet, region: 'us-central1', zone: 'us-central1-b' } },
  {
    name: 'region and zone that disagree',
    given: { ...quiet, region: 'us-central1', zone: 'us-east1-b' },
    refused: ['--zone'],
  },
  {
    name: 'URLs with a password in them',
    given: {
      ...quiet,
      vaultUri: 'https://admin:planted-secret@vault.example.com',
      localTraceEndpoint: 'http://a:planted-secret@traces:4317',
      metricsRemoteWriteUrl: 'https://writer@metrics.example.com',
    },
    warned: ['--vault-uri', '--local-trace-endpoint'],
  },
  { name: 'steps to skip that are known', given: { ...quiet, installSkipSteps: ['ceph', 'postgres'] } },
  {
    name: 'a step to skip that is not known',
    given: { ...quiet, installSkipSteps: ['cehp'] },
    warned: ['--install-skip-steps'],
  },
  {
    name: 'an install by version',
    given: { ...quiet, forge1Pat: 'token-1', installVersion: 'v1' },
  },
  {
    name: 'an install by hash',
    given: { ...quiet, forge1Pat: 'token-1', installHash: '12e5' },
  },
  {
    name: 'an install of a local package',
    given: { ...quiet, forge1Pat: 'token-1', installLocal: 'p.tar.gz' },
  },
  { name: 'recover-config=false', given: { ...quiet, recoverConfig: false } },
  {
    name: 'a region that nobody has heard of yet, whose zone follows',
    given: { ...quiet, region: 'europe-west99' },
    warned: ['--region'],
  },
  {
    name: 'a zone that its region is not known to have',
    given: { ...quiet, zone: 'us-east1-a' },
    warned: ['--zone'],
  },
  {
    name: 'a test user without an install',
    given: { ...quiet, createTestUser: true },
    warned: ['--create-test-user'],
  },
  {
    name: 'pc-apps values without an install',
    given: { ...quiet, pcAppsValues: ['v.yaml'] },
    warned: ['--pc-apps-values'],
  },
];

/** option → values that are right, values that are wrong. */
const values: Readonly<Record<string, { readonly right: readonly unknown[]; readonly wrong: readonly unknown[] }>> = {
  projectName: {
    right: ['demo', 'My project!', "it's 4", 'a'.repeat(30)],
    wrong: ['abc', 'a'.repeat(31), 'under_score', 'ümlaut', '----', 'a\nbcd'],
  },
  billingAccount: {
    right: ['012345-6789AB-CDEF01', 'billingAccounts/012345-6789AB-CDEF01', '012345-6789ab-cdef01'],
    wrong: ['a/b', 'a b', '0123', '012345-6789AB', '012345-6789AB-CDEF0G', '012345-6789AB-CDEF01-234567'],
  },
  baseDomain: {
    right: ['example.com', 'a.b.example.com', 'EXAMPLE.com', 'xn--bcher-kva.example'],
    wrong: [
      'localhost',
      'example.com.',
      '-a.example.com',
      'a..b',
      'exa mple.com',
      'https://example.com',
      '10.0.0.1',
      `${'a'.repeat(64)}.com`,
    ],
  },
  folderId: { right: ['123', 'folders/123'], wrong: ['abc', 'folders/', '1/2'] },
  region: { right: ['us-east1', 'northamerica-northeast1'], wrong: ['us', 'europe-west4-a', 'US-east1'] },
  zone: { right: ['us-east1-b'], wrong: ['us-east1', 'b'] },
  projectTtl: {
    right: ['90m', '2h', '1h30m', '2d', '1.5h'],
    wrong: ['0s', '-2h', '2', 'h', '2w', '', '99999d', '2h '],
  },
  rootDiskSize: { right: [10, 65536], wrong: [9, 65537, 10.5] },
  datacenterId: { right: [1, 7], wrong: [0, -1, 1.5] },
  datacenterName: { right: ['dev', 'Dev 1'], wrong: ['', 'a\u0007'] },
  customPgIp: { right: ['10.0.0.1', '2001:db8::1'], wrong: ['10.0.0', '10.0.0.256', 'host', '10.0.0.1/24'] },
  kubeDistroVersion: {
    right: ['v1.31.14+k0s.0', 'v1.30.0', 'v1.31.0-rc.1+k0s.0'],
    // The last one is to be refused at once: a pattern that tries each way to part it never ends.
    wrong: ['1.31', 'latest', 'v1.31; rm', 'v1.30.0+', `v1.30.0${'-a'.repeat(2000)}!`],
  },
  dnsProjectId: { right: ['dns-project'], wrong: ['DNS', 'a', '1abcdef'] },
  dnsZoneName: { right: ['tool-testing', 'a'], wrong: ['A', '1a', 'a.b', 'a-'] },
  clusterAdminEmail: { right: ['Alice@Example.com'], wrong: ['alice', 'alice@', 'a b@example.com'] },
  oidcIssuerUrl: {
    right: ['https://id.example.com/x'],
    wrong: ['id.example.com', 'ftp://id.example.com', 'https://', 'https://a b'],
  },
  vaultUri: { right: ['http://vault.example.com:8200'], wrong: ['vault', 'javascript:alert(1)'] },
  metricsRemoteWriteUrl: { right: ['https://m.example.com/write'], wrong: ['m'] },
  centralOtelEndpoint: {
    right: ['otel.example.com:4317', 'https://otel.example.com', '0123', 'my-localhost:4317', '10.10.0.2:4317'],
    wrong: [
      'a b',
      'http://',
      'localhost:4317',
      'a.localhost',
      'https://u@127.0.0.1/',
      '[::1]:4317',
      'http://[fe80::1]',
    ],
  },
  secretsDir: {
    right: ['/etc/platform/secrets'],
    wrong: ['relative', '/etc/a b', '/x;rm', '/', '/etc/../root', '/etc/./secrets', '/..', '/etc/x/..'],
  },
  installSkipSteps: { right: [['a', 'b']], wrong: [['']] },
};

/** One address of each range, and the name by which the refusal calls it. */
const withoutServers = {
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

const paths = (given: GivenFlags) => checkOptions(given).faults.map(({ path }) => path);

describe('rules between flags', () => {
  for (const { name, given, refused = [], warned = [] } of cases) {
    it(`${name}: ${refused.length > 0 ? `refused (${refused.join(', ')})` : warned.length > 0 ? 'warned of' : 'accepted'}`, () => {
      const { faults, warnings } = checkOptions(given);
      expect(faults.map(({ path }) => path)).to.have.members(refused);
      expect(warnings.map((text) => text.split(' ')[0])).to.have.members(warned);
      if (refused.length === 0) return;
      const caught = thrown(() => acceptOptions(given));
      expect(caught.code).to.equal('bad-input');
      expect(caught.errors).to.have.lengthOf(refused.length);
    });
  }

  for (const [option, { right, wrong }] of Object.entries(values)) {
    const flag = `--${option.replaceAll(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)}`;
    it(`${flag} takes what is right and refuses what is not`, () => {
      for (const value of right) expect(paths({ ...quiet, [option]: value }), String(value)).to.not.include(flag);
      for (const value of wrong) expect(paths({ ...quiet, [option]: value }), String(value)).to.include(flag);
    });
  }

  it('--custom-pg-ip refuses an address at which no other server can be, and names its range', () => {
    for (const [customPgIp, range] of Object.entries(withoutServers)) {
      expect(checkOptions({ ...quiet, customPgIp }).faults, customPgIp).to.deep.equal([
        { path: '--custom-pg-ip', message: `must be an address outside ${range}, not "${customPgIp}"` },
      ]);
    }
    for (const customPgIp of ['10.10.16.1', '10.9.255.255', '100.95.255.255', '100.72.0.1', '192.0.2.7', '1.0.0.1']) {
      expect(paths({ ...quiet, customPgIp }), customPgIp).to.deep.equal([]);
    }
  });

  it('tells all faults together', () => {
    expect(paths({ region: 'x', rootDiskSize: 1, forge2AppClientId: 'x' })).to.have.members([
      '--region',
      '--root-disk-size',
      '--forge2-app-client-id',
      '--project-name',
      '--billing-account',
      '--base-domain',
      '--forge1-app-client-id',
      '--forge1-app-client-secret',
    ]);
  });

  it('refuses with strict what it would warn of', () => {
    const { faults, warnings } = checkOptions(five, { strict: true });
    expect(faults.map(({ path }) => path)).to.deep.equal(['--registry-user']);
    expect(warnings).to.deep.equal([]);
  });

  it('names the steps to skip that it does not know', () => {
    const { warnings } = checkOptions({ ...quiet, installSkipSteps: ['ceph', 'cehp'] });
    expect(warnings.join()).to.match(/^--install-skip-steps names steps .*, cehp \(known/);
  });

  it('lets zone follow from region, and region from zone, and says so', () => {
    const pick = (given: GivenFlags) => {
      const { options, notes } = checkOptions({ ...quiet, ...given });
      return [options.region, options.zone, notes.length];
    };
    expect(pick({})).to.deep.equal(['europe-west4', 'europe-west4-a', 0]);
    expect(pick({ region: 'us-central1' })).to.deep.equal(['us-central1', 'us-central1-a', 1]);
    expect(pick({ region: 'us-east1' })).to.deep.equal(['us-east1', 'us-east1-b', 1]);
    expect(pick({ zone: 'us-west1-c' })).to.deep.equal(['us-west1', 'us-west1-c', 1]);
  });

  it('resolves defaults, takes secrets and what is local apart, and brings values into one form', () => {
    const { options, secrets, local } = checkOptions({
      ...quiet,
      airgapped: true,
      baseDomain: 'Demo.Example.com',
      billingAccount: 'billingAccounts/012345-6789AB-CDEF01',
      clusterAdminEmail: 'Alice@Example.com',
      timer: true,
    });
    expect(options).to.include({
      registryType: 'local-container',
      baseDomain: 'demo.example.com',
      billingAccount: '012345-6789AB-CDEF01',
    });
    expect(options).to.include({ clusterAdminEmail: 'alice@example.com', rootDiskSize: 50, projectTtl: '2h' });
    expect(options).to.not.have.any.keys('timer', 'forge1AppClientSecret', 'installConfig', 'folderId');
    expect(secrets).to.deep.equal({ forge1AppClientSecret: 'planted-secret' });
    expect(local).to.include({ timer: true, installConfig: 'config.yaml', writeConfig: true });
  });

  it('never says a secret', () => {
    const { faults, warnings } = checkOptions({ forge1Pat: '', forge1AppClientSecret: 'planted-secret'.repeat(1000) });
    expect(faults.map(({ path }) => path)).to.include.members(['--forge1-app-client-secret', '--forge1-pat']);
    expect(JSON.stringify([faults, warnings])).to.not.include('planted-secret');
  });
});

function thrown(act: () => unknown): Problem {
  try {
    act();
  } catch (error) {
    if (error instanceof Problem) return error;
    throw error;
  }
  throw new Error('nothing was thrown');
}
