/**
 * The roles of the functions: each is known to the cloud, and each of those that the simulated cloud enforces is needed. That
 * run-cloud-step may publish is needed where its time ends, or more is ready than it goes on with itself (test/engine/run.test.ts).
 */
import { expect } from 'chai';
import { roleIsKnown } from '../../local/cloud/iam/predefined-roles.js';
import { customRoles, functionAccount, functionGrants, local } from '../../local/stack/deployment.js';
import { deploymentSecrets, type FunctionName, functionNames } from '../../shared/names.js';
import { makeScene, type Scene } from '../support/scene.js';

/** Everything that a role could be needed for. */
const flags = (zone: string, dnsProject: string = local.dnsProject) => ({
  'dns-project-id': dnsProject,
  'dns-zone-name': zone,
  'cloud-acme-issuer': true as const,
});
const project = `projects/${local.project}`;
const { standingZone } = local;
const proofKey = `${project}/secrets/${deploymentSecrets.proofKey}`;

type Needed = readonly [
  FunctionName,
  role: string,
  resource: string,
  refused: string,
  using?: ReturnType<typeof flags>,
];
const needed: readonly Needed[] = [
  [functionNames.bootstraps, `${project}/roles/plinthSecretMaker`, project, 'secretmanager.projects.secrets.create'],
  [functionNames.bootstraps, `${project}/roles/plinthSecrets`, project, 'secretmanager.'],
  [functionNames.runCloudStep, `${project}/roles/plinthSecretMaker`, project, 'secretmanager.projects.secrets.create'],
  [functionNames.runCloudStep, `${project}/roles/plinthSecrets`, project, 'secretmanager.'],
  [functionNames.runCloudStep, 'roles/secretmanager.secretAccessor', proofKey, 'secretmanager.'],
  [functionNames.runCloudStep, 'roles/dns.admin', `projects/${local.dnsProject}`, 'dns.'],
  [
    functionNames.runCloudStep,
    'roles/dns.admin',
    `projects/${standingZone.project}/managedZones/${standingZone.name}`,
    'dns.',
    flags(standingZone.name, standingZone.project),
  ],
];

describe('roles of the functions', function () {
  this.timeout(240_000);
  let scene: Scene;

  before(async () => {
    scene = await makeScene();
  });
  after(() => scene?.close());

  it('are given to every function, and exist', () => {
    const accounts = (names: readonly FunctionName[]) => [...new Set(names.map(functionAccount))];
    const named = accounts(functionGrants.map(({ name }) => name));
    expect(named).to.have.members(accounts(Object.values(functionNames)));
    const own = new Set(customRoles.map(({ name }) => name));
    for (const { role } of functionGrants) expect(own.has(role) || roleIsKnown(role) === 'known', role).to.equal(true);
  });

  it('never are owner, editor or admin of plinth’s own project', () => {
    const own = functionGrants.filter(({ on }) => on === 'project').map(({ role }) => role);
    expect(own.filter((role) => /owner|editor|admin/i.test(role))).to.deep.equal([]);
  });

  for (const [i, [name, role, resource, method, using = flags(`zone-${i}`)]] of needed.entries()) {
    it(`${name} needs ${role} on ${resource}`, async () => {
      const { policies } = scene.cloud.world;
      const member = `serviceAccount:${functionAccount(name)}`;
      const before = policies.get(resource, 3);
      const bindings = (before['bindings'] as { role: string; members: string[] }[]).map((binding) =>
        binding.role === role ? { ...binding, members: binding.members.filter((each) => each !== member) } : binding,
      );
      policies.set(resource, { ...before, bindings });
      const since = scene.cloud.calls.last();
      try {
        const alice = await scene.caller();
        const running = alice.start(`role-${i}`, using);
        // Without the right to publish nothing fails at once: sweep steps in, message by message.
        const refusal = await firstRefusal(since, functionAccount(name), method);
        running.interrupt();
        await running.ended;
        expect(refusal.message).to.match(/denied|permission|forbidden/i);
      } finally {
        policies.set(resource, { version: 3, bindings: before['bindings'] ?? [] });
      }
    });
  }

  for (const [needs, resource, words] of [
    ['roles/billing.user', `billingAccounts/${local.billingAccount}`, 'may link no project'],
    ['roles/resourcemanager.projectCreator', local.folder, 'may make no projects'],
  ] as const) {
    it(`run-cloud-step needs ${needs}, as the preflight tells before it is refused anything`, async () => {
      const { policies } = scene.cloud.world;
      const before = policies.get(resource, 3);
      const bindings = (before['bindings'] as { role: string }[]).filter(({ role }) => role !== needs);
      policies.set(resource, { ...before, bindings });
      try {
        const refused = await (await scene.caller()).bootstrap('unlinked', flags('unlinked'));
        expect(refused.exitCode).to.equal(3);
        expect(refused.stderr).to.contain(words).and.to.contain(needs);
      } finally {
        policies.set(resource, { version: 3, bindings: before['bindings'] ?? [] });
      }
    });
  }

  async function firstRefusal(since: number, email: string, wanted: string) {
    for (let waited = 0; waited < 30_000; waited += 50) {
      const found = scene.cloud.calls
        .list({ since })
        .find(({ caller, status, method }) => caller === email && status === 403 && method.startsWith(wanted));
      if (found !== undefined) return found;
      await new Promise((resolve) => setTimeout(resolve, 50));
    }
    throw new Error(`${email} was never refused anything`);
  }

  it('are enough: nothing is refused in a whole bootstrap, but a project that is not there yet', async () => {
    const since = scene.cloud.calls.last();
    const { exitCode, stderr } = await (await scene.caller()).bootstrap('enough', flags('enough'));
    expect(exitCode, stderr).to.equal(0);
    const refused = scene.cloud.calls
      .list({ since })
      .filter(
        ({ caller, status, method }) =>
          status === 403 && method !== 'cloudresourcemanager.projects.get' && caller.startsWith('plinth-'),
      )
      .map(({ method, caller, message }) => `${method} ${caller} ${message}`);
    expect(refused).to.deep.equal([]);
  });
});
