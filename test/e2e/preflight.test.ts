/** `--check`: one bad value of every kind is told before anything is made, in each world, all findings at once. */
import { expect } from 'chai';
import type { BillingAccountRecord } from '../../local/cloud/initial.js';
import { writePolicyRecord } from '../../local/cloud/org-policy/policies.js';
import { worldNames } from '../../local/cloud/worlds/table.js';
import { functionAccount, local, people } from '../../local/stack/deployment.js';
import type { PreflightFinding } from '../../shared/bootstrap/preflight.js';
import { functionNames } from '../../shared/names.js';
import { runAt } from '../support/plinth-here.js';
import { argsOf, type Caller, changesIn, type Flags, makeScene, outcomeOf, type Scene } from '../support/scene.js';
import { changeShared, inSharedZone, sharedZone } from '../support/shared-zone.js';

interface Checked {
  readonly exitCode: number | null;
  readonly go: boolean;
  readonly findings: readonly PreflightFinding[];
}

async function check(caller: Caller, name: string, flags: Flags = {}): Promise<Checked> {
  const run = await runAt(['beta', 'bootstrap-cloud', '--check', '--json', ...argsOf(name, flags)], caller);
  const { result } = outcomeOf(run);
  expect(result['check'], run.stdout + run.stderr).to.be.an('object');
  return { exitCode: run.exitCode, ...(result['check'] as Omit<Checked, 'exitCode'>) };
}

const codesIn = (findings: readonly PreflightFinding[], state: PreflightFinding['state']): string[] =>
  findings.filter((each) => each.state === state).map(({ code }) => code);

/** Makes it so, and returns what takes it back. */
type Arrange = (scene: Scene) => (() => unknown) | Promise<() => unknown>;

interface Case {
  readonly what: string;
  readonly code: string;
  readonly flags?: Flags;
  readonly arrange?: Arrange;
  readonly exitCode: number;
  readonly words: RegExp;
}

const lane = `serviceAccount:${functionAccount(functionNames.runCloudStep)}`;
const otherAccount = `billingAccounts/${local.otherBillingAccount}`;
const here = { 'folder-id': local.otherFolder.replace('folders/', '') };

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

const cases: readonly Case[] = [
  { what: 'a flag', code: 'options', flags: { 'root-disk-size': '1' }, exitCode: 2, words: /--root-disk-size/ },
  {
    what: 'a time to live beyond the ceiling',
    code: 'allowed',
    flags: { 'project-ttl': '3d' },
    exitCode: 2,
    words: /at most 1d/,
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
      writePolicyRecord(world, local.otherFolder, 'gcp.resourceLocations', { spec: { rules } }, { atOnce: true });
      return () => writePolicyRecord(world, local.otherFolder, 'gcp.resourceLocations', undefined, { atOnce: true });
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
  { what: 'a token', code: 'forge1-token', flags: { 'forge1-pat': 'unknown' }, exitCode: 2, words: /does not know/ },
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

for (const world of worldNames) {
  describe(`before a bootstrap begins, in the world ${world}`, function () {
    this.timeout(240_000);
    let scene: Scene;
    let alice: Caller;
    before(async () => {
      scene = await makeScene({ world, settings: { PLINTH_MAX_TTL_SECONDS: '86400' } });
      alice = await scene.caller();
      // What the world itself forbids has tests of its own.
      for (const constraint of ['compute.vmExternalIpAccess', 'compute.requireOsLogin'] as const) {
        const rule = constraint === 'compute.requireOsLogin' ? { enforce: false } : { allowAll: true };
        writePolicyRecord(
          scene.cloud.world,
          local.otherFolder,
          constraint,
          { spec: { rules: [rule] } },
          { atOnce: true },
        );
      }
    });
    after(() => scene?.close());

    it('nothing stops a bootstrap as it is meant, and what nobody can know is unknown', async () => {
      const { exitCode, go, findings } = await check(alice, 'as-it-is-meant', here);
      expect([exitCode, go, codesIn(findings, 'stop'), codesIn(findings, 'warning')]).to.deep.equal([0, true, [], []]);
      expect(codesIn(findings, 'unknown')).to.deep.equal([
        'billing-links',
        'project-quota',
        'project-permissions',
        // Whom a policy of domains lets in, Google tells when it gives the owner their role.
        'policies',
        'quota',
        'dns-delegation',
      ]);
    });

    for (const { what, code, flags, arrange, exitCode, words } of cases) {
      it(`${what} is told as ${code}, and nothing is made`, async () => {
        const takeBack = await arrange?.(scene);
        const since = scene.cloud.calls.last();
        try {
          const checked = await check(alice, 'bad-value', { ...here, ...flags });
          const told = checked.findings.find((each) => each.code === code);
          expect(told?.state, JSON.stringify(told)).to.equal('stop');
          expect(codesIn(checked.findings, 'stop')).to.deep.equal([code]);
          expect(`${told?.what} ${told?.mend}`).to.match(words);
          expect(told?.why).to.be.a('string');
          expect([checked.exitCode, checked.go]).to.deep.equal([exitCode, false]);
          expect(changesIn(scene.cloud, since)).to.deep.equal([]);
        } finally {
          await takeBack?.();
        }
      });
    }

    it('a file that is not there is told beside what is wrong elsewhere', async () => {
      const flags = { 'install-local': 'missing.tar.gz', region: 'mars-west1', zone: 'mars-west1-a' };
      const { findings, exitCode } = await check(alice, 'all-at-once', { ...here, ...flags });
      expect(codesIn(findings, 'stop')).to.include.members(['files', 'region']);
      expect(exitCode).to.equal(2);
    });

    it('a new bootstrap that something stops is refused with all of it, and nothing is made', async () => {
      const since = scene.cloud.calls.last();
      const flags = { 'folder-id': '404404404404', zone: 'europe-west4-z', 'billing-account': 'AAAAAA-BBBBBB-CCCCCC' };
      const { result, exitCode } = await alice.bootstrap('refused', flags);
      expect(exitCode).to.equal(2);
      for (const word of ['404404404404', 'europe-west4-z', 'AAAAAA-BBBBBB-CCCCCC']) {
        expect(result.problem?.detail).to.include(word);
      }
      expect(changesIn(scene.cloud, since)).to.deep.equal([]);
    });

    it('a name that somebody else has is told, and one of your own is not', async () => {
      const bob = await scene.caller('bob@example.com');
      expect((await bob.bootstrap('taken-name', here)).result.created).to.equal(true);
      const { findings, exitCode } = await check(alice, 'taken-name', here);
      expect([exitCode, codesIn(findings, 'stop')]).to.deep.equal([5, ['name']]);
      const own = await check(bob, 'taken-name', here);
      expect(own.findings.find(({ code }) => code === 'name')?.what).to.include('yours');
    });
  });
}

describe('the quotas of a project that is not made yet', function () {
  this.timeout(240_000);

  it("are unknown however large plinth's own are, and then as likely as in the last project", async () => {
    const scene = await makeScene({ world: 'fresh' });
    try {
      scene.cloud.faults.quota({ metric: 'CPUS', limit: 100_000, project: local.project });
      const alice = await scene.caller();
      const quotaOf = async (name: string) =>
        (await check(alice, name)).findings.find(({ code }) => code === 'quota') as PreflightFinding;
      const first = await quotaOf('first');
      expect(first.state).to.equal('unknown');
      expect(first).not.to.have.property('likely');
      const began = new Date().toISOString();
      expect((await alice.bootstrap('first')).exitCode).to.equal(7);
      const second = await quotaOf('second');
      expect(second.state).to.equal('unknown');
      expect(second.likely?.state).to.equal('stop');
      expect(second.likely?.at.localeCompare(began)).to.equal(1);
      expect(second.what).to.include('CPUS 52 (limit 24)');
    } finally {
      await scene.close();
    }
  });
});

describe('what machines fetch, before a bootstrap begins', function () {
  this.timeout(240_000);

  it('is told where it is not there: the release of k0s, and the executable of plinth', async () => {
    const scene = await makeScene({
      settings: {
        PLINTH_HOSTS: 'on',
        PLINTH_RELEASES_URL: `gs://${local.releaseBucket}/${local.releaseFolder}`,
        PLINTH_RELEASE_SHA256: '0'.repeat(64),
      },
    });
    try {
      const flags = { 'install-hash': 'none', 'registry-type': 'artifact-registry' };
      const alice = await scene.caller();
      const stopsWith = async (version: string) =>
        codesIn((await check(alice, 'fetches', { ...flags, 'kube-distro-version': version })).findings, 'stop');
      expect(await stopsWith('v1.99.0+k0s.0')).to.deep.equal(['plinth-release', 'k0s-release', 'package']);
      expect(await stopsWith('v1.31.14+k0s.0')).to.deep.equal(['plinth-release', 'package']);
    } finally {
      await scene.close();
    }
  });
});
