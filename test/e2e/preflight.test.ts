/** `--check`: one bad value of every kind is told before anything is made, in each world, all findings at once. */

import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { expect } from 'chai';
import type { BootstrapRecord } from '../../functions/engine/record/documents.js';
import type { Asking } from '../../functions/preflight/finding.js';
import { findings } from '../../functions/preflight/index.js';
import { lookAt } from '../../functions/preflight/look.js';
import { type RuleParts, ruleFindings } from '../../functions/preflight/rules.js';
import { writePolicyRecord } from '../../local/cloud/org-policy/policies.js';
import { worldNames } from '../../local/cloud/worlds/table.js';
import { forge1Pat } from '../../local/forge1/forge1.js';
import { makePackage, sampleVersion } from '../../local/packages/make-package.js';
import { publishPackage } from '../../local/packages/publish.js';
import { local } from '../../local/stack/deployment.js';
import { bootstrapFindingCodes } from '../../shared/bootstrap/finding-codes.js';
import { flagName, flagOf, optionNames } from '../../shared/bootstrap/options.js';
import type { PreflightFinding } from '../../shared/bootstrap/preflight.js';
import { functionNames } from '../../shared/names.js';
import { lifeOf } from '../support/life.js';
import { runAt } from '../support/plinth-here.js';
import {
  argsOf,
  type Caller,
  changesIn,
  type Flags,
  makeScene,
  outcomeOf,
  type Scene,
  succeeded,
} from '../support/scene.js';
import { inSharedZone } from '../support/shared-zone.js';
import { badFlags } from './bad-flags.js';
import { type BadValue, badInstalls, badValues, here, told as toldOf } from './bad-values.js';

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
  withoutFiles: true,
  isPreview: false,
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
    expect(told?.mend).to.match(toldOf[code].mend as RegExp);
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
      expect(findings.find(({ code }) => code === 'name')?.mend).to.match(toldOf.name.mend as RegExp);
      const own = await check(bob, 'taken-name', here);
      expect(own.findings.find(({ code }) => code === 'name')?.what).to.include('yours');
      // Somebody of that domain has got their role by now.
      const policies = (await check(alice, 'after-it', here)).findings.find(({ code }) => code === 'policies');
      expect([policies?.state, policies?.what.match(toldOf.policies.ok as RegExp)?.length]).to.deep.equal(['ok', 1]);
    });
  });
}

describe('what nobody can know before there is a project', function () {
  this.timeout(240_000);
  let scene: Scene;
  let alice: Caller;
  before(async () => {
    scene = await makeScene();
    alice = await scene.caller();
  });
  after(() => scene?.close());

  const codes = ['billing-links', 'project-quota', 'project-permissions', 'quota'];
  const likelyOf = async (name: string, flags: Flags = {}) => {
    const { findings, go } = await check(alice, name, flags);
    expect(go).to.equal(true);
    const found = findings.filter(({ code }) => codes.includes(code));
    expect(
      found.map(({ state }) => state),
      'never fine, and never a stop',
    ).to.deep.equal(codes.map(() => 'unknown'));
    return Object.fromEntries(found.map(({ code, likely }) => [code, likely]));
  };
  const nothing = Object.fromEntries(codes.map((code) => [code, undefined]));

  it('is as likely as it was with the last project beneath the same parent, which the same account pays for', async () => {
    expect(await likelyOf('first')).to.deep.equal(nothing);
    // plinth may make as many projects as it likes, and one more is refused all the same.
    scene.cloud.faults.quota({ metric: 'projects', limit: 0 });
    const { exitCode, result } = await alice.bootstrap('refused');
    expect(exitCode).to.equal(7);
    const failed = result.bootstrap?.instances.find(({ id }) => id === 'project');
    expect(failed?.problem?.code).to.equal('cloud-quota');
    const record = await lifeOf(scene).record(result.bootstrap?.id ?? '');
    expect(await likelyOf('second')).to.deep.equal({
      ...nothing,
      'project-quota': { state: 'stop', at: record?.instances['project']?.endedAt ?? record?.createdAt },
    });
    scene.cloud.faults.clear();
    const view = succeeded(await alice.bootstrap('well'));
    const { instances } = (await lifeOf(scene).record(view.id)) as BootstrapRecord;
    const fine = (step: string) => ({ state: 'ok', at: instances[step]?.endedAt });
    const likely = {
      'billing-links': fine('billing'),
      'project-quota': fine('project'),
      'project-permissions': fine('apis'),
      quota: fine('quota'),
    };
    expect(await likelyOf('third')).to.deep.equal(likely);
    // Without its permissions, as the step would have written it.
    const { output: _, ...apis } = instances['apis'] ?? {};
    const problem = { code: 'cloud-permission', detail: 'plinth may not.' };
    await lifeOf(scene).change(view.id, {
      instances: { ...instances, apis: { ...apis, state: 'failed', problem } },
    });
    expect(await likelyOf('fourth')).to.deep.equal({
      ...likely,
      'project-permissions': { ...fine('apis'), state: 'stop' },
    });
    // Elsewhere it says nothing.
    expect(await likelyOf('elsewhere', here)).to.deep.equal(nothing);
    const other = { 'billing-account': local.otherBillingAccount };
    expect(await likelyOf('by-another-account', other)).to.deep.equal(nothing);
  });
});

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

    const everything: Flags = {
      ...here,
      ...inSharedZone,
      'install-version': sampleVersion,
      'registry-type': 'forge1',
      'forge1-pat': forge1Pat,
      'forge1-team-org': 'example',
      'forge1-team-slug': 'platform',
    };

    it('each finding is fine where all is as it must be, and says what was seen', async () => {
      const { findings, go } = await check(alice, 'everything', everything);
      expect(go).to.equal(true);
      // Both come with what stands: whom a policy of domains lets in, and whether a resume finds its release.
      const later = ['policies', 'release-known'];
      for (const [code, { ok }] of Object.entries(toldOf).filter(([each]) => !later.includes(each))) {
        const found = findings.find((each) => each.code === code);
        expect(found?.state, JSON.stringify(found ?? code)).to.equal(ok === undefined ? 'unknown' : 'ok');
        if (ok !== undefined) expect(found?.what, code).to.match(ok);
      }
    });

    it('a registry that does not answer is unknown, and stops nothing', async () => {
      const { registryUrls } = scene.stack.functionsHalf?.contextOf(functionNames.bootstraps).config ?? {};
      const before = { ...registryUrls };
      Object.assign(registryUrls ?? {}, { forge1: 'http://127.0.0.1:9' });
      try {
        const { findings, go } = await check(alice, 'unreadable', everything);
        const found = findings.find(({ code }) => code === 'registry');
        expect([found?.state, go]).to.deep.equal(['unknown', true]);
        expect(found?.what).to.include('http://127.0.0.1:9 does not answer');
      } finally {
        Object.assign(registryUrls ?? {}, before);
      }
    });
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
  it('knows each finding, in the order in which they are told', () => {
    const looked = [...ruleFindings(allRules), ...findings].map(({ code }) => code);
    // Two are of the computer.
    expect(['ssh-key', 'files', ...looked]).to.deep.equal(bootstrapFindingCodes);
    expect(Object.keys(toldOf)).to.deep.equal(bootstrapFindingCodes);
  });

  it('has a row for each finding that can stop a new bootstrap', () => {
    // The name has a test of its own.
    const wanted = bootstrapFindingCodes.filter((code) => code !== 'name' && typeof toldOf[code].mend !== 'string');
    const rows = [...badValues, ...badInstalls].map(({ code }) => code);
    expect([...new Set(rows)].sort()).to.deep.equal(wanted.toSorted());
  });

  it('has what is fine of a release that is known', async () => {
    const [found] = await lookAt(
      ruleFindings(allRules).filter(({ code }) => code === 'release-known'),
      {} as Asking,
    );
    expect(found?.verdict.state === 'ok' && found.verdict.what).to.match(toldOf['release-known'].ok as RegExp);
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
