/** `--check`: one bad value of every kind is told before anything is made, all findings at once. By night in each world. */

import { expect } from 'chai';
import type { Asking } from '../../functions/engine/finding.js';
import type { BootstrapRecord } from '../../functions/engine/record/documents.js';
import { findings } from '../../functions/preflight/index.js';
import { lookAt } from '../../functions/preflight/look.js';
import { type RuleParts, ruleFindings } from '../../functions/preflight/rules.js';
import { worldNames } from '../../local/cloud/worlds/table.js';
import { local } from '../../local/stack/deployment.js';
import { bootstrapFindingCodes } from '../../shared/bootstrap/finding-codes.js';
import { flagName, flagOf, optionNames } from '../../shared/bootstrap/options.js';
import type { PreflightFinding } from '../../shared/bootstrap/preflight.js';
import { lifeOf } from '../support/life.js';
import { type Caller, type Flags, makeScene, type Scene, succeeded } from '../support/scene.js';
import { badFlags } from './bad-flags.js';
import { badInstalls, badValues, here, told as toldOf } from './bad-values.js';
import { check, describeBadInstalls, describeBadValues, describeWorld } from './bad-values-in-world.js';

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

for (const world of worldNames) describeWorld(world);
describeBadValues('seasoned');
describeBadInstalls('seasoned');

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
