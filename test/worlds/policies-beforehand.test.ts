/** Organization policies are read before anything is made. One that plinth can't meet is refused by name, all at once. */
import { expect } from 'chai';
import type { JsonObject } from '../../local/cloud/kernel/api.js';
import { setOrganizationPolicy } from '../../local/cloud/org-policy/policies.js';
import type { ConstraintName } from '../../local/cloud/worlds/constraints.js';
import type { WorldName } from '../../local/cloud/worlds/table.js';
import { makePackage, sampleVersion } from '../../local/packages/make-package.js';
import { type FunctionEnvironment, functionAccount, local } from '../../local/stack/deployment.js';
import { publishPackage } from '../../local/stack/publish-package.js';
import type { BootstrapView } from '../../shared/bootstrap/bootstrap.js';
import { functionNames } from '../../shared/names.js';
import { runAt } from '../support/plinth-here.js';
import {
  argsOf,
  type Caller,
  changesIn,
  type Flags,
  failedWith,
  makeScene,
  type Outcome,
  outcomeOf,
  refusedWith,
  type Scene,
  succeeded,
} from '../support/scene.js';

type Rules = Readonly<Partial<Record<ConstraintName, JsonObject>>>;

const enforced = { enforce: true };
const allow = (...allowedValues: string[]) => ({ values: { allowedValues } });
const deny = (...deniedValues: string[]) => ({ values: { deniedValues } });
const place = local.otherFolder;
const here: Flags = { 'folder-id': place.replace('folders/', '') };
const reader = functionAccount(functionNames.runCloudStep);

/** What the refusal says. There is no bootstrap then. */
function refusalOf(outcome: Outcome) {
  refusedWith(outcome, 'cloud-policy');
  const problem = outcome.result.problem as unknown as {
    detail: string;
    advice: string;
    place: string;
    mayChange: string;
    constraints: JsonObject[];
  };
  return { ...problem, members: problem };
}

describe('organization policies, before anything is made', function () {
  this.timeout(240_000);
  let scene: Scene;
  let count = 0;

  before(async () => {
    scene = await makeScene();
  });
  after(() => scene?.close());

  const newName = () => `beforehand-${++count}`;
  const set = (at: string, rules: Rules) => {
    for (const [constraint, rule] of Object.entries(rules)) {
      const rules = rule === undefined ? undefined : [rule];
      setOrganizationPolicy(scene.cloud.world, at, constraint as ConstraintName, rules);
    }
  };
  const unset = (at: string, rules: Rules) => {
    for (const constraint of Object.keys(rules)) {
      setOrganizationPolicy(scene.cloud.world, at, constraint as ConstraintName, undefined);
    }
  };
  let tooFewCpus: string;
  /** Bootstraps end at the check of quotas, which fails: what policies are asked for beforehand was settled by then. */
  const endEarly = (): void => {
    tooFewCpus = scene.cloud.faults.quota({ metric: 'CPUS', limit: 1 });
  };
  beforeEach(endEarly);
  afterEach(() => scene.cloud.faults.clear());
  function begun(outcome: Outcome): BootstrapView {
    failedWith(outcome, 'quota');
    return outcome.result.bootstrap as BootstrapView;
  }
  /** A bootstrap in a folder with these policies. They go afterwards. */
  async function under(rules: Rules, flags: Flags = {}, name = newName()): Promise<Outcome> {
    set(place, rules);
    try {
      return await (await scene.caller()).bootstrap(name, { ...here, ...flags });
    } finally {
      unset(place, rules);
    }
  }
  const reads = (since: number) =>
    scene.cloud.calls.list({ since }).filter(({ method }) => method.endsWith('getEffectivePolicy'));
  const projectsAskedFor = (since: number) =>
    scene.cloud.calls.list({ since, method: 'cloudresourcemanager.projects.create' });

  it('are read where the project will be, by the function that makes it, before it begins and again by its step', async () => {
    const since = scene.cloud.calls.last();
    const { warnings, instances } = begun(await (await scene.caller()).bootstrap(newName()));
    expect(warnings).to.deep.equal([]);
    const found = reads(since);
    const names = found.map(({ params }) => String(params['name']));
    expect(names).to.include(`${local.folder}/policies/compute.vmExternalIpAccess`);
    // By the preflight, whose round serves the screen and the beginning, and by the step.
    expect(names.length).to.equal(2 * new Set(names).size);
    expect(new Set(found.map(({ caller }) => caller))).to.deep.equal(new Set([reader]));
    const asked = projectsAskedFor(since)[0];
    expect(found.every(({ n }) => n < (asked?.n ?? 0))).to.equal(true);
    expect(instances.find(({ id }) => id === 'policies')?.state).to.equal('done');
  });

  const other = 'projects/other/zones/europe-west4-a/instances/gate';
  const refused: readonly (readonly [
    form: string,
    rules: readonly (readonly [ConstraintName, JsonObject, RegExp])[],
  ])[] = [
    [
      'what is forbidden',
      [
        ['compute.vmExternalIpAccess', { denyAll: true }, /jumpbox .* public address/],
        ['gcp.resourceLocations', deny('in:europe-west4-locations'), /europe-west4/],
        ['gcp.restrictServiceUsage', deny('compute.googleapis.com'), /compute\.googleapis\.com/],
        ['serviceuser.services', deny('dns.googleapis.com'), /dns\.googleapis\.com/],
        ['iam.disableServiceAccountCreation', enforced, /service account/],
        ['iam.allowedPolicyMemberDomains', { denyAll: true }, /user:alice@example\.com/],
      ],
    ],
    [
      'what alone is allowed',
      [
        ['compute.vmExternalIpAccess', allow(other), /public address/],
        ['gcp.resourceLocations', allow('in:us-locations'), /europe-west4/],
        ['compute.trustedImageProjects', allow('projects/debian-cloud'), /projects\/ubuntu-os-cloud/],
        ['gcp.restrictServiceUsage', allow('storage.googleapis.com'), /compute\.googleapis\.com.*dns\.googleapis\.com/],
      ],
    ],
  ];
  for (const [form, each] of refused) {
    it(`that say ${form} are refused by name and place, all at once, with nothing made`, async () => {
      const since = scene.cloud.calls.last();
      const { detail, advice, members } = refusalOf(await under(Object.fromEntries(each)));
      expect(detail).to.include(place);
      expect(advice).to.include('roles/orgpolicy.policyAdmin');
      expect(members).to.include({ place, mayChange: 'roles/orgpolicy.policyAdmin' });
      expect(members.constraints).to.have.lengthOf(each.length);
      for (const [constraint, , words] of each) {
        const look = `gcloud org-policies describe ${constraint} --effective --folder=${place.replace('folders/', '')}`;
        const policy = `${place}/policies/${constraint}`;
        const found = members.constraints.find((one) => one['constraint'] === constraint);
        expect(found, constraint).to.include({ policy, look });
        expect(found?.['detail'] ?? detail, constraint).to.match(words);
        expect(detail).to.include(constraint);
        expect(advice).to.include(look);
      }
      expect(projectsAskedFor(since)).to.deep.equal([]);
      const made = changesIn(scene.cloud, since).filter(({ method }) => !method.startsWith('secretmanager.'));
      expect(made.filter(({ caller }) => caller === reader)).to.deep.equal([]);
    });
  }

  it('that deny the API of OS Login are refused by name where OS Login is required, and nowhere else', async () => {
    const since = scene.cloud.calls.last();
    const denied = deny('oslogin.googleapis.com');
    const both: Rules = { 'gcp.restrictServiceUsage': denied, 'serviceuser.services': denied };
    expect(begun(await under(both)).instances.find(({ id }) => id === 'apis')?.state).to.equal('done');
    const { members } = refusalOf(await under({ ...both, 'compute.requireOsLogin': enforced }));
    expect(members.constraints.map(({ constraint }) => constraint)).to.have.members(Object.keys(both));
    expect(members.detail).to.include('oslogin.googleapis.com');
    expect(projectsAskedFor(since)).to.have.lengthOf(1);
  });

  it('that are met, or hit nothing which these flags make, refuse nothing and warn of nothing, and are read again where an answer failed', async () => {
    const since = scene.cloud.calls.last();
    const rules: Rules = {
      'compute.requireShieldedVm': enforced,
      'compute.disableGuestAttributesAccess': enforced,
      'compute.skipDefaultNetworkCreation': enforced,
      'compute.requireOsLogin': { enforce: false },
      'compute.vmExternalIpAccess': { allowAll: true },
      'gcp.resourceLocations': allow('in:eu-locations', 'global'),
      'compute.trustedImageProjects': allow('is:projects/ubuntu-os-cloud'),
      'gcp.restrictServiceUsage': deny('container.googleapis.com'),
      'compute.restrictLoadBalancerCreationForTypes': allow('in:INTERNAL'),
    };
    scene.cloud.faults.remove(tooFewCpus);
    scene.cloud.faults.add({ method: 'orgpolicy.*', times: 2, code: 503 });
    expect(succeeded(await under(rules)).warnings).to.deep.equal([]);
    const names = reads(since).map(({ params }) => String(params['name']));
    expect(names.filter((name) => /LoadBalancer/.test(name))).to.deep.equal([]);
  });

  describe('that cannot be judged are unknown, never fine', () => {
    const warned = (outcome: Outcome, ...words: string[]): void => {
      const { warnings, instances } = begun(outcome);
      expect(instances.find(({ id }) => id === 'policies')?.state).to.equal('done');
      expect(warnings).to.have.lengthOf(1);
      for (const word of words) expect(warnings[0]).to.include(word);
    };
    const grant = ['compute.vmExternalIpAccess', 'orgpolicy.policy.get', 'roles/orgpolicy.policyViewer', reader, place];

    /** Takes the reader's role on the folder away, as in a deployment whose terraform is older. */
    function withoutRight(): () => void {
      const { policies } = scene.cloud.world;
      const before = policies.get(place, 3);
      const bindings = (before['bindings'] ?? []) as { role: string; members: string[] }[];
      const left = bindings.filter(({ role }) => role !== 'roles/orgpolicy.policyViewer');
      expect(left).to.have.lengthOf(bindings.length - 1);
      policies.set(place, { ...before, bindings: left });
      return () => void policies.set(place, { ...policies.get(place, 3), bindings });
    }

    it('without the right to read them, which is named', async () => {
      const giveBack = withoutRight();
      try {
        const name = newName();
        warned(await under({}, {}, name), ...grant);
        // Whoever began it may see it again, for people and for programs.
        const caller = await scene.caller();
        const shown = await caller.plinth('status', name);
        for (const word of grant) expect(shown.stdout, shown.stderr).to.include(word);
        const { bootstrap } = JSON.parse((await caller.plinth('status', name, '--json')).stdout) as {
          bootstrap: { result: { policies: { place: string; grant: string; findings: JsonObject[] } } };
        };
        const { policies } = bootstrap.result;
        expect(policies.place).to.equal(place);
        expect(policies.grant).to.include('roles/orgpolicy.policyViewer').and.to.include(place);
        const unknown = policies.findings.filter(({ state }) => state === 'unknown');
        expect(unknown.map(({ constraint }) => constraint)).to.include('compute.requireOsLogin');
        // What plinth meets in any case is met whatever the policy says.
        const met = policies.findings.filter(({ state }) => state === 'met');
        expect(met.map(({ constraint }) => constraint)).to.include.members([
          'compute.requireShieldedVm',
          'compute.skipDefaultNetworkCreation',
        ]);
      } finally {
        giveBack();
      }
    });

    it('without it, a later refusal is told as it comes', async () => {
      scene.cloud.faults.remove(tooFewCpus);
      const giveBack = withoutRight();
      try {
        const { result } = await under({ 'compute.vmExternalIpAccess': { denyAll: true } });
        const failed = (result.bootstrap?.instances ?? []).filter(({ state }) => state === 'failed');
        expect(failed.map(({ id, problem }) => `${id} ${problem?.code}`)).to.deep.equal(['vm:jumpbox cloud-policy']);
        expect(result.bootstrap?.warnings.join()).to.include('orgpolicy.policy.get');
      } finally {
        giveBack();
      }
    });

    it('with the API off in the project of plinth itself', async () => {
      const { services } = scene.cloud.world.project(local.project);
      const on = services['orgpolicy.googleapis.com'];
      delete services['orgpolicy.googleapis.com'];
      try {
        warned(await under({}), 'compute.vmExternalIpAccess', 'orgpolicy.googleapis.com', local.project);
      } finally {
        if (on !== undefined) services['orgpolicy.googleapis.com'] = on;
      }
    });

    it('where a condition decides, which the simulated cloud does not judge (501), or a value that plinth does not know', async () => {
      const condition = { expression: "resource.matchTag('1000000000001/env', 'test')" };
      const { result } = await under({
        'compute.requireOsLogin': { ...enforced, condition },
        'gcp.resourceLocations': allow('in:low-carbon-locations'),
      });
      expect(result.bootstrap?.instances.find(({ id }) => id === 'policies')?.state).to.equal('done');
      expect(result.bootstrap?.warnings.join())
        .to.include('compute.requireOsLogin')
        .and.to.include('gcp.resourceLocations')
        .and.to.include('in:low-carbon-locations');
    });
  });

  it('refused once, go on by the same command when they are changed; then those of the project count, and one that is not met is a warning', async () => {
    const name = newName();
    refusalOf(await under({ 'iam.disableServiceAccountCreation': enforced }, {}, name));
    begun(await under({}, {}, name));
    const since = scene.cloud.calls.last();
    const again = begun(await under({ 'compute.vmExternalIpAccess': { denyAll: true } }, {}, name));
    expect(again.warnings.join()).to.include('compute.vmExternalIpAccess').and.to.include(again.projectId);
    const names = reads(since).map(({ params }) => String(params['name']));
    expect(names.filter((each) => !each.startsWith(`projects/${again.projectId}/`))).to.deep.equal([]);
    set(`projects/${again.projectId}`, { 'compute.vmExternalIpAccess': { allowAll: true } });
    const third = begun(await under({ 'compute.vmExternalIpAccess': { denyAll: true } }, {}, name));
    expect(third.warnings).to.deep.equal([]);
  });
});

describe('a policy that lets load balancers be internal alone, before a platform is installed', function () {
  this.timeout(240_000);
  const constraint = 'compute.restrictLoadBalancerCreationForTypes';
  const flags = { 'install-version': sampleVersion, 'registry-type': 'artifact-registry' };
  let scene: Scene;
  afterEach(() => scene?.close());

  /** With machines, and with the platform's package. */
  async function installerIn(world: WorldName, settings: FunctionEnvironment = {}): Promise<Caller> {
    scene = await makeScene({
      world,
      settings: {
        PLINTH_HOSTS: 'on',
        PLINTH_RELEASES_URL: 'https://mirror.example.com/plinth',
        PLINTH_RELEASE_SHA256: '0'.repeat(64),
        ...settings,
      },
    });
    const caller = await scene.caller();
    await publishPackage(scene.cloud, await makePackage(caller.folder));
    return caller;
  }
  const projects = () => Object.keys(scene.cloud.world.table('projects')).sort();

  it('refuses external ones with the type and the setting, and nothing is made', async () => {
    const caller = await installerIn('seasoned', { PLINTH_LOAD_BALANCERS: 'external' });
    setOrganizationPolicy(scene.cloud.world, local.folder, constraint, [allow('in:INTERNAL')]);
    const [since, before] = [scene.cloud.calls.last(), projects()];
    const { detail, advice } = refusalOf(await caller.bootstrap('outside', flags));
    expect(detail).to.include(constraint).and.to.include('EXTERNAL_NETWORK_TCP_UDP');
    expect(detail).to.include('PLINTH_LOAD_BALANCERS');
    expect(advice).to.include(`gcloud org-policies describe ${constraint} --effective`);
    expect(changesIn(scene.cloud, since)).to.deep.equal([]);
    expect(projects()).to.deep.equal(before);
  });

  // test/worlds/hardened.tools.test.ts goes on from here to the end of an install.
  it('stops no install in the hardened world, whose deployment has internal ones', async () => {
    const caller = await installerIn('hardened');
    const since = scene.cloud.calls.last();
    const checked = outcomeOf(
      await runAt(['beta', 'bootstrap-cloud', '--check', '--json', ...argsOf('inside', flags)], caller),
    );
    expect(checked.result.exitCode, checked.stdout).to.equal(0);
    expect(checked.result['check']).to.include({ go: true });
    const asked = scene.cloud.calls.list({ since }).map(({ params }) => String(params['name']));
    expect(asked).to.include(`${local.folder}/policies/${constraint}`);
  });
});
