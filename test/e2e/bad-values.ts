/** One bad value of each kind that `--check` tells, and findings that tell none. */
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { expect } from 'chai';
import { setOrganizationPolicy } from '../../local/cloud/org-policy/policies.js';
import type { BillingAccountRecord } from '../../local/cloud/projects/billing.js';
import { forge1NarrowPat, forge1Pat } from '../../local/forge1/forge1.js';
import { sampleVersion } from '../../local/packages/make-package.js';
import { functionAccount, local, people } from '../../local/stack/deployment.js';
import type { BootstrapFindingCode } from '../../shared/bootstrap/finding-codes.js';
import { functionNames } from '../../shared/names.js';
import { runAt } from '../support/plinth-here.js';
import type { Flags, Scene } from '../support/scene.js';
import { changeShared, inSharedZone, sharedZone } from '../support/shared-zone.js';

/** Makes it so, and returns what takes it back. */
type Arrange = (scene: Scene) => (() => unknown) | Promise<() => unknown>;

export interface BadValue {
  readonly what: string;
  readonly code: BootstrapFindingCode;
  readonly flags?: Flags;
  readonly arrange?: Arrange;
  readonly exitCode: number;
  readonly words: RegExp;
}

const lane = `serviceAccount:${functionAccount(functionNames.runCloudStep)}`;
const otherAccount = `billingAccounts/${local.otherBillingAccount}`;
export const here = { 'folder-id': local.otherFolder.replace('folders/', '') };

/** Takes a role of the lane's identity away, or puts another in its place. */
const withRole =
  (resource: string, role: string, instead?: string): Arrange =>
  ({ cloud: { world } }) => {
    const before = world.policies.get(resource, 3);
    const bindings = (before['bindings'] ?? []) as { role: string; members: string[] }[];
    const changed = bindings.flatMap((each) => {
      if (each.role !== role) return [each];
      const left = { ...each, members: each.members.filter((member) => member !== lane) };
      return [left, ...(instead === undefined ? [] : [{ ...each, role: instead, members: [lane] }])];
    });
    world.policies.set(resource, { ...before, bindings: changed });
    return () => void world.policies.set(resource, { ...world.policies.get(resource, 3), bindings });
  };

const closed: Arrange = ({ cloud: { world } }) => {
  const account = world.table<BillingAccountRecord>('billing.accounts')[otherAccount];
  if (account === undefined) throw new Error('there is no other account');
  account.open = false;
  return () => {
    account.open = true;
  };
};

const theirs = { name: 'www.theirs.example.com.', type: 'A', ttl: 60, rrdatas: ['203.0.113.20'] };

export const badValues: readonly BadValue[] = [
  { what: 'a flag', code: 'options', flags: { 'root-disk-size': '1' }, exitCode: 2, words: /--root-disk-size/ },
  {
    what: 'a time to live beyond the ceiling',
    code: 'allowed',
    flags: { 'project-ttl': '3d' },
    exitCode: 2,
    words: /beyond 1d from its beginning/,
  },
  {
    what: 'a most that buys no time',
    code: 'ceiling',
    flags: { 'max-cost': '0.01' },
    exitCode: 2,
    words: /--max-cost buys only/,
  },
  {
    what: 'a file to upload that is not there',
    code: 'files',
    flags: {
      'install-local': 'missing.tar.gz',
      'registry-type': 'local-container',
      'forge1-pat': 'local-forge1-token',
    },
    exitCode: 2,
    words: /missing\.tar\.gz/,
  },
  {
    what: 'a stop by an operator',
    code: 'room',
    arrange: async (scene) => {
      const operator = await scene.caller(people.admin);
      const say = (...args: string[]) => runAt(['beta', 'bootstraps', ...args], operator);
      expect((await say('stop', '--reason', 'moving house')).exitCode).to.equal(0);
      return () => say('start');
    },
    exitCode: 5,
    words: /moving house/,
  },
  {
    what: 'an account that is closed',
    code: 'billing-account',
    flags: { 'billing-account': local.otherBillingAccount },
    arrange: closed,
    exitCode: 2,
    words: /closed/,
  },
  {
    what: 'an account that is not there',
    code: 'billing-account',
    flags: { 'billing-account': 'AAAAAA-BBBBBB-CCCCCC' },
    exitCode: 2,
    words: /cannot see/,
  },
  {
    what: 'an account to which nothing may be linked',
    code: 'billing-link',
    flags: { 'billing-account': local.otherBillingAccount },
    arrange: withRole(otherAccount, 'roles/billing.user'),
    exitCode: 3,
    words: /link no project/,
  },
  {
    what: 'a parent that is not there',
    code: 'parent',
    flags: { 'folder-id': '404404404404' },
    exitCode: 3,
    words: /folders\/404404404404 is not there/,
  },
  {
    what: 'a parent in which plinth may make no projects',
    code: 'parent',
    arrange: withRole(local.otherFolder, 'roles/resourcemanager.projectCreator'),
    exitCode: 3,
    words: /may make no projects/,
  },
  {
    what: 'a region',
    code: 'region',
    // Policies of a world may leave Europe alone open.
    flags: { region: 'europe-west99', zone: 'europe-west99-a' },
    exitCode: 2,
    words: /no such region/,
  },
  { what: 'a zone', code: 'zone', flags: { zone: 'europe-west4-z' }, exitCode: 2, words: /europe-west4-a/ },
  {
    what: 'a zone without the machines',
    code: 'machine-types',
    arrange: ({ cloud: { faults } }) => {
      const where = { machineType: 'e2-standard-8' };
      const fault = { method: 'compute.machineTypes.get', where, times: 0, code: 404, status: 'NOT_FOUND' };
      const id = faults.add(fault);
      return () => faults.remove(id);
    },
    exitCode: 2,
    words: /e2-standard-8/,
  },
  {
    what: 'a policy',
    code: 'policies',
    arrange: ({ cloud: { world } }) => {
      const rules = [{ values: { allowedValues: ['in:us-locations'] } }];
      setOrganizationPolicy(world, local.otherFolder, 'gcp.resourceLocations', rules);
      return () => setOrganizationPolicy(world, local.otherFolder, 'gcp.resourceLocations', undefined);
    },
    exitCode: 3,
    words: /gcp\.resourceLocations/,
  },
  {
    what: 'a DNS zone that plinth may not see',
    code: 'dns-zone',
    flags: { 'dns-project-id': 'strangers-dns', 'dns-zone-name': 'theirs' },
    exitCode: 3,
    words: /strangers-dns/,
  },
  {
    what: 'a DNS zone of another domain',
    code: 'dns-zone',
    flags: { ...inSharedZone, 'base-domain': 'demo.elsewhere.org' },
    exitCode: 5,
    words: /does not lie in it/,
  },
  {
    what: 'a DNS zone that plinth may only read',
    code: 'dns-permissions',
    flags: inSharedZone,
    arrange: withRole(sharedZone, 'roles/dns.admin', 'roles/dns.reader'),
    exitCode: 3,
    words: /dns\.changes\.create/,
  },
  {
    what: 'a name that others have there',
    code: 'dns-records',
    flags: { ...inSharedZone, 'base-domain': 'theirs.example.com' },
    arrange: async (scene) => {
      await changeShared(scene, { additions: [theirs] });
      return () => changeShared(scene, { deletions: [theirs] });
    },
    exitCode: 5,
    words: /203\.0\.113\.20/,
  },
  {
    what: 'a package',
    code: 'package',
    flags: { 'install-version': '9.9.9', 'registry-type': 'artifact-registry' },
    exitCode: 2,
    words: /--install-version/,
  },
  {
    what: 'a build of a package',
    code: 'package',
    flags: { 'install-hash': 'ffffffffffff', 'registry-type': 'artifact-registry' },
    exitCode: 2,
    words: /--install-hash/,
  },
  { what: 'a token', code: 'forge1-token', flags: { 'forge1-pat': 'unknown' }, exitCode: 2, words: /does not know/ },
  {
    what: 'a token that lacks a scope',
    code: 'forge1-token',
    flags: { 'forge1-pat': forge1NarrowPat },
    exitCode: 2,
    words: /lacks the scope read:org/,
  },
  {
    what: 'a token that may read no images',
    code: 'forge1-token',
    flags: { 'forge1-pat': 'token-of-teams-alone' },
    arrange: ({ stack }) => {
      const { tokens = {} } = stack.cloudHalf?.forge1.world ?? {};
      tokens['token-of-teams-alone'] = ['read:org'];
      return () => delete tokens['token-of-teams-alone'];
    },
    exitCode: 2,
    words: /lacks the scope read:packages/,
  },
  {
    what: 'a team',
    code: 'forge1-team',
    flags: { 'forge1-pat': 'local-forge1-token', 'forge1-team-org': 'example', 'forge1-team-slug': 'none' },
    exitCode: 2,
    words: /example\/none/,
  },
  {
    what: 'a key that is none',
    code: 'ssh-key',
    flags: { 'ssh-private-key-path': 'no-key', 'ssh-public-key-path': 'no-key.pub' },
    exitCode: 2,
    words: /no-key/,
  },
];

/** An install that nothing stops. Each row makes one thing of it wrong. */
const installs: Flags = { 'install-version': sampleVersion, 'registry-type': 'artifact-registry' };

const withReleasesAt =
  (url: string): Arrange =>
  ({ stack }) => {
    const { releases = {} } = stack.functionsHalf?.contextOf(functionNames.bootstraps).config ?? {};
    const before = { ...releases };
    Object.assign(releases, { url });
    return () => void Object.assign(releases, before);
  };

/** Releases of k0s that publish checksums of other programs alone. */
const withoutSum: Arrange = async ({ stack }) => {
  const server = createServer((_, response) => response.end(`${'0'.repeat(64)}  k0s-for-another-machine\n`));
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { config } = stack.functionsHalf?.contextOf(functionNames.bootstraps) ?? {};
  const before = config?.k0sReleasesUrl;
  const { port } = server.address() as AddressInfo;
  Object.assign(config ?? {}, { k0sReleasesUrl: `http://127.0.0.1:${port}` });
  return () => {
    Object.assign(config ?? {}, { k0sReleasesUrl: before });
    server.closeAllConnections();
    server.close();
  };
};

/** A build of which one of both archives was not uploaded. */
const withoutArchive: Arrange = ({ cloud: { world } }) => {
  const objects = world.table('storage.objects');
  const [name = ''] = Object.keys(objects).filter((each) => /installer\.tar\.gz$/.test(each));
  const object = objects[name];
  delete objects[name];
  return () => void Object.assign(objects, { [name]: object });
};

/** Where the deployment has machines, with its executable at a mirror. */
export const badInstalls: readonly BadValue[] = [
  {
    what: 'an executable that is not in its bucket',
    code: 'plinth-release',
    flags: installs,
    arrange: withReleasesAt(`gs://${local.releaseBucket}/${local.releaseFolder}`),
    exitCode: 2,
    words: new RegExp(local.releaseBucket),
  },
  {
    what: 'a release of k0s that is not there',
    code: 'k0s-release',
    flags: { ...installs, 'kube-distro-version': 'v1.99.0+k0s.0' },
    exitCode: 2,
    words: /--kube-distro-version/,
  },
  {
    what: 'a release of k0s without a checksum of its program',
    code: 'k0s-release',
    flags: installs,
    arrange: withoutSum,
    exitCode: 2,
    words: /publishes no checksum of k0s-/,
  },
  {
    what: 'a package of which the archive with images is missing',
    code: 'package',
    flags: installs,
    arrange: withoutArchive,
    exitCode: 2,
    words: /installer\.tar\.gz.*Upload it to gs:\/\//,
  },
  {
    what: 'a PostgreSQL server whose values no file holds yet',
    code: 'install-values',
    flags: { ...installs, 'custom-pg-ip': '10.99.0.7' },
    exitCode: 2,
    words: /--custom-pg-ip and --install-version cannot go together yet/,
  },
  {
    what: 'a user whom the registry does not let in',
    code: 'registry',
    flags: { ...installs, 'registry-type': 'forge1', 'registry-user': 'stranger', 'forge1-pat': forge1Pat },
    exitCode: 2,
    words: /do not let stranger into/,
  },
];

interface Told {
  /** What is found where all is as it must be. Undefined: nobody can know that before there is a project. */
  readonly ok: RegExp | undefined;
  /** The command, or the flag of the same command, that mends what stops it. A text: why it stops no new bootstrap. */
  readonly mend: RegExp | string;
}

/** Of each finding. One that is added has no row, and does not compile. */
export const told: Readonly<Record<BootstrapFindingCode, Told>> = {
  'ssh-key': { ok: /there is none yet; the first bootstrap makes one/, mend: /run the command again/ },
  files: { ok: /^readable, and writable/, mend: /run the command again/ },
  options: { ok: /^valid$/, mend: /run the command again/ },
  allowed: { ok: /^allowed$/, mend: /--project-ttl/ },
  ceiling: { ok: /^beneath all ceilings$/, mend: /--max-cost \d/ },
  'release-known': { ok: /^known$/, mend: 'a dry run and a resume alone ask for it' },
  name: { ok: / is free$/, mend: /--project-name/ },
  'install-values': { ok: /^none that only you can give$/, mend: /without --install-version first/ },
  room: { ok: /^it would be \d+ of \d+$/, mend: /the same command/ },
  'billing-account': { ok: / is open$/, mend: /--billing-account/ },
  'billing-link': { ok: /may link projects to billingAccounts\//, mend: /roles\/billing\.user on billingAccounts\// },
  'billing-links': { ok: undefined, mend: 'Google alone counts them, so it only warns' },
  parent: { ok: /may make projects in folders\//, mend: /roles\/resourcemanager\.projectCreator on folders\// },
  'project-quota': { ok: undefined, mend: 'Google does not say' },
  'project-permissions': { ok: undefined, mend: 'there is no project yet' },
  region: { ok: /^europe-/, mend: /--region/ },
  zone: { ok: /^europe-.*-[a-z]$/, mend: /europe-west4-a/ },
  'machine-types': { ok: /e2-standard-8/, mend: /gcloud compute machine-types list/ },
  policies: { ok: /policies checked in folders\//, mend: /gcloud org-policies describe/ },
  quota: { ok: undefined, mend: 'there is no project yet' },
  'dns-zone': { ok: / is for /, mend: /--dns-|--base-domain|roles\/dns/ },
  'dns-permissions': { ok: /may write to the DNS zone/, mend: /roles\/dns\.admin on that zone/ },
  'dns-records': { ok: / is free$/, mend: /--base-domain/ },
  'dns-delegation': { ok: / on ns-/, mend: 'a bootstrap can go on without it, so it only warns' },
  'plinth-release': { ok: /^https:\/\/mirror\.example\.com\//, mend: /gcloud storage cp/ },
  'k0s-release': { ok: /, with its checksum$/, mend: /--kube-distro-version/ },
  package: { ok: /^1\.0\.0 \([0-9a-f]+\), \d+\.\d MB$/, mend: /gs:\/\/|There are, the newest first|PLINTH_HOSTS=on/ },
  'forge1-token': { ok: /with the scopes read:packages and read:org$/, mend: /another token with --forge1-pat/ },
  'forge1-team': { ok: /^example\/platform$/, mend: /--forge1-pat has the scope read:org/ },
  registry: { ok: /lets somebody in$/, mend: /read:packages/ },
};
