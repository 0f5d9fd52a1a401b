/**
 * What a first apply in a new organization stands on. Google is slow where something has just been made, and Terraform knows
 * only the order of resources: so the order is judged here, by the graph of the real terraform.
 */
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { projectFolder } from '../support/recording-store.js';
import { init, makeWorkspace, terraformFolder, type Workspace } from './workspace.js';

/** The APIs that each type of resource is made by. */
const apisOf: Readonly<Record<string, readonly string[]>> = {
  google_artifact_registry_repository: ['artifactregistry'],
  google_artifact_registry_repository_iam_member: ['artifactregistry'],
  google_billing_account_iam_member: ['cloudbilling'],
  google_billing_budget: ['billingbudgets'],
  google_cloud_run_v2_service_iam_member: ['run'],
  google_cloud_scheduler_job: ['cloudscheduler'],
  google_cloudfunctions2_function: ['cloudfunctions', 'cloudbuild', 'run', 'eventarc', 'pubsub', 'artifactregistry'],
  google_dns_managed_zone_iam_member: ['dns'],
  google_firebaserules_release: ['firebaserules'],
  google_firebaserules_ruleset: ['firebaserules'],
  google_firestore_backup_schedule: ['firestore'],
  google_firestore_database: ['firestore'],
  google_firestore_field: ['firestore'],
  google_firestore_index: ['firestore'],
  google_folder_iam_member: ['cloudresourcemanager'],
  google_logging_metric: ['logging'],
  google_monitoring_alert_policy: ['monitoring'],
  google_monitoring_dashboard: ['monitoring'],
  google_monitoring_notification_channel: ['monitoring'],
  google_organization_iam_member: ['cloudresourcemanager'],
  google_project_iam_custom_role: ['iam'],
  google_project_iam_member: ['cloudresourcemanager'],
  google_pubsub_topic: ['pubsub'],
  google_pubsub_topic_iam_member: ['pubsub'],
  google_secret_manager_secret: ['secretmanager'],
  google_secret_manager_secret_iam_member: ['secretmanager'],
  google_service_account: ['iam'],
  google_service_account_iam_member: ['iam'],
  google_storage_bucket: ['storage'],
  google_storage_bucket_iam_member: ['storage'],
};

const typeOf = (resource: string): string => resource.split('.')[0] ?? '';

describe('a first apply', function () {
  this.timeout(300_000);
  let workspace: Workspace;
  let resources: readonly string[];
  /** What each resource depends on; what another of these depends on itself, terraform leaves out. */
  let needs: ReadonlyMap<string, readonly string[]>;

  before(async () => {
    workspace = makeWorkspace();
    const { exitCode, output } = await workspace.terraform(init);
    expect(exitCode, output).to.equal(0);
    const { output: dot } = await workspace.terraform(['graph']);
    resources = [...dot.matchAll(/^ {2}"(\S+)" \[label/gm)].map(([, name = '']) => name);
    const edges = [...dot.matchAll(/^ {2}"(\S+)" -> "(\S+)";$/gm)];
    needs = new Map(
      resources.map((name) => [name, edges.filter(([, from]) => from === name).map(([, , to = '']) => to)]),
    );
  });
  after(() => workspace?.close());

  const directly = (name: string): readonly string[] => needs.get(name) ?? [];
  function all(name: string, seen = new Set<string>()): ReadonlySet<string> {
    for (const each of directly(name)) {
      if (seen.has(each)) continue;
      seen.add(each);
      all(each, seen);
    }
    return seen;
  }
  const dependents = (name: string): string[] => resources.filter((each) => directly(each).includes(name));
  const made = () => resources.filter((name) => name.startsWith('google_') && name !== 'google_project_service.api');

  it('uses no API before it is enabled and has had its time', () => {
    expect(made()).to.have.length.above(30);
    expect(made().filter((name) => !all(name).has('time_sleep.apis'))).to.deep.equal([]);
    expect(directly('time_sleep.apis')).to.deep.equal(['google_project_service.api']);
  });

  it('enables the APIs of all that it makes', () => {
    const services = readFileSync(join(terraformFolder, 'services.tf'), 'utf8');
    const enabled = [...services.matchAll(/^ {4}"(\w+)",$/gm)].map(([, name]) => name);
    const needed = made().flatMap((name) => apisOf[typeOf(name)] ?? [`none is known of ${typeOf(name)}`]);
    expect(enabled).to.include.members([...new Set(needed)]);
  });

  it('plans by APIs alone that docs/operate/deploy.md enables by hand', () => {
    const deploy = readFileSync(join(projectFolder, 'docs/operate/deploy.md'), 'utf8');
    const [byHand = ''] = /^gcloud services enable --project \$PROJECT (?:.*\\\n)*.*$/m.exec(deploy) ?? [];
    // The provider reads a project with who pays for it.
    expect(resources.filter((name) => name.startsWith('data.'))).to.deep.equal(['data.google_project.plinth']);
    for (const api of ['cloudresourcemanager', 'cloudbilling', 'serviceusage']) {
      expect(byHand).to.match(new RegExp(`\\b${api}\\.googleapis\\.com`));
    }
  });

  it('names no account and no role of its own before they have had their time', () => {
    expect(dependents('google_service_account.identity')).to.deep.equal(['time_sleep.accounts']);
    expect(dependents('google_project_iam_custom_role.plinth')).to.deep.equal(['time_sleep.accounts']);
  });

  it("makes functions once the builder's rights and Eventarc's agent have had their time", () => {
    expect(all('google_cloudfunctions2_function.function')).to.include.keys(
      'time_sleep.builder',
      'time_sleep.eventarc',
    );
    expect(all('time_sleep.builder')).to.include.keys(
      'google_artifact_registry_repository_iam_member.builder',
      'google_project_iam_member.builder',
      'google_project_iam_member.builder_sources',
      'google_storage_bucket_iam_member.builder',
    );
    expect(all('time_sleep.eventarc')).to.include.keys('google_project_service.api');
  });

  it('makes alerts of the log once their metrics have had their time', () => {
    expect(directly('time_sleep.metrics')).to.deep.equal(['google_logging_metric.log']);
    expect(all('google_monitoring_alert_policy.log')).to.include.keys('time_sleep.metrics');
    expect(dependents('google_logging_metric.log')).to.not.include('google_monitoring_alert_policy.log');
  });

  it('updates alerts and budgets before it deletes an address that they name', () => {
    const [channel = ''] =
      /^resource "google_monitoring_notification_channel"[\s\S]*?^}/m.exec(
        readFileSync(join(terraformFolder, 'alerts.tf'), 'utf8'),
      ) ?? [];
    expect(channel).to.match(/lifecycle \{[^}]*^ +create_before_destroy = true$/m);
  });

  it('of the minimal example lets in a domain, not everybody', () => {
    const text = readFileSync(join(terraformFolder, 'examples/minimal/main.tf'), 'utf8');
    expect(text).to.not.include('allUsers');
    expect(text).to.match(/^ +invokers += \["domain:\$\{/m);
  });

  it('of the minimal example goes where new projects may build', async () => {
    const folder = join(workspace.folder, 'examples/minimal');
    const variables = (region: string) =>
      Object.entries({
        project_id: 'acme-plinth',
        region,
        release: '1.2.3',
        release_bucket: 'acme-plinth-releases',
        parent: 'folders/111',
        billing_account: '0123AB-4567CD-89EF01',
        oauth_client: 'client.apps.example.com',
        operator: 'operator@example.com',
      })
        .map(([name, value]) => `${name} = "${value}"\n`)
        .join('');
    const planIn = async (region: string) => {
      writeFileSync(join(folder, 'terraform.tfvars'), variables(region));
      return workspace.terraform(['test', '-no-color'], 'examples/minimal');
    };
    const mocks = 'mock_provider "google" {\n  source = "../../tests/mocks"\n}\n';
    writeFileSync(join(folder, 'main.tftest.hcl'), `${mocks}run "plan" {\n  command = plan\n}\n`);
    const { output } = await workspace.terraform(init, 'examples/minimal');
    expect(output).to.include('successfully initialized');
    const fits = await planIn('southamerica-east1');
    expect(fits.exitCode, fits.output).to.equal(0);
    const misfits = await planIn('europe-west4');
    expect(misfits.exitCode, misfits.output).to.not.equal(0);
    expect(misfits.output).to.match(/europe-west1/);
  });
});
