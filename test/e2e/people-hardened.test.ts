/**
 * The people of a project where it is reached through IAP and logged in to by OS Login: which roles the owner and the invited
 * hold, as the simulated IAM says after each command.
 */
import { expect } from 'chai';
import { customerOf, setOrganizationPolicy } from '../../local/cloud/org-policy/policies.js';
import { functionAccount, local } from '../../local/stack/deployment.js';
import type { BootstrapView } from '../../shared/bootstrap/bootstrap.js';
import { invitedPermissions } from '../../shared/bootstrap/invited.js';
import type { PreflightFinding } from '../../shared/bootstrap/preflight.js';
import { type FunctionName, functionNames } from '../../shared/names.js';
import { type Life, lifeOf } from '../support/life.js';
import { runAt } from '../support/plinth-here.js';
import { type Caller, changesIn, makeScene, refusedWith, type Scene, succeeded } from '../support/scene.js';

const [alice, bob] = ['alice', 'bob'].map((name) => `${name}@${local.domain}`) as [string, string];
const eve = 'eve@elsewhere.example';

describe('the people of a project in a hardened organization', function () {
  this.timeout(240_000);
  let scene: Scene;
  let life: Life;
  let aliceAt: Caller;
  let bobAt: Caller;
  let view: BootstrapView;

  before(async () => {
    scene = await makeScene({
      world: 'hardened',
      settings: { PLINTH_BOOTSTRAPPERS: `example.com,eve@gmail.com,${eve},${eve.replace('eve', 'mallory')}` },
    });
    life = lifeOf(scene);
    await life.pause();
    aliceAt = await scene.caller(alice);
    bobAt = await scene.caller(bob);
    view = succeeded(await aliceAt.bootstrap('people'));
  });
  after(() => scene?.close());

  const plinth = async (caller: Caller, ...args: string[]) => {
    const run = await runAt(['beta', 'bootstrap-cloud', ...args], caller);
    await scene.stack.settle();
    return run;
  };

  /** What is found of organization policies before this person begins. */
  const policiesOf = async (caller: Caller): Promise<PreflightFinding> => {
    const { check } = (await caller.bootstrap('beforehand', { check: true })).result;
    const found = (check as { findings: PreflightFinding[] }).findings.find(({ code }) => code === 'policies');
    if (found === undefined) throw new Error('policies were not looked at');
    return found;
  };

  /** The roles of a person on a resource, as the simulated IAM holds them. */
  const rolesOn = (resource: string, email: string): string[] => {
    const { bindings = [] } = scene.cloud.world.policies.get(resource, 3) as {
      bindings?: { role: string; members: string[] }[];
    };
    return bindings
      .filter(({ members }) => members.includes(`user:${email}`))
      .map(({ role }) => role)
      .sort();
  };
  const rolesOf = (email: string): string[] => rolesOn(`projects/${view.projectId}`, email);
  /** Returns what takes it away again. */
  function addRole(resource: string, role: string, name: FunctionName): () => void {
    const { policies } = scene.cloud.world;
    const before = policies.get(resource, 3);
    const members = [`serviceAccount:${functionAccount(name)}`];
    const bindings = (before['bindings'] ?? []) as { role: string; members: string[] }[];
    policies.set(resource, { ...before, bindings: [...bindings, { role, members }] });
    return () => void policies.set(resource, { ...policies.get(resource, 3), bindings });
  }
  const tunnels = 'roles/iap.tunnelResourceAccessor';
  const login = 'roles/compute.osAdminLogin';
  const editor = 'roles/editor';
  const own = () => `projects/${view.projectId}/roles/plinthInvited`;
  const actsAs = (email: string): string[] =>
    rolesOn(
      `projects/${view.projectId}/serviceAccounts/cloud-controller@${view.projectId}.iam.gserviceaccount.com`,
      email,
    );

  it('the owner has the role that is a setting, tunnels and login, and may act as the nodes', () => {
    expect(rolesOf(alice)).to.deep.equal([login, editor, tunnels]);
    expect(actsAs(alice)).to.deep.equal(['roles/iam.serviceAccountUser']);
    expect(rolesOf(bob)).to.deep.equal([]);
  });

  it('share gives the invited a role of the project, tunnels and login, and names them', async () => {
    const { exitCode, stdout, stderr } = await plinth(aliceAt, 'share', 'people', '--with', bob);
    expect(exitCode, stderr).to.equal(0);
    expect(stdout).to.contain(`They also get ${tunnels}.`).and.to.contain(`They also get ${login}.`);
    expect(rolesOf(bob)).to.deep.equal([own(), login, tunnels].sort());
    expect(actsAs(bob)).to.deep.equal(['roles/iam.serviceAccountUser']);
    expect(rolesOf(alice)).to.deep.equal([login, editor, tunnels]);
  });

  it('hold no permission there that the owner lacks', () => {
    const held = (email: string) =>
      invitedPermissions.filter((permission) =>
        scene.cloud.world.policies.allows({ kind: 'user', email }, permission, `projects/${view.projectId}`),
      );
    expect(held(alice)).to.include.members(held(bob));
    expect(held(bob)).to.include.members(['compute.instances.osLogin', 'compute.instances.osAdminLogin']);
  });

  it('unshare takes all of it away again', async () => {
    const { exitCode, stderr } = await plinth(aliceAt, 'share', 'people', '--with', bob, '--remove');
    expect(exitCode, stderr).to.equal(0);
    expect([rolesOf(bob), actsAs(bob)]).to.deep.equal([[], []]);
    expect(rolesOf(alice)).to.deep.equal([login, editor, tunnels]);
  });

  it('transfer gives the new owner what owners have, and leaves the former one nothing', async () => {
    const { exitCode, stderr } = await plinth(aliceAt, 'transfer', 'people', '--with', bob, '--yes');
    expect(exitCode, stderr).to.equal(0);
    expect([rolesOf(alice), actsAs(alice)]).to.deep.equal([[], []]);
    expect(rolesOf(bob)).to.deep.equal([login, editor, tunnels]);
    expect(actsAs(bob)).to.deep.equal(['roles/iam.serviceAccountUser']);
    expect((await plinth(bobAt, 'transfer', 'people', '--with', alice, '--yes')).exitCode).to.equal(0);
    expect([rolesOf(alice), rolesOf(bob)]).to.deep.equal([[login, editor, tunnels], []]);
  });

  it('are told when sharing that the organization limits who may be bound, and who was refused', async () => {
    const { exitCode, stdout, stderr } = await plinth(aliceAt, 'share', 'people', '--with', eve);
    expect(exitCode, stderr).to.equal(0);
    expect(stdout).to.match(/certain organizations alone.*iam\.allowedPolicyMemberDomains: allow C/);
    // Who may be bound gets their roles nonetheless.
    expect((await plinth(aliceAt, 'share', 'people', '--with', bob)).exitCode).to.equal(0);
    expect([rolesOf(eve), rolesOf(bob)]).to.deep.equal([[], [own(), login, tunnels].sort()]);
    const { problem } = (await scene.view(view.id)).instances.find(({ id }) => id === 'caller-role') ?? {};
    expect(problem?.code).to.equal('cloud-policy');
    expect(problem?.advice).to.include(`user:${eve}`).and.to.include(`--with ${eve} --remove`);
    expect((await plinth(aliceAt, 'share', 'people', '--with', eve, '--remove')).exitCode).to.equal(0);
    const roles = (await scene.view(view.id)).instances.filter(({ id }) => /^(caller-role|people-login)$/.test(id));
    expect(roles.map(({ state }) => state)).to.deep.equal(['done', 'done']);
  });

  it('the first owner of a domain is told beforehand, where plinth may see the organization', async () => {
    const stranger = await scene.caller('eve@gmail.com');
    const eveAt = await scene.caller(eve);
    expect((await policiesOf(stranger)).state).to.equal('stop');
    expect((await policiesOf(eveAt)).state).to.equal('unknown');
    const undo = addRole(local.organization, 'roles/resourcemanager.organizationViewer', functionNames.runCloudStep);
    const warned = await policiesOf(eveAt);
    expect(warned.state).to.equal('warning');
    expect(warned.what).to.include('elsewhere.example is not its primary domain').and.to.include(eve);
    const since = scene.cloud.calls.last();
    const outcome = await eveAt.bootstrap('strictly', { strict: true });
    refusedWith(outcome, 'bad-input');
    expect(outcome.result.problem?.detail).to.include('iam.allowedPolicyMemberDomains');
    const atGmail = await stranger.bootstrap('nobodys');
    refusedWith(atGmail, 'cloud-policy');
    expect(atGmail.result.problem?.detail).to.include('Nobody of gmail.com gets a role');
    expect(changesIn(scene.cloud, since)).to.deep.equal([]);
    undo();
  });

  it('policies are judged although Google does not say which organizations plinth may see', async () => {
    const stranger = await scene.caller('eve@gmail.com');
    const eveAt = await scene.caller(eve);
    const fault = scene.cloud.faults.add({ method: 'cloudresourcemanager.organizations.search', code: 500, times: 0 });
    try {
      expect((await policiesOf(stranger)).state).to.equal('stop');
      const { state, what } = await policiesOf(eveAt);
      expect(state).to.equal('unknown');
      expect(what).to.include('iam.allowedPolicyMemberDomains').and.to.include(eve);
    } finally {
      scene.cloud.faults.remove(fault);
    }
  });

  it('an owner who may not be bound is told so by name', async () => {
    const eveAt = await scene.caller(eve);
    const beforehand = await policiesOf(eveAt);
    expect(beforehand.state).to.equal('unknown');
    expect(beforehand.what).to.include('iam.allowedPolicyMemberDomains').and.to.include(eve);
    const { exitCode, result } = await eveAt.bootstrap('foreign');
    expect(exitCode).to.equal(7);
    const instances = result.bootstrap?.instances ?? [];
    const { problem } = instances.find(({ id }) => id === 'caller-role') ?? {};
    expect(problem?.code).to.equal('cloud-policy');
    expect(problem?.detail).to.include('iam.allowedPolicyMemberDomains');
    expect(problem?.advice).to.include(`user:${eve}`).and.to.include('may be given roles in this organization');
  });

  it('and from then on nobody of that domain begins anything there, until the policy is another one', async () => {
    const since = scene.cloud.calls.last();
    const mallory = await scene.caller(eve.replace('eve', 'mallory'));
    const outcome = await mallory.bootstrap('foreign-too');
    refusedWith(outcome, 'cloud-policy');
    expect(outcome.result.problem?.detail).to.include('the last owner of elsewhere.example').and.not.to.include(eve);
    expect(changesIn(scene.cloud, since)).to.deep.equal([]);
    expect((await policiesOf(aliceAt)).state).to.equal('ok');
    const rules = [{ values: { allowedValues: ['is:C0another'] } }];
    const name = 'iam.allowedPolicyMemberDomains';
    setOrganizationPolicy(scene.cloud.world, local.folder, name, rules);
    expect((await policiesOf(mallory)).state).to.equal('unknown');
    // By another policy nobody began anything yet.
    expect((await policiesOf(aliceAt)).state).to.equal('unknown');
    addRole(local.organization, 'roles/resourcemanager.organizationViewer', functionNames.runCloudStep);
    expect((await policiesOf(aliceAt)).problem).to.equal('cloud-policy');
    const theirs = [{ values: { allowedValues: ['is:C0another', `is:${customerOf(local.organization)}`] } }];
    setOrganizationPolicy(scene.cloud.world, local.folder, name, theirs);
    expect((await policiesOf(aliceAt)).state).to.equal('ok');
    expect((await policiesOf(mallory)).state).to.equal('unknown');
  });

  it('a form of value that plinth does not know stops nobody: that is unknown', async () => {
    const name = 'iam.allowedPolicyMemberDomains';
    const stranger = await scene.caller('eve@gmail.com');
    for (const [value, caller] of [
      ['is:principalSet://goog/public:all', aliceAt],
      ['is:a-form-of-next-year', stranger],
    ] as const) {
      const rules = [{ values: { allowedValues: ['is:C0another', value] } }];
      setOrganizationPolicy(scene.cloud.world, local.folder, name, rules);
      const { state, what, mend } = await policiesOf(caller);
      expect([state, what.includes(value), mend?.includes('orgpolicy.policyAdmin')], value).to.deep.equal([
        'unknown',
        true,
        true,
      ]);
    }
  });
});
