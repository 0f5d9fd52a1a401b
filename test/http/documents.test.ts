/** Both APIs as their documents describe them: nothing that a service refuses by rule is allowed there, and what is there is true. */
import { expect } from 'chai';
import { createMemoryStore } from '../../local/functions/memory-store.js';
import { flagName, flagOf, isLocal, optionNames } from '../../shared/bootstrap/options.js';
import type { BeginReply } from '../../shared/bootstrap/routes.js';
import { createOrganizationsServer, type OrganizationsServer } from '../organizations/organizations-server.js';
import { type Document, type Json, type ReadDocument, readDocument } from '../support/api-document.js';
import { type BootstrapsServer, createBootstrapsServer, makeRequest } from './bootstraps-server.js';
import { createIssuer, type Issuer } from './issuer.js';

const alice = 'alice@example.com';
const ops = 'ops@example.com';
const [somewhere, soon] = ['0b9c6d1e-5d53-4c0b-9c6e-0a3f1d2b4c5d', '2030-01-01T00:00:00Z'];

/** A value that the service refuses by rule, and the place in the request where it stands. */
type Refusal = readonly [operationId: string, place: string, value: unknown];

const organizationRefusals: readonly Refusal[] = [
  ...[0, 201, -1, 1.5, ''].map((limit): Refusal => ['listTeams', 'query.limit', limit]),
  ...[0, 201].map((limit): Refusal => ['listOrganizationEvents', 'query.limit', limit]),
  ['listTeams', 'query.cursor', ''],
  ...[0, -1, 1.5, 2 ** 31, 'x'].map((teamId): Refusal => ['getTeam', 'path.teamId', teamId]),
  ['getOrganization', 'path.organizationId', 'x'],
  ['previewMigration', 'query.organizationId', ''],
  ['removeTeamMember', 'path.email', 'x'],
  ['removeOrganizationMember', 'query.force', 'yes'],
  ...['', '   ', 'a\nb', 'a\u0000', 'a\u007f', 'a\u202eb', '\ud800', 'x'.repeat(101), 1].flatMap((name): Refusal[] => [
    ['createOrganization', 'body', { name }],
    ['createTeam', 'body', { name }],
  ]),
  ['createOrganization', 'body', {}],
  ['createOrganization', 'body', { name: 'a', more: 1 }],
  ['createTeam', 'body', { name: 'a', organizationId: '' }],
  ...['', 'x', `${'x'.repeat(250)}@example.com`].map((email): Refusal => ['addTeamMember', 'body', { email }]),
  ['addOrganizationMember', 'body', { email: alice, role: 'owner' }],
  ['setOrganizationMemberRole', 'body', { role: '' }],
  ['migrateTeam', 'body', { organizationId: '' }],
  ['migrateTeam', 'body', { organizationId: somewhere, force: 'true' }],
  ['createTeam', 'header.Idempotency-Key', 'x'.repeat(256)],
  ['migrateTeam', 'header.If-Match', 'x'.repeat(1001)],
];

const withOptions = (options: Json): Json => {
  const request = makeRequest('refused');
  return { ...request, options: { ...request.options, ...options } };
};
const texts = optionNames.filter((option) => !isLocal(option) && flagOf(option).kind === 'string');
const required = optionNames.filter((option) => flagOf(option).required);

const bootstrapRefusals: readonly Refusal[] = [
  ...[0, 201].map((limit): Refusal => ['listBootstraps', 'query.limit', limit]),
  ['listBootstraps', 'query.name', ''],
  ['listBootstraps', 'query.all', 'yes'],
  ['readLogs', 'query.offset', -1],
  ['readLogs', 'query.offset', 10 ** 12],
  ['getConfig', 'query.datacenter', 'dc3'],
  ...['000', '', '0h', '0.0s', '2 h', '-1h', '2', 'x'].flatMap((ttl): Refusal[] => [
    ['extendBootstrap', 'body', { ttl }],
    ['beginBootstrap', 'body', withOptions({ projectTtl: ttl })],
  ]),
  ...['', '  ', 'x'.repeat(201)].flatMap((reason): Refusal[] => [
    ['protectBootstrap', 'body', { until: soon, reason }],
    ['stopNewBootstraps', 'body', { reason }],
  ]),
  ...['tomorrow', '7', '2030-01-31', '2030-01-31T18:00:00', '2030-01-31T18:00Z'].map(
    (until): Refusal => ['protectBootstrap', 'body', { until, reason: 'a demo' }],
  ),
  ['shareBootstrap', 'body', { with: '' }],
  ['restartVms', 'body', { vms: [] }],
  ...texts.map((option): Refusal => ['beginBootstrap', 'body', withOptions({ [option]: '' })]),
  ...required.map((option): Refusal => ['beginBootstrap', 'body', withOptions({ [option]: undefined })]),
  ...[
    { rootDiskSize: 9 },
    { rootDiskSize: 10.5 },
    { rootDiskSize: 65_537 },
    { datacenterId: 0 },
    { datacenterName: 'a\u0007b' },
    { datacenterName: 'x'.repeat(64) },
    { projectName: 'abc' },
    { projectName: 'a/bcd' },
    { billingAccount: '012345' },
    { baseDomain: 'example' },
    { region: 'europe' },
    { zone: 'europe-west4' },
    { customPgIp: '300.1.1.1' },
    { kubeDistroVersion: '1.31' },
    { registryType: 'other' },
    { clusterAdminEmail: 'x' },
    { oidcIssuerUrl: 'example.com' },
    { centralOtelEndpoint: 'a b' },
    { secretsDir: 'etc' },
    { installLocal: 'package.tgz' },
    { pcAppsValues: [''] },
    { featureFlags: [''] },
    { featureFlags: 'a' },
    { installConfig: 'config.yaml' },
    { spotVms: 'true' },
  ].map((options): Refusal => ['beginBootstrap', 'body', withOptions(options)]),
  ['beginBootstrap', 'body', { ...makeRequest('refused'), sshPublicKey: '' }],
  ['beginBootstrap', 'body', { ...makeRequest('refused'), takeUp: '' }],
];

describe('the documents of the APIs', () => {
  let issuer: Issuer;
  let organizations: OrganizationsServer;
  let bootstraps: BootstrapsServer;
  let bootstrapId: string;
  /** By their names in docs/reference. */
  const read: Record<string, ReadDocument> = {};

  before(async () => {
    issuer = await createIssuer();
    const env = { PLINTH_ORGANIZATION_CREATORS: 'example.com' };
    organizations = await createOrganizationsServer(issuer, { store: createMemoryStore(), env });
    bootstraps = await createBootstrapsServer(issuer);
    const begun = await bootstraps.json<BeginReply>(201, 'POST', '/bootstraps', { body: makeRequest('the one') });
    bootstrapId = begun.bootstrap.id;
    await bootstraps.settle();
  });
  after(() => {
    organizations?.close();
    bootstraps?.close();
    issuer?.close();
  });

  const documentOf = async (api: 'organizations' | 'bootstraps'): Promise<ReadDocument> => {
    const known = read[api];
    if (known !== undefined) return known;
    const { origin } = api === 'organizations' ? organizations : bootstraps;
    const reply = await fetch(`${origin}/openapi.json`);
    expect(reply.status, `${api}: /openapi.json`).to.equal(200);
    const found = readDocument((await reply.json()) as Document);
    read[api] = found;
    return found;
  };

  /** The status that a service gives to a request that is well but for one value. */
  async function asked(api: 'organizations' | 'bootstraps', [operationId, place, value]: Refusal): Promise<number> {
    const { origin } = api === 'organizations' ? organizations : bootstraps;
    const { document } = await documentOf(api);
    const [path, method] = Object.entries(document.paths).flatMap(([each, methods]) =>
      Object.entries(methods).flatMap(([name, found]) => (found.operationId === operationId ? [[each, name]] : [])),
    )[0] as [string, string];
    const [where, name = ''] = place.split('.');
    const usual: Json = { organizationId: somewhere, teamId: 7, email: alice, id: bootstrapId };
    const params: Json = where === 'path' ? { ...usual, [name]: value } : usual;
    const filled = path.replaceAll(/\{(\w+)\}/g, (_, each: string) => encodeURIComponent(String(params[each])));
    const search = where === 'query' ? `?${new URLSearchParams({ [name]: String(value) })}` : '';
    const body =
      place === 'body' ? value : operationId === 'migrateTeam' ? { organizationId: somewhere } : { name: 'fine' };
    const { status } = await fetch(`${origin}${filled}${search}`, {
      method: method.toUpperCase(),
      headers: {
        authorization: `Bearer ${await issuer.token(api === 'bootstraps' && operationId.startsWith('stop') ? ops : alice, { claims: { hd: 'example.com' } })}`,
        ...(method === 'get' || method === 'delete' ? {} : { 'content-type': 'application/json' }),
        ...(where === 'header' && { [name]: String(value) }),
      },
      body: method === 'get' || method === 'delete' ? null : JSON.stringify(body),
    });
    return status;
  }

  for (const [api, refusals] of [
    ['organizations', organizationRefusals],
    ['bootstraps', bootstrapRefusals],
  ] as const) {
    describe(`of ${api}`, () => {
      it('allows nothing that the service refuses by rule', async () => {
        const { faultsIn } = await documentOf(api);
        const allowed: string[] = [];
        for (const refusal of refusals) {
          const [operationId, place, value] = refusal;
          expect(await asked(api, refusal), JSON.stringify(refusal)).to.equal(400);
          if (faultsIn(operationId, place, value) === undefined) allowed.push(JSON.stringify(refusal));
        }
        expect(allowed).to.deep.equal([]);
      });
    });
  }

  it('allow what the services take', async () => {
    const teams = await documentOf('organizations');
    for (const name of ['a', 'Größe 1', '日本', 'x'.repeat(100), 'a 😀']) {
      expect(teams.faultsIn('createTeam', 'body', { name }), name).to.equal(undefined);
      expect(await asked('organizations', ['createTeam', 'body', { name }])).to.equal(201);
    }
    const { faultsIn } = await documentOf('bootstraps');
    for (const ttl of ['2h', '1h30m', '1.5h', '0h5m', '2d', '90000ms']) {
      expect(faultsIn('extendBootstrap', 'body', { ttl }), ttl).to.equal(undefined);
      expect(await asked('bootstraps', ['extendBootstrap', 'body', { ttl }])).to.equal(200);
    }
    for (const options of [{ billingAccount: '01ab23-45cd67-89ef01' }, { baseDomain: 'Example.COM' }]) {
      expect(faultsIn('beginBootstrap', 'body', withOptions(options))).to.equal(undefined);
      expect(await asked('bootstraps', ['beginBootstrap', 'body', withOptions(options)])).to.be.oneOf([200, 201]);
    }
    for (const option of optionNames.filter((each) => !isLocal(each))) {
      const standard = flagOf(option).default;
      if (standard === undefined) continue;
      expect(faultsIn('beginBootstrap', 'body', withOptions({ [option]: standard })), flagName(option)).to.equal(
        undefined,
      );
    }
  });
});
