/** Removals that meet what they cannot take, or find too little: liens, DNS projects that refuse, records that are lost. */
import { expect } from 'chai';
import { customRoles } from '../../local/cloud/iam/custom-roles.js';
import { grantAtOnce } from '../../local/cloud/iam/policies.js';
import { functionAccount, local, people } from '../../local/stack/deployment.js';
import { functionNames } from '../../shared/names.js';
import { keysAtHand } from '../install-config/made-bootstrap.js';
import type { EngineLab } from '../laws/engine-lab.js';
import { inventory } from '../laws/inventory.js';
import { domainOf } from '../support/scene.js';
import { askDns, type RecordSet } from '../support/shared-zone.js';
import { createRemovalLab, type RemovalLab } from './removal-lab.js';

const name = 'removed';
const zone = 'shared';
const zonePath = `projects/${local.dnsProject}/managedZones/${zone}`;
/** What the deployment gives nodes in a zone of another project. */
const role = `projects/${local.dnsProject}/roles/nodeRecords`;
const roleOfPlinth = 'roles/iam.securityAdmin';

type Binding = { role: string; members: string[] };

function giveNodesTheirRole(lab: EngineLab): void {
  for (const each of Object.values(functionNames)) Object.assign(lab.context(each).config, { nodesZoneRole: role });
  const permissions = ['dns.changes.create', 'dns.resourceRecordSets.create', 'dns.resourceRecordSets.delete'];
  customRoles(lab.cloud.world)[role] = { title: 'Records of nodes', permissions };
  const members = [`serviceAccount:${functionAccount(functionNames.runCloudStep)}`];
  grantAtOnce(lab.cloud.world, `projects/${local.dnsProject}`, [{ role: roleOfPlinth, members }]);
}

describe('a removal', function () {
  this.timeout(240_000);
  let at: RemovalLab;
  before(async function () {
    await keysAtHand.call(this);
    const options = { dnsProjectId: local.dnsProject, dnsZoneName: zone, cloudAcmeIssuer: true, multiDc: true };
    at = await createRemovalLab(name, options, giveNodesTheirRole);
  });
  beforeEach(() => at.restore());
  after(() => at?.lab.close());

  const policyOf = (resource: string) => at.lab.cloud.world.policies.get(resource, 3);
  const bindingsOf = (resource: string) => (policyOf(resource)['bindings'] ?? []) as Binding[];
  const setBindings = (resource: string, bindings: Binding[]) =>
    void at.lab.cloud.world.policies.set(resource, { bindings });
  const member = (projectId: string) => `serviceAccount:cloud-controller@${projectId}.iam.gserviceaccount.com`;
  const secrets = () =>
    Object.keys(at.lab.cloud.world.table('secretmanager.secrets')).filter((path) => path.includes(at.id));
  /** Addresses at or beneath a domain. */
  async function addresses(domain = domainOf(name)): Promise<RecordSet[]> {
    const { rrsets } = (await askDns(at.lab, `${zonePath}/rrsets`)) as unknown as { rrsets: RecordSet[] };
    return rrsets.filter((each) => each.type === 'A' && `.${each.name}`.endsWith(`.${domain}.`));
  }
  const again = () => at.change({ removeAt: new Date(Date.now() - 1000).toISOString() });

  it('takes the role that the deployment names for nodes from the zone of their domain', async () => {
    expect(bindingsOf(zonePath)).to.deep.equal([{ role, members: [member(at.projectId)] }]);
    await at.expire();
    await at.removed();
    expect(bindingsOf(zonePath)).to.deep.equal([]);
  });

  it('respects a lien, reports it, and leaves the project alone with all that belongs to it, until a person acts', async () => {
    const { cloud } = at.lab;
    const liens = cloud.world.table<Record<string, unknown>>('liens');
    liens['liens/p1'] = {
      name: 'liens/p1',
      parent: `projects/${at.project()['projectNumber']}`,
      restrictions: ['resourcemanager.projects.delete'],
      reason: 'audit under way',
      origin: 'audit',
      createTime: new Date().toISOString(),
    };
    await at.expire();
    const before = inventory(cloud);
    for (let tries = 1; tries <= 3; tries++) {
      await again();
      expect((await at.cleaned()).failed).to.deep.equal([]);
      const record = await at.record();
      expect(record).to.include({ state: 'removal-failed' });
      expect(record.problem?.detail).to.match(
        /^Check for liens failed: The project .* cannot be deleted, because a lien forbids it: audit under way.*\(placed by audit\)\.$/,
      );
      expect(record.problem?.advice).to.contain(
        `gcloud alpha resource-manager liens delete p1 --project ${at.projectId}`,
      );
      expect(record.removal?.failures).to.equal(tries);
    }
    expect(inventory(cloud)).to.deep.equal(before);
    expect(Object.values((await at.record()).instances).map(({ state }) => state)).not.to.contain('gone');
    const { remove, keep } = await at.cleaned();
    expect(remove).to.deep.equal([]);
    // Its labels have not expired with its record.
    expect(keep.map(({ projectId }) => projectId)).not.to.contain(at.projectId);
    delete liens['liens/p1'];
    await at.lab.remove(at.id);
    await at.lab.drain();
    expect((await at.record()).state).to.equal('removed');
  });

  it('is not held up by a DNS project that refuses plinth: what is left there is said', async () => {
    setBindings(`projects/${local.dnsProject}`, []);
    await at.expire();
    const record = await at.removed();
    expect(at.project()).to.include({ state: 'DELETE_REQUESTED' });
    expect(record.instances['records']?.note)
      .to.contain(`left in the zone ${zone} of ${local.dnsProject}: the records `)
      .and.to.contain(`ws.${domainOf(name)}`)
      .and.to.match(/denied|permission|forbidden/i);
  });

  it('tries again what a DNS project does not refuse for good', async () => {
    at.lab.cloud.faults.add({ method: 'dns.changes.create', times: 3, code: 409, status: 'ALREADY_EXISTS' });
    await at.expire();
    await at.cleaned();
    expect(await at.record()).to.include({ state: 'removal-failed' });
    await again();
    expect((await at.removed()).instances['records']?.note).not.to.contain('left');
    expect(await addresses()).to.deep.equal([]);
  });

  it('takes a project that somebody deleted already for gone, and says so', async () => {
    Object.assign(at.project(), { state: 'DELETE_REQUESTED' });
    await at.expire();
    expect((await at.removed()).instances['project']?.note).to.contain('can be restored');
  });

  it('without a record takes all secrets, and those records in the zone of another project that its metadata and addresses prove', async () => {
    const [changed] = (await addresses()) as [RecordSet];
    const others = { ...changed, rrdatas: ['203.0.113.7'] };
    const bystanders = { ...changed, name: `www.${domainOf(name)}.`, rrdatas: ['203.0.113.8'] };
    await askDns(at.lab, `${zonePath}/changes`, { deletions: [changed], additions: [others, bystanders] });
    // plinth may not write the policy of a shared zone any more. Who may is told what is left.
    const project = `projects/${local.dnsProject}`;
    setBindings(
      project,
      bindingsOf(project).filter((each) => each.role !== roleOfPlinth),
    );
    setBindings(zonePath, [{ role: 'roles/dns.admin', members: [member(at.projectId), `user:${people.admin}`] }]);
    expect(secrets()).not.to.deep.equal([]);
    await at.lose('records-written');
    await at.makeLate();
    expect((await at.dryRun()).remove.map(({ projectId }) => projectId)).to.deep.equal([at.projectId]);
    const record = await at.removed();
    expect(record).to.include({ orphan: true });
    expect(at.project()).to.include({ state: 'DELETE_REQUESTED' });
    expect(secrets()).to.deep.equal([]);
    expect(await addresses()).to.have.deep.members([others, bystanders]);
    expect(JSON.stringify(policyOf(zonePath)))
      .to.contain(at.projectId)
      .and.to.contain(people.admin);
    expect(record.instances['zone-role']?.note)
      .to.contain(`left in the zone ${zone}`)
      .and.to.contain(`change the policy of the DNS zone ${zone}`);
    expect(record.instances['records']?.note).to.contain(
      `left, as somebody changed them: ${changed.name.replace(/\.$/, '')}`,
    );
  });
});
