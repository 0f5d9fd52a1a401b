/** Which roles the owner and the invited get on the project, over the simulated cloud's own wire. */
import { expect } from 'chai';
import type { StepContext } from '../../functions/context.js';
import type { StepCall } from '../../functions/engine/step.js';
import { customRoles } from '../../local/cloud/iam/custom-roles.js';
import type { JsonObject } from '../../local/cloud/kernel/api.js';
import { local, people } from '../../local/stack/deployment.js';
import { Problem } from '../../shared/problems.js';
import { keysAtHand } from '../install-config/made-bootstrap.js';
import { makeOptions } from '../install-config/make-options.js';
import { createLab, type Lab, type Saved } from '../laws/lab.js';

const [alice, bob] = ['user:alice@example.com', 'user:bob@example.com'] as const;

describe('roles of the people of a project', function () {
  this.timeout(60_000);
  let lab: Lab;
  let ready: Saved;
  before(async function () {
    await keysAtHand.call(this);
    lab = await createLab(makeOptions({ billingAccount: local.billingAccount }));
    await lab.make('apis');
    await lab.make('caller-role');
    ready = lab.save();
  });
  beforeEach(() => {
    lab.restore(ready);
    lab.resume({ ownerMember: alice, sharedMembers: [], formerMembers: [] });
  });
  after(() => lab.close());

  const asAdmin = async (api: 'cloudresourcemanager' | 'iam', line: string, body?: object): Promise<JsonObject> => {
    const [method = 'GET', path = ''] = line.split(' ');
    const reply = await fetch(lab.cloud.endpoints[api] + path, {
      method,
      headers: {
        authorization: `Bearer ${lab.cloud.identity.accessToken(people.admin)}`,
        'content-type': 'application/json',
      },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
    const text = await reply.text();
    if (!reply.ok) throw new Error(`${line}: ${reply.status} ${text}`);
    return JSON.parse(text) as JsonObject;
  };
  const policyPath = () => `/v3/projects/${lab.bootstrap.projectId}`;
  const bindings = async () =>
    (await asAdmin('cloudresourcemanager', `POST ${policyPath()}:getIamPolicy`, {}))['bindings'] as {
      role: string;
      members: string[];
    }[];
  const rolesOf = async (member: string): Promise<string[]> =>
    (await bindings()).filter(({ members }) => members.includes(member)).map(({ role }) => role);
  const grant = async (member: string, role: string) =>
    asAdmin('cloudresourcemanager', `POST ${policyPath()}:setIamPolicy`, {
      policy: { bindings: [...(await bindings()), { role, members: [member] }] },
    });
  const roleName = () => `projects/${lab.bootstrap.projectId}/roles/plinthInvited`;
  const role = () => asAdmin('iam', `GET /v1/${roleName()}`);
  const may = (member: string, permission: string): boolean =>
    lab.cloud.world.policies.allows(
      { kind: 'user', email: member.replace('user:', '') },
      permission,
      policyPath().slice('/v3/'.length),
    );
  const look = () => lab.drive(lab.instance('caller-role'));

  /** The step in a deployment with another role of owners. */
  async function lookWhere(callerRole: string): Promise<void> {
    const { step } = lab.instance('caller-role');
    const plain = lab.call(lab.instance('caller-role'));
    const context: StepContext = { ...plain.context, config: { ...plain.context.config, callerRole } };
    const call: StepCall = { ...plain, context };
    if ((await step.observe(call)) === undefined) await step.run(call);
    expect(await step.observe(call)).not.to.equal(undefined);
  }

  it('make none where nobody is invited', async () => {
    expect(await rolesOf(alice)).to.deep.equal(['roles/editor']);
    const refused = await role().catch(String);
    expect(refused).to.include('404');
  });

  it('let the invited look, log in, start and stop, and read logs; nothing more', async () => {
    lab.resume({ sharedMembers: [bob] });
    await look();
    expect(await rolesOf(alice)).to.deep.equal(['roles/editor']);
    expect(await rolesOf(bob)).to.deep.equal([roleName()]);
    for (const permission of [
      'compute.instances.get',
      'compute.instances.getSerialPortOutput',
      'compute.instances.osLogin',
      'compute.instances.start',
      'compute.instances.stop',
      'dns.resourceRecordSets.list',
      'logging.logEntries.list',
    ]) {
      expect(may(bob, permission), permission).to.equal(true);
    }
    for (const permission of [
      'compute.instances.create',
      'compute.instances.delete',
      'compute.instances.setMetadata',
      'compute.instances.setServiceAccount',
      'compute.firewalls.create',
      'dns.changes.create',
      'iam.serviceAccounts.getAccessToken',
      'iam.serviceAccountKeys.create',
      'resourcemanager.projects.setIamPolicy',
      'artifactregistry.repositories.uploadArtifacts',
      'secretmanager.versions.access',
    ]) {
      expect(may(bob, permission), permission).to.equal(false);
    }
  });

  it('give the invited nothing that the owner lacks', async () => {
    lab.resume({ sharedMembers: [bob] });
    await lookWhere('roles/compute.viewer');
    expect(may(bob, 'compute.instances.get')).to.equal(true);
    expect(may(bob, 'compute.instances.start')).to.equal(false);
    expect(may(bob, 'logging.logEntries.list')).to.equal(false);
    // And follow the owner's.
    await lookWhere('roles/editor');
    expect(may(bob, 'compute.instances.start')).to.equal(true);
  });

  it('hold the invited of a deployment whose owners have a role of the company’s own to that', async () => {
    const parent = local.organization;
    const { bindings = [] } = await asAdmin('cloudresourcemanager', `POST /v1/${parent}:getIamPolicy`, {});
    const administrators = { role: 'roles/iam.organizationRoleAdmin', members: [`user:${people.admin}`] };
    await asAdmin('cloudresourcemanager', `POST /v1/${parent}:setIamPolicy`, {
      policy: { bindings: [...(bindings as JsonObject[]), administrators] },
    });
    const permissions = ['compute.instances.get', 'compute.instances.list'];
    customRoles(lab.cloud.world)[`${parent}/roles/owners`] = { title: 'Owners', permissions };
    lab.resume({ sharedMembers: [bob] });
    const refused = await lookWhere(`${parent}/roles/owners`).catch((error: unknown) => error);
    if (!(refused instanceof Problem)) throw new Error(String(refused));
    expect(refused.code).to.equal('cloud-conflict');
    expect(refused.advice).to.include('roles/iam.roleViewer').and.to.include(lab.cloudStepAccount);
    expect(await rolesOf(bob)).to.deep.equal([]);
    const viewers = { role: 'roles/iam.roleViewer', members: [`serviceAccount:${lab.cloudStepAccount}`] };
    await asAdmin('cloudresourcemanager', `POST /v1/${parent}:setIamPolicy`, {
      policy: { bindings: [...(bindings as JsonObject[]), administrators, viewers] },
    });
    await lookWhere(`${parent}/roles/owners`);
    expect((await role())['includedPermissions']).to.deep.equal(['compute.instances.get', 'compute.instances.list']);
  });

  it('replace what an earlier release gave the invited', async () => {
    await grant(bob, 'roles/editor');
    lab.resume({ sharedMembers: [bob] });
    await look();
    expect(await rolesOf(bob)).to.deep.equal([roleName()]);
  });

  it('go from whom it is shared with no more, whichever they had', async () => {
    lab.resume({ sharedMembers: [bob] });
    await look();
    await grant(bob, 'roles/editor');
    lab.resume({ sharedMembers: [], formerMembers: [bob] });
    await look();
    expect(await rolesOf(bob)).to.deep.equal([]);
    expect(await rolesOf(alice)).to.deep.equal(['roles/editor']);
  });

  it('change with the owner', async () => {
    lab.resume({ sharedMembers: [bob] });
    await look();
    lab.resume({ ownerMember: bob, sharedMembers: [], formerMembers: [alice] });
    await look();
    expect([await rolesOf(alice), await rolesOf(bob)]).to.deep.equal([[], ['roles/editor']]);
    lab.resume({ ownerMember: bob, sharedMembers: [alice], formerMembers: [] });
    await look();
    expect([await rolesOf(alice), await rolesOf(bob)]).to.deep.equal([[roleName()], ['roles/editor']]);
  });

  it('stand after a break at any call, and after two runs at once', async () => {
    lab.resume({ sharedMembers: [bob] });
    const met = lab.save();
    const since = lab.cloud.calls.last();
    await look();
    const calls = lab.cloud.calls.list({ since }).length;
    expect(calls).to.be.above(6);
    const stands = async () => {
      expect([await rolesOf(alice), await rolesOf(bob)]).to.deep.equal([['roles/editor'], [roleName()]]);
      expect(may(bob, 'compute.instances.start')).to.equal(true);
    };
    for (const when of ['before', 'after'] as const) {
      for (let nth = 1; nth <= calls; nth++) {
        lab.restore(met);
        const fault = lab.cloud.faults.add({ method: '*', nth, kind: 'unavailable', when });
        await look();
        lab.cloud.faults.remove(fault);
        await stands();
      }
    }
    lab.restore(met);
    await Promise.all([look(), look()]);
    await stands();
  });

  it('come back where somebody changed or deleted the role', async () => {
    lab.resume({ sharedMembers: [bob] });
    await look();
    await asAdmin('iam', `PATCH /v1/${roleName()}?updateMask=includedPermissions`, {
      includedPermissions: ['compute.instances.delete'],
    });
    await look();
    expect(may(bob, 'compute.instances.delete')).to.equal(false);
    await asAdmin('iam', `DELETE /v1/${roleName()}`);
    expect(may(bob, 'compute.instances.get')).to.equal(false);
    await look();
    expect(may(bob, 'compute.instances.get')).to.equal(true);
  });
});
