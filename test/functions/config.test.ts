import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { readConfig, type SettingName, settings } from '../../functions/config.js';
import { type Fault, Problem } from '../../shared/problems.js';
import { projectFolder } from '../support/recording-store.js';

const least = {
  PLINTH_PROJECT: 'plinth-test',
  PLINTH_DEPLOYMENT: 'test',
  PLINTH_MACHINE_ACCESS: 'direct',
  PLINTH_SSH_SOURCE_RANGES: '127.0.0.0/8',
};

/** With those that are left out of the config where they are not set. */
const most = {
  ...least,
  PLINTH_RELEASE: '1.2.3',
  FIRESTORE_EMULATOR_HOST: '127.0.0.1:8080',
  PUBSUB_EMULATOR_HOST: '127.0.0.1:8085',
  PLINTH_PARENTS: 'folders/1',
  PLINTH_ENDPOINTS: 'docker-registry=http://127.0.0.1:5000,dns-resolver=127.0.0.1:53',
  PLINTH_MAX_TTL_SECONDS: '3600',
  PLINTH_QUOTA_CONTACT: 'quota@example.com',
  PLINTH_SSH_PROXY: 'http://127.0.0.1:1080',
  PLINTH_RELEASES_URL: 'https://releases.example.com',
  PLINTH_RELEASE_SHA256: '0'.repeat(64),
  PLINTH_WEBHOOK_URL: 'https://hooks.example.com',
  PLINTH_PACKAGES_BUCKET: 'packages',
  PLINTH_UPLOADS_BUCKET: 'uploads',
  OTEL_EXPORTER_OTLP_ENDPOINT: 'https://telemetry.googleapis.com',
};

const faultsIn = (env: Record<string, string>): readonly Fault[] => {
  try {
    readConfig(env);
    return [];
  } catch (error) {
    if (!(error instanceof Problem)) throw error;
    return error.errors ?? [];
  }
};
const faultsOf = (env: Record<string, string>): string[] => faultsIn(env).map(({ path }) => path);

describe('the settings', () => {
  it("are the services' own addresses unless said otherwise", () => {
    const { endpoints, registryUrls, forgeUrls, auth, dnsResolver } = readConfig({
      ...least,
      PLINTH_ENDPOINTS:
        'compute=http://127.0.0.1:8080/, forge1-registry=https://images.example.com,compute=http://[::1]:1',
    });
    expect(endpoints).to.deep.include({ compute: 'http://[::1]:1', dns: 'https://dns.googleapis.com' });
    expect(registryUrls).to.deep.equal({ forge1: 'https://images.example.com' });
    expect(forgeUrls.forge2).to.equal('https://gitlab.com');
    expect(auth.jwksUrl).to.equal('https://www.googleapis.com/oauth2/v3/certs');
    expect(dnsResolver).to.equal(undefined);
  });

  it('tell each fault of an endpoint by its name', () => {
    const PLINTH_ENDPOINTS =
      'compute,forge9=https://x.example,iap-tunnel=https://x.example,docker-registry=https://x.example/a,dns-resolver=dns';
    const faults = faultsIn({ ...least, PLINTH_ENDPOINTS });
    expect(faults.map(({ path }) => path)).to.deep.equal(['PLINTH_ENDPOINTS']);
    const [told = ''] = faults.map(({ message }) => message);
    for (const words of [
      'must be name=address, and has “compute”',
      'has “forge9”, and knows issuer-keys',
      'iap-tunnel must be a wss URL',
      'docker-registry must have no path',
      'dns-resolver must be an IPv4 address',
    ]) {
      expect(told).to.include(words);
    }
  });

  it('make projects in the first parent that is named', () => {
    const placeOf = (PLINTH_PARENTS: string) => readConfig({ ...least, PLINTH_PARENTS }).defaultParent;
    expect(placeOf('*, folders/2,organizations/1')).to.equal('folders/2');
    expect(placeOf('*')).to.equal(undefined);
    expect(faultsOf({ ...least, PLINTH_PARENTS: 'folders/1,folder' })).to.deep.equal(['PLINTH_PARENTS']);
  });

  it('let nobody in where nothing is said', () => {
    const { auth, bootstrappers, allowed } = readConfig(least);
    expect([auth.audiences, auth.operators, bootstrappers, allowed]).to.deep.equal([
      [],
      [],
      { emails: [], domains: [] },
      { billingAccounts: [], parents: [], dnsZones: [] },
    ]);
  });

  it('are each read by some function', () => {
    const read = (folder: string) =>
      readdirSync(join(projectFolder, folder), { recursive: true, encoding: 'utf8' })
        .filter((file) => file.endsWith('.ts') && file !== 'config.ts')
        .map((file) => readFileSync(join(projectFolder, folder, file), 'utf8').replace(/\/\*[\s\S]*?\*\/|\/\/.*/g, ''));
    const source = ['functions', 'shared'].flatMap(read).join('\n');
    const { endpoints: _, ...config } = readConfig(most);
    const names = Object.entries(config).flatMap(([name, value]) =>
      typeof value === 'object' && !Array.isArray(value) ? [name, ...Object.keys(value)] : [name],
    );
    const isRead = (name: string) => new RegExp(`(\\.|[{,]\\s*)${name}\\b`).test(source);
    expect(names.filter((name) => !isRead(name))).to.deep.equal([]);
  });

  it('take lists with commas, and empty variables for unset ones', () => {
    const { auth, limits } = readConfig({
      ...least,
      PLINTH_OPERATORS: ' Alice@example.com, ,bob@example.com',
      PLINTH_LIVING_PER_OWNER: '',
    });
    expect(auth.operators).to.deep.equal(['alice@example.com', 'bob@example.com']);
    expect(limits).to.deep.equal({ livingPerOwner: 3, livingInAll: 20, changesPerMinute: 120 });
  });

  it('take addresses by the same schema as the APIs, and fold A to Z alone', () => {
    expect(faultsOf({ ...least, PLINTH_OPERATORS: 'mi\u212Ae@example.com' })).to.deep.equal(['PLINTH_OPERATORS']);
    for (const nobody of ['bob', 'user:alice@example.com', '@example.com', 'domain:example.com', 'example.']) {
      expect(faultsOf({ ...least, PLINTH_BOOTSTRAPPERS: `alice@example.com, ${nobody}` }), nobody).to.deep.equal([
        'PLINTH_BOOTSTRAPPERS',
      ]);
    }
    const { bootstrappers, organizationCreators } = readConfig({
      ...least,
      PLINTH_BOOTSTRAPPERS: 'Alice@example.com, Example.com, \u212Aelvin.example',
      PLINTH_ORGANIZATION_CREATORS: 'Example.com',
    });
    expect(bootstrappers).to.deep.equal({
      emails: ['alice@example.com'],
      domains: ['example.com', '\u212Aelvin.example'],
    });
    expect(organizationCreators.domains).to.deep.equal(['example.com']);
  });

  it('take plain http only for what is on this computer', () => {
    const faulty = (url: string) => faultsOf({ ...least, PLINTH_ENDPOINTS: `forge1-api=${url}` });
    for (const host of ['localhost', '127.0.0.1:80', '[::1]', 'a.localhost:1'])
      expect(faulty(`http://${host}`)).to.deep.equal([]);
    for (const host of ['127.0.0.1.example.com', 'notlocalhost', 'localhost.example.com']) {
      expect(faulty(`http://${host}`)).to.deep.equal(['PLINTH_ENDPOINTS']);
    }
  });

  it('take no URL at the metadata server', () => {
    for (const name of ['forge1-api', 'issuer-keys', 'k0s-releases', 'compute']) {
      const PLINTH_ENDPOINTS = `${name}=https://169.254.169.254/x`;
      expect(faultsOf({ ...least, PLINTH_ENDPOINTS })).to.deep.equal(['PLINTH_ENDPOINTS']);
    }
    expect(faultsOf({ ...least, PLINTH_RELEASES_URL: 'https://169.254.169.254/x' })).to.deep.equal([
      'PLINTH_RELEASES_URL',
    ]);
  });

  it('take no webhook at the metadata server or at a link-local address, however it is written', () => {
    const faulty = (url: string) => faultsOf({ ...least, PLINTH_WEBHOOK_URL: url });
    for (const url of ['https://hooks.example.com/a?b=c', 'http://127.0.0.1:8080', 'https://metadata.example.com']) {
      expect(faulty(url), url).to.deep.equal([]);
    }
    for (const host of [
      '169.254.169.254',
      '0xa9fea9fe',
      '2852039166',
      '169.254.1',
      'metadata',
      'Metadata.Google.Internal.',
      '[fe80::1]',
      '[fd20:ce::254]',
      '[::ffff:169.254.169.254]',
      '[64:ff9b::a9fe:a9fe]',
      '0.0.0.0',
      '127.0.0.2',
    ]) {
      expect(faulty(`https://${host}/computeMetadata/v1/`), host).to.deep.equal(['PLINTH_WEBHOOK_URL']);
    }
    for (const host of ['10.0.0.1', '192.168.0.1', 'hooks.example.com']) {
      expect(faulty(`http://${host}/`), host).to.deep.equal(['PLINTH_WEBHOOK_URL']);
    }
  });

  describe('of who reaches a jumpbox directly', () => {
    const { PLINTH_SSH_SOURCE_RANGES: _, ...bare } = least;
    const readAccess = (env: Record<string, string>): string => {
      try {
        return readConfig({ ...bare, ...env }).sshSourceRanges.join(' ');
      } catch (error) {
        if (!(error instanceof Problem)) throw error;
        return (error.errors ?? []).map(({ path, message }) => `${path} ${message}`).join('\n');
      }
    };
    const ranges = (value: string) => ({ PLINTH_SSH_SOURCE_RANGES: value });
    const open = { PLINTH_MACHINE_ACCESS_OPEN: 'on' };
    const iap = { PLINTH_MACHINE_ACCESS: 'iap' };

    const taken: readonly (readonly [string, Record<string, string>, string])[] = [
      ['ranges of IPv4', ranges('203.0.113.7/32, 198.51.100.0/24'), '203.0.113.7/32 198.51.100.0/24'],
      ['one twice', ranges('203.0.113.7/32,203.0.113.7/32'), '203.0.113.7/32'],
      ['ranges of IPv6, in their shortest form', ranges('10.0.0.0/8,2001:0DB8:0::/32'), '10.0.0.0/8 2001:db8::/32'],
      ['half of all addresses', ranges('128.0.0.0/1'), '128.0.0.0/1'],
      ['everywhere, where the second setting says so', open, '0.0.0.0/0'],
      ['everywhere by both families, said twice', { ...open, ...ranges('0.0.0.0/0,::/0') }, '0.0.0.0/0 ::/0'],
      ['none with iap', iap, ''],
      ['those of bootstraps that began before iap', { ...iap, ...ranges('203.0.113.0/24') }, '203.0.113.0/24'],
    ];
    for (const [title, env, expected] of taken) it(`take ${title}`, () => expect(readAccess(env)).to.equal(expected));

    const refused: readonly (readonly [string, Record<string, string>, readonly RegExp[]])[] = [
      [
        'direct access of nobody in particular',
        {},
        [/^PLINTH_SSH_SOURCE_RANGES is not set.*203.0.113.7.32.*PLINTH_MACHINE_ACCESS_OPEN=on/],
      ],
      [
        'everywhere',
        ranges('10.0.0.0/8,0.0.0.0/0'),
        [/^PLINTH_SSH_SOURCE_RANGES covers every address.*PLINTH_MACHINE_ACCESS_OPEN=on/],
      ],
      ['everywhere of IPv6', ranges('10.0.0.0/8,::/0'), [/^PLINTH_SSH_SOURCE_RANGES covers every address/]],
      ['everywhere in two halves', ranges('128.0.0.0/1,0.0.0.0/1'), [/^PLINTH_SSH_SOURCE_RANGES covers every address/]],
      ['everywhere of IPv6 in halves', ranges('10.0.0.0/8,::/1,8000::/2,c000::/2'), [/covers every address/]],
      ['IPv6 alone', ranges('2001:db8::/32'), [/^PLINTH_SSH_SOURCE_RANGES names no IPv4 range/]],
      ['open beside iap', { ...iap, ...open }, [/^PLINTH_MACHINE_ACCESS_OPEN is on, and goes only with/]],
      [
        'open beside narrower ranges',
        { ...open, ...ranges('10.0.0.0/8') },
        [/^PLINTH_MACHINE_ACCESS_OPEN is on, and PLINTH_SSH_SOURCE_RANGES names some/],
      ],
      [
        'all wrong forms, each by itself',
        ranges(
          '10.0.0.1/8,10.0.0.0,10.0.0.0/33,010.0.0.0/8,2001:db8::1/32,::ffff:10.0.0.0/104,fe80::%1/64,10.0.0.0/08,office,2001:db8::/129',
        ),
        [
          /“10.0.0.1.8”, which begins before that address: write 10.0.0.0.8/,
          /“10.0.0.0”, which has no prefix: write 10.0.0.0.32/,
          /“10.0.0.0.33”, whose prefix must be a number from 0 to 32/,
          /“010.0.0.0.8”, which is no range/,
          /“2001:db8::1.32”, which begins before that address: write 2001:db8::.32/,
          /“::ffff:10.0.0.0.104”, which is no range/,
          /“fe80::%1.64”, which is no range/,
          /“10.0.0.0.08”, whose prefix/,
          /“office”, which is no range/,
          /“2001:db8::.129”, whose prefix must be a number from 0 to 128/,
        ],
      ],
    ];
    for (const [title, env, expected] of refused) {
      it(`refuse ${title}`, () => {
        const told = readAccess(env);
        for (const words of expected) expect(told).to.match(words);
      });
    }

    it('are told beside all others', () => {
      expect(
        faultsOf({ ...bare, ...ranges('office'), PLINTH_MACHINE_ACCESS_OPEN: 'yes', PLINTH_ISSUER: 'x' }),
      ).to.have.members(['PLINTH_ISSUER', 'PLINTH_SSH_SOURCE_RANGES', 'PLINTH_MACHINE_ACCESS_OPEN']);
    });
  });

  it('tell all faults at once', () => {
    expect(
      faultsOf({
        PLINTH_DEPLOYMENT: 'Not A Label',
        PLINTH_ISSUER: 'http://issuer.example.com',
        PLINTH_LIVING_IN_ALL: 'many',
        PLINTH_PARENTS: 'folder',
        FIRESTORE_EMULATOR_HOST: 'localhost',
      }),
    ).to.have.members([
      'PLINTH_PROJECT',
      'PLINTH_DEPLOYMENT',
      'PLINTH_ISSUER',
      'PLINTH_LIVING_IN_ALL',
      'PLINTH_MACHINE_ACCESS',
      'PLINTH_PARENTS',
      'FIRESTORE_EMULATOR_HOST',
    ]);
  });

  it('each say what they are, and have a default that does', () => {
    for (const [name, { help, schema, ...row }] of Object.entries(settings)) {
      expect(help, name).to.match(/\.$/);
      if ('default' in row)
        expect(schema.safeParse(row.default).success, name satisfies string as SettingName).to.equal(true);
    }
  });
});
