/** `--check`: one bad value of every kind is told before anything is made, in each world, all findings at once. */

import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { expect } from 'chai';
import { findings } from '../../functions/preflight/index.js';
import { type RuleParts, ruleFindings } from '../../functions/preflight/rules.js';
import { writePolicyRecord } from '../../local/cloud/org-policy/policies.js';
import { worldNames } from '../../local/cloud/worlds/table.js';
import { makePackage } from '../../local/packages/make-package.js';
import { publishPackage } from '../../local/packages/publish.js';
import { local } from '../../local/stack/deployment.js';
import { flagName, flagOf, optionNames } from '../../shared/bootstrap/options.js';
import type { PreflightFinding } from '../../shared/bootstrap/preflight.js';
import { runAt } from '../support/plinth-here.js';
import { argsOf, type Caller, changesIn, type Flags, makeScene, outcomeOf, type Scene } from '../support/scene.js';
import { badFlags } from './bad-flags.js';
import { type BadValue, badInstalls, badValues, here, stopsNothing } from './bad-values.js';

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

const flagsOfBad = (): Flags =>
  Object.fromEntries(
    optionNames.flatMap((option) => {
      const value = badFlags[option];
      return value === undefined ? [] : [[flagName(option).slice(2), value] as const];
    }),
  );

/** Rules of which each may stop. Only their codes are looked at. */
const allRules: RuleParts = {
  faults: [],
  warnings: [],
  notAllowed: undefined,
  name: undefined,
  standing: undefined,
  checkRelease: () => undefined,
  checkPrice: () => undefined,
  checkResume: async () => undefined,
};

const codesIn = (findings: readonly PreflightFinding[], state: PreflightFinding['state']): string[] =>
  findings.filter((each) => each.state === state).map(({ code }) => code);

const forbidding = [
  'compute.vmExternalIpAccess',
  'compute.requireOsLogin',
  'compute.restrictLoadBalancerCreationForTypes',
] as const;

/** What the world itself forbids has tests of its own. */
function openPolicies({ cloud: { world } }: Scene): void {
  for (const constraint of forbidding) {
    const rule = constraint === 'compute.requireOsLogin' ? { enforce: false } : { allowAll: true };
    writePolicyRecord(world, local.otherFolder, constraint, { spec: { rules: [rule] } }, { atOnce: true });
  }
}

/** Told as this finding alone, with what, why and what mends it, and nothing is made. */
async function isTold(scene: Scene, caller: Caller, { code, flags, arrange, exitCode, words }: Omit<BadValue, 'what'>) {
  const takeBack = await arrange?.(scene);
  const since = scene.cloud.calls.last();
  try {
    const checked = await check(caller, 'bad-value', { ...here, ...flags });
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
}

for (const world of worldNames) {
  describe(`before a bootstrap begins, in the world ${world}`, function () {
    this.timeout(240_000);
    let scene: Scene;
    let alice: Caller;
    before(async () => {
      scene = await makeScene({ world, settings: { PLINTH_MAX_TTL_SECONDS: '86400' } });
      alice = await scene.caller();
      openPolicies(scene);
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

    for (const { what, ...bad } of badValues) {
      it(`${what} is told as ${bad.code}, and nothing is made`, () => isTold(scene, alice, bad));
    }

    it('each flag with a value that it cannot take is told, all in one round, and nothing is made', async () => {
      const since = scene.cloud.calls.last();
      const { findings, exitCode, go } = await check(alice, 'bad-flags', flagsOfBad());
      const told = findings.flatMap(({ state, errors = [] }) =>
        state === 'stop' ? errors.map(({ path }) => path) : [],
      );
      expect(told).to.include.members(Object.keys(flagsOfBad()).map((flag) => `--${flag}`));
      expect([exitCode, go]).to.deep.equal([2, false]);
      expect(changesIn(scene.cloud, since)).to.deep.equal([]);
    });

    it('a value that cannot even be sent is told beside what is wrong elsewhere', async () => {
      const flags = { 'datacenter-id': 'x', 'folder-id': '404404404404', zone: 'europe-west4-z' };
      const { findings, exitCode } = await check(alice, 'unsendable', { ...here, ...flags });
      expect(codesIn(findings, 'stop')).to.deep.equal(['options', 'parent', 'zone']);
      const told = findings.find(({ code }) => code === 'options');
      expect(told?.errors?.map(({ path }) => path)).to.deep.equal(['--datacenter-id']);
      expect(exitCode).to.equal(2);
    });

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

for (const world of worldNames) {
  describe(`before a bootstrap with machines begins, in the world ${world}`, function () {
    this.timeout(240_000);
    let scene: Scene;
    let alice: Caller;
    let registry: Server;
    before(async () => {
      registry = await startRegistry('somebody');
      scene = await makeScene({
        world,
        settings: {
          PLINTH_HOSTS: 'on',
          PLINTH_RELEASES_URL: 'https://mirror.example.com/plinth',
          PLINTH_RELEASE_SHA256: '0'.repeat(64),
          PLINTH_FORGE1_REGISTRY_URL: `http://127.0.0.1:${(registry.address() as AddressInfo).port}`,
        },
      });
      openPolicies(scene);
      alice = await scene.caller();
      await publishPackage(scene.cloud, await makePackage(alice.folder));
    });
    after(async () => {
      await scene?.close();
      registry?.close();
    });

    for (const { what, ...bad } of badInstalls) {
      it(`${what} is told as ${bad.code}, and nothing is made`, () => isTold(scene, alice, bad));
    }
  });
}

/** Lets this user in, with whatever token. */
async function startRegistry(user: string): Promise<Server> {
  const server = createServer((request, response) => {
    const [name] = Buffer.from(request.headers.authorization?.slice('Basic '.length) ?? '', 'base64')
      .toString()
      .split(':');
    response.writeHead(name === user ? 200 : 401, { 'www-authenticate': 'Basic realm="registry"' });
    response.end('{}');
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return server;
}

describe('the table of bad values', () => {
  it('has a row for each finding that can stop a new bootstrap', () => {
    const looked = [...ruleFindings(allRules), ...findings].map(({ code }) => code);
    // Two are of the computer, and the name has a test of its own. A dry run and a resume alone ask for release-known.
    const elsewhere = ['name', 'release-known', ...Object.keys(stopsNothing)];
    const wanted = ['files', 'ssh-key', ...looked.filter((code) => !elsewhere.includes(code))];
    const rows = [...badValues, ...badInstalls].map(({ code }) => code);
    expect([...new Set(rows)].sort()).to.deep.equal(wanted.sort());
  });

  it('has a value for each flag that cannot take every value', () => {
    for (const option of optionNames) {
      const value = badFlags[option];
      const takesAll = flagOf(option).kind === 'bool';
      expect(value === undefined, flagName(option)).to.equal(takesAll);
      if (value !== undefined) expect(flagOf(option).schema.safeParse(value).success, flagName(option)).to.equal(false);
    }
  });
});
