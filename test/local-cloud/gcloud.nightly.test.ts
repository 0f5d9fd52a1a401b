import { execFile } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect } from 'chai';
import { environmentOfOwner } from '../outsiders/commands.js';
import { furnish, region, zone } from './furnished.js';
import { project, type ReadyCloud, readyCloud } from './ready-cloud.js';

const run = promisify(execFile);

type Row = Record<string, unknown>;

/** A client that none of us wrote: what it lists and describes must be what was made. */
describe('gcloud against the simulated cloud', function () {
  this.timeout(240_000);
  let cloud: ReadyCloud;
  let folder: string;
  let environment: NodeJS.ProcessEnv;

  async function gcloud(command: string): Promise<unknown> {
    const { stdout } = await run('gcloud', [...command.split(' '), '--format=json'], { env: environment });
    return JSON.parse(stdout === '' ? 'null' : stdout);
  }
  const rows = async (command: string): Promise<Row[]> => (await gcloud(command)) as Row[];
  const names = async (command: string): Promise<unknown[]> => (await rows(command)).map(({ name }) => name);

  before(async () => {
    folder = mkdtempSync(join(tmpdir(), 'gcloud-'));
    cloud = await readyCloud();
    await furnish(cloud);
    environment = environmentOfOwner(cloud, folder);
  });
  after(async () => {
    await cloud?.close();
    if (folder !== undefined) rmSync(folder, { recursive: true, force: true });
  });

  describe('lists', () => {
    const lists: readonly [command: string, expected: readonly string[]][] = [
      ['compute instances list', ['jumpbox']],
      ['compute networks list', ['default', 'net']],
      [`compute networks subnets list --regions ${region}`, ['default', 'sub']],
      ['compute firewall-rules list --filter=network:net', ['allow-ssh']],
      ['compute routers list', ['router']],
      [`compute routers nats list --router router --region ${region}`, ['nat']],
      ['compute addresses list', ['gateway']],
      ['compute disks list', ['jumpbox']],
      ['dns managed-zones list', ['platform']],
    ];
    for (const [command, expected] of lists) {
      it(command, async () => {
        expect(await names(command)).to.have.members([...expected]);
      });
    }

    it('dns record-sets list', async () => {
      const found = await rows('dns record-sets list --zone platform');
      expect(found.map(({ name, type }) => `${name} ${type}`)).to.deep.equal([
        'platform.example.com. NS',
        'platform.example.com. SOA',
        'cs.platform.example.com. A',
      ]);
    });

    it('artifacts repositories list, in one location and in all', async () => {
      const name = `projects/${project}/locations/${region}/repositories/platform-registry`;
      expect(await names(`artifacts repositories list --location ${region}`)).to.deep.equal([name]);
      expect(await names('artifacts repositories list')).to.deep.equal([name]);
    });

    it('secrets list', async () => {
      const [secret] = await rows('secrets list');
      expect(secret?.['name']).to.match(/^projects\/\d+\/secrets\/age-identity$/);
    });

    it('scheduler jobs list and describe, and one paused, resumed and run', async () => {
      const where = `--location ${region}`;
      await cloud.call('cloudscheduler', `POST /v1/projects/P/locations/${region}/jobs`, {
        name: `projects/${project}/locations/${region}/jobs/plinth-cleanup`,
        schedule: '*/5 * * * *',
        httpTarget: { uri: 'http://127.0.0.1:9/' },
      });
      const name = `projects/${project}/locations/${region}/jobs/plinth-cleanup`;
      expect(await names(`scheduler jobs list ${where}`)).to.deep.equal([name]);
      await gcloud(`scheduler jobs pause plinth-cleanup ${where}`);
      const paused = await gcloud(`scheduler jobs describe plinth-cleanup ${where}`);
      expect(paused).to.include({ name, state: 'PAUSED', schedule: '*/5 * * * *' });
      await gcloud(`scheduler jobs resume plinth-cleanup ${where}`);
      await gcloud(`scheduler jobs run plinth-cleanup ${where}`);
      await cloud.scheduledCalls.idle();
      expect(await gcloud(`scheduler jobs describe plinth-cleanup ${where}`)).to.deep.include({
        state: 'ENABLED',
        status: { code: 14 },
      });
      await gcloud(`scheduler jobs delete plinth-cleanup ${where} --quiet`);
    });

    it('iam service-accounts list', async () => {
      await gcloud('iam service-accounts create cloud-controller');
      const emails = (await rows('iam service-accounts list')).map(({ email }) => email);
      const [own, ofCompute] = (emails as string[]).sort().reverse();
      expect(own).to.equal(`cloud-controller@${project}.iam.gserviceaccount.com`);
      // It comes with Compute.
      expect(ofCompute).to.match(/^\d+-compute@developer\.gserviceaccount\.com$/);
      expect(emails).to.have.length(2);
    });

    it('services list', async () => {
      const found = (await rows('services list --enabled')).map(({ config }) => (config as Row)['name']);
      expect(found).to.include.members(['compute.googleapis.com', 'dns.googleapis.com']);
    });
  });

  describe('describes', () => {
    it('an instance', async () => {
      const vm = (await gcloud(`compute instances describe jumpbox --zone ${zone}`)) as Row;
      expect(vm).to.deep.include({ name: 'jumpbox', status: 'RUNNING' });
      const [nic] = vm['networkInterfaces'] as { networkIP: string; accessConfigs: Row[] }[];
      expect(nic?.networkIP).to.equal('10.10.0.2');
      expect(nic?.accessConfigs[0]?.['natIP']).to.match(/^34\./);
    });

    it('a managed zone with its name servers', async () => {
      const found = (await gcloud('dns managed-zones describe platform')) as Row;
      expect(found['nameServers']).to.have.length(4);
    });

    it('a project and its policy', async () => {
      expect(await gcloud(`projects describe ${project}`)).to.include({ projectId: project, lifecycleState: 'ACTIVE' });
      const role = 'roles/viewer';
      await gcloud(`projects add-iam-policy-binding ${project} --member user:bob@example.com --role ${role}`);
      const policy = (await gcloud(`projects get-iam-policy ${project}`)) as { bindings: Row[] };
      expect(policy.bindings).to.deep.include({ role, members: ['user:bob@example.com'] });
    });

    it('the host keys that a VM published', async () => {
      const found = await rows(`compute instances get-guest-attributes jumpbox --zone ${zone}`);
      expect(found.map(({ namespace, key }) => `${namespace}/${key}`)).to.deep.equal(['hostkeys/ssh-ed25519']);
    });
  });

  describe('makes and removes', () => {
    it('a custom role, and restores it', async () => {
      const of = `--project ${project}`;
      await gcloud(`iam roles create zoneReader ${of} --permissions dns.managedZones.get --stage GA`);
      await gcloud(`iam roles update zoneReader ${of} --add-permissions dns.managedZones.list`);
      await gcloud(`iam roles delete zoneReader ${of}`);
      await gcloud(`iam roles undelete zoneReader ${of}`);
      const role = `projects/${project}/roles/zoneReader`;
      expect(await gcloud(`iam roles describe zoneReader ${of}`)).to.deep.include({
        name: role,
        includedPermissions: ['dns.managedZones.get', 'dns.managedZones.list'],
      });
      await gcloud(`projects add-iam-policy-binding ${project} --member user:bob@example.com --role ${role}`);
    });

    it('a spot VM on a network of its own, through its whole life', async () => {
      await gcloud('compute networks create other --subnet-mode custom');
      await gcloud(`compute networks subnets create inner --network other --region ${region} --range 10.20.0.0/20`);
      await gcloud(
        `compute instances create worker --zone ${zone} --machine-type e2-standard-2 --subnet inner --image-family ubuntu-2204-lts --image-project ubuntu-os-cloud --boot-disk-size 50 --boot-disk-type pd-ssd --tags one --provisioning-model SPOT --no-service-account --no-scopes --no-address`,
      );
      await gcloud(`compute instances add-metadata worker --zone ${zone} --metadata key=value`);
      await gcloud(`compute instances add-tags worker --zone ${zone} --tags two`);
      await gcloud(`compute instances stop worker --zone ${zone}`);
      const vm = (await gcloud(`compute instances describe worker --zone ${zone}`)) as Row;
      expect(vm['status']).to.equal('TERMINATED');
      expect((vm['tags'] as Row)['items']).to.deep.equal(['one', 'two']);
      expect(vm['scheduling']).to.include({ provisioningModel: 'SPOT', preemptible: true, automaticRestart: false });
      await gcloud(`compute instances delete worker --zone ${zone} --quiet`);
      const refused = await gcloud('compute networks delete other --quiet').catch(({ stderr }) => String(stderr));
      expect(refused).to.match(
        /already being used by 'projects\/ready-project\/regions\/europe-west4\/subnetworks\/inner'/,
      );
      await gcloud(`compute networks subnets delete inner --region ${region} --quiet`);
      await gcloud('compute networks delete other --quiet');
      expect(await names('compute networks list')).not.to.include('other');
    });

    it('record sets, one by one', async () => {
      const name = 'x.platform.example.com.';
      await cloud.call('dns', 'POST /dns/v1/projects/P/managedZones/platform/changes', {
        additions: [{ name, type: 'A', ttl: 60, rrdatas: ['203.0.113.2'] }],
      });
      const found = await rows(`dns record-sets list --zone platform --name ${name}`);
      expect(found[0]).to.deep.include({ ttl: 60, rrdatas: ['203.0.113.2'] });
      await gcloud(`dns record-sets delete ${name} --zone platform --type A`);
    });

    it('a secret whose checksum it verifies', async () => {
      const file = join(folder, 'payload');
      writeFileSync(file, 'not so secret');
      await gcloud(`secrets create other --data-file ${file}`);
      const { stdout } = await run('gcloud', ['secrets', 'versions', 'access', 'latest', '--secret', 'other'], {
        env: environment,
      });
      expect(stdout).to.equal('not so secret');
    });

    it('objects of Cloud Storage, up and down, listed and removed', async () => {
      const file = join(folder, 'object');
      writeFileSync(file, 'stored');
      const storage = async (...args: string[]) =>
        (await run('gcloud', ['storage', ...args], { env: environment })).stdout;
      await storage(
        'buckets',
        'create',
        'gs://bucket-of-gcloud',
        '--location',
        region,
        '--uniform-bucket-level-access',
      );
      await storage('cp', file, 'gs://bucket-of-gcloud/a/object');
      expect((await storage('ls', 'gs://bucket-of-gcloud/**')).trim()).to.equal('gs://bucket-of-gcloud/a/object');
      expect((await storage('ls', 'gs://bucket-of-gcloud')).trim()).to.equal('gs://bucket-of-gcloud/a/');
      await storage('cp', 'gs://bucket-of-gcloud/a/object', `${file}.back`);
      expect(readFileSync(`${file}.back`, 'utf8')).to.equal('stored');
      await storage('rm', 'gs://bucket-of-gcloud/a/object');
      expect((await storage('ls', 'gs://bucket-of-gcloud')).trim()).to.equal('');
    });

    it('an external account key of the public CA', async () => {
      const { stdout, stderr } = await run('gcloud', ['publicca', 'external-account-keys', 'create'], {
        env: environment,
      });
      expect(stdout + stderr).to.match(/b64MacKey: [\w-]{43}\b/);
    });
  });
});
