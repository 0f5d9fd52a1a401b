/** The deployment, judged by the real terraform against the real schema of its provider, offline. */
import { execFileSync } from 'node:child_process';
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { expect } from 'chai';
import { settings } from '../../functions/config.js';
import {
  bootstrapSecretsCondition,
  customRoles,
  functionAccount,
  functionGrants,
  invokers,
  ownServices,
  releasesCondition,
  schedules,
} from '../../local/stack/deployment.js';
import { frontEnds } from '../../local/stack/front-end.js';
import { bootstrapIdPrefix, deploymentSecrets, functionNames, schedulerJobs, topics } from '../../shared/names.js';
import { projectFolder } from '../support/recording-store.js';
import { init, inWorkspace, makeWorkspace, terraformFolder } from './workspace.js';

/** JSON is HCL, but for `${`. */
const hcl = (value: unknown): string => JSON.stringify(value).replaceAll('${', '$${');

const deployText = readFileSync(join(projectFolder, 'docs/operate/deploy.md'), 'utf8');

/** From terraform/: where docs/operate/deploy.md has operators keep their deployment. */
const deployment = join('..', /^export DEPLOYMENT=(\S+)$/m.exec(deployText)?.[1] ?? '');

/** A deployment of one's own, made by the very commands of docs/operate/deploy.md. */
function makeDeployment(folder: string): void {
  const [made = ''] = /^export DEPLOYMENT=[\s\S]*?^EOF$/m.exec(deployText) ?? [];
  const exports = deployText.slice(0, deployText.indexOf(made)).match(/^export .*$/gm) ?? [];
  const commands = ['npm() { echo \'"1.2.3"\'; }', ...exports, made].join('\n');
  execFileSync('bash', ['-euc', commands], { cwd: dirname(folder) });
}

const examples = [
  {
    title: 'as docs/operate/deploy.md makes a deployment of the minimal example',
    folder: deployment,
    fill: makeDeployment,
    mocks: '../../terraform/tests/mocks',
    bootstraps: 'https://bootstraps-123456789012.europe-west1.run.app',
    bucket: 'acme-plinth-plinth-packages',
  },
  {
    title: 'as the full example, at the release that its delivery names',
    folder: 'examples/full',
    fill: (folder: string) => writeFileSync(join(folder, 'examples/full/terraform.tfvars'), 'release = "1.2.3"\n'),
    mocks: '../../tests/mocks',
    bootstraps: 'https://bootstraps-123456789012.europe-west1.run.app',
    bucket: 'acme-plinth-plinth-packages',
  },
] as const;

const planOf = (mocks: string, bootstraps: string, bucket: string): string => `
mock_provider "google" {
  source = "${mocks}"
}

run "plan" {
  command = plan

  assert {
    condition     = output.endpoints.bootstraps == "${bootstraps}" && output.package_bucket == "${bucket}"
    error_message = "The example is deployed where it says."
  }
}
`;

describe('terraform', function () {
  this.timeout(300_000);

  it('is formatted', async () => {
    await inWorkspace(async ({ terraform }) => {
      const { exitCode, output } = await terraform(['fmt', '-check', '-recursive', '-diff']);
      expect(exitCode, output).to.equal(0);
    });
  });

  it('is valid', async () => {
    await inWorkspace(async ({ terraform }) => {
      const { exitCode, output } = await terraform(['validate', '-no-color']);
      expect(exitCode, output).to.equal(0);
    });
  });

  it('takes the provider from version 7 to before 9, in the module and in each example', async () => {
    const taken = async (version: string): Promise<boolean[]> => {
      const workspace = makeWorkspace(undefined, version);
      try {
        const folders = ['.', 'examples/minimal', 'examples/full'];
        const runs = await Promise.all(folders.map((folder) => workspace.terraform(init, folder)));
        return runs.map(({ exitCode }) => exitCode === 0);
      } finally {
        workspace.close();
      }
    };
    expect(await taken('6.50.0')).to.deep.equal([false, false, false]);
    expect(await taken('7.0.0')).to.deep.equal([true, true, true]);
    expect(await taken('8.99.0')).to.deep.equal([true, true, true]);
    expect(await taken('9.0.0')).to.deep.equal([false, false, false]);
  });

  describe('for a first installation', () => {
    const example = (file: string) => join('examples', 'minimal', file);

    it('the minimal example asks for what docs/operate/deploy.md fills in, and no more', () => {
      const asked = [
        ...readFileSync(join(terraformFolder, example('variables.tf')), 'utf8').matchAll(/^variable "(\w+)"/gm),
      ];
      const heredoc = /terraform\.tfvars <<EOF\n([\s\S]+?)\nEOF/.exec(deployText)?.[1] ?? '';
      const filled = [...heredoc.matchAll(/^(\w+) *=/gm)];
      expect(filled.map(([, name]) => name)).to.have.members(asked.map(([, name]) => name));
      expect(filled.map(([, name]) => name)).to.include('deployment');
    });

    it('each example tells somebody of alerts', () => {
      for (const folder of ['minimal', 'full']) {
        const text = readFileSync(join(terraformFolder, 'examples', folder, 'main.tf'), 'utf8');
        expect(text, folder).to.match(/^ +alert_emails += \[[^\]]/m);
      }
    });

    it('the other inputs that docs/operate/deploy.md shows can stand in its main.tf', async () => {
      const shown = /```hcl\n([\s\S]+?)```/.exec(deployText)?.[1] ?? '';
      for (const input of ['settings', 'budget', 'sizes', 'traces', 'dns_zones', 'deletion_protection']) {
        expect(shown).to.match(new RegExp(`^ *${input} +=`, 'm'));
      }
      await inWorkspace(
        async ({ terraform }) => {
          for (const args of [['fmt', '-check', '-diff'], init, ['validate', '-no-color']]) {
            const { exitCode, output } = await terraform(args, deployment);
            expect(exitCode, output).to.equal(0);
          }
        },
        (folder) => {
          makeDeployment(folder);
          const path = join(folder, deployment, 'main.tf');
          writeFileSync(
            path,
            readFileSync(path, 'utf8').replace(/^ +settings = .*$/m, () => shown),
          );
        },
      );
    });
  });

  for (const { title, folder, fill, mocks, bootstraps, bucket } of examples) {
    it(`can be planned ${title}`, async () => {
      const workspace = makeWorkspace((copy) => {
        fill(copy);
        mkdirSync(join(copy, folder, 'tests'));
        writeFileSync(join(copy, folder, 'tests/plan.tftest.hcl'), planOf(mocks, bootstraps, bucket));
      });
      try {
        // What operators fill in stays in their fork, where formatting is checked as here.
        for (const args of [['fmt', '-check', '-diff'], init, ['validate', '-no-color'], ['test', '-no-color']]) {
          const { exitCode, output } = await workspace.terraform(args, folder);
          expect(exitCode, output).to.equal(0);
          if (args[0] === 'test') expect(output).to.include('Success! 1 passed, 0 failed.');
        }
      } finally {
        workspace.close();
      }
    });
  }

  it('refuses a deployment that does not say how machines are reached, and tells what there is to choose', async () => {
    await inWorkspace(
      async ({ terraform }) => {
        const { exitCode, output } = await terraform(['test', '-no-color', '-filter=tests/unsaid.tftest.hcl']);
        expect(exitCode, output).to.equal(1);
        const said = output.replaceAll(/\s*│?\s+/g, ' ');
        expect(said).to.include('machine_access = "iap": through Google\'s Identity-Aware Proxy; the jumpbox has no');
        expect(said).to.include('machine_access = "direct": the jumpbox has a public address');
      },
      (folder) => {
        const mocks = 'mock_provider "google" {\n  source = "./tests/mocks"\n}\nmock_provider "time" {}\n';
        const run = 'run "unsaid" {\n  command = plan\n  variables {\n    machine_access = null\n  }\n}\n';
        writeFileSync(join(folder, 'tests/unsaid.tftest.hcl'), mocks + run);
      },
    );
  });

  it('calls everything as shared/names.ts does, and grants every row of the roles', async () => {
    const names = {
      functions: Object.values(functionNames).sort(),
      jobs: schedulerJobs,
      secrets: deploymentSecrets,
      topics,
      bootstrapIdPrefix,
    };
    // Each scope is granted somewhere in grants.tf; one that is not would be a right that nobody has.
    const scopes = new Set(functionGrants.map(({ on }) => on as string));
    for (const known of [
      ...[
        'project',
        'bootstrapSecrets',
        'topics',
        'parents',
        'billingAccounts',
        'dnsZones',
        'packages',
        'uploads',
        'releases',
        'itself',
      ],
      ...Object.keys(deploymentSecrets),
    ])
      scopes.delete(known);
    expect([...scopes], 'terraform/grants.tf knows no such scope').to.deep.equal([]);
    const accounts = [...new Set(Object.values(functionNames).map(functionAccount)), ...Object.values(invokers)].map(
      (email) => email.split('@', 1)[0] ?? '',
    );
    const shortOf = ({ name, role }: (typeof functionGrants)[number]) =>
      `${name} ${role.replace(/^projects\/[^/]+\/roles\//, '')}`;
    const onProject = (scope: 'project' | 'bootstrapSecrets') =>
      functionGrants.filter(({ on }) => on === scope).map(shortOf);
    const { expression } = bootstrapSecretsCondition('123456789012');
    const onTopics = functionGrants
      .filter(({ on }) => on === 'topics')
      .flatMap(({ name, role }) => Object.keys(topics).map((lane) => `${name} ${role} ${lane}`));
    const onParents = (parent: string) =>
      functionGrants.filter(({ on }) => on === 'parents').map(({ name, role }) => `${name} ${role} ${parent}`);
    const onIts = (scope: string) =>
      functionGrants.filter(({ on }) => on === scope).map(({ name, role }) => `${name} ${role}`);
    const onSecrets = functionGrants.filter(({ on }) => on in deploymentSecrets).map(shortOf);
    const onZones = onIts('dnsZones').flatMap((grant) => [`${grant} shared-dns/zone-a`, `${grant} shared-dns/zone-b`]);
    const assertions: readonly (readonly [string, unknown])[] = [
      ['output.names', names],
      [
        '{ for name, f in google_cloudfunctions2_function.function : name => f.service_config[0].ingress_settings }',
        Object.fromEntries(Object.entries(frontEnds).map(([name, { ingress }]) => [name, ingress])),
      ],
      ['sort([for a in google_service_account.identity : a.account_id])', [...accounts, 'plinth-builder'].sort()],
      ['keys(google_project_iam_member.function)', onProject('project').sort()],
      ['keys(google_project_iam_member.bootstrap_secrets)', onProject('bootstrapSecrets').sort()],
      ['distinct([for g in google_project_iam_member.bootstrap_secrets : g.condition[0].expression])', [expression]],
      ['keys(google_pubsub_topic_iam_member.function)', onTopics.sort()],
      ['keys(google_folder_iam_member.function)', onParents('folders/111').sort()],
      ['keys(google_organization_iam_member.function)', onParents('organizations/222').sort()],
      ['keys(google_storage_bucket_iam_member.function)', onIts('packages').sort()],
      [
        'keys(google_storage_bucket_iam_member.uploads)',
        functionGrants
          .filter(({ on }) => on === 'uploads')
          .map(shortOf)
          .sort(),
      ],
      ['keys(google_storage_bucket_iam_member.releases)', onIts('releases').sort()],
      [
        'distinct([for g in google_storage_bucket_iam_member.releases : g.condition[0].expression])',
        [releasesCondition('plinth-test-releases').expression],
      ],
      ['keys(google_service_account_iam_member.function)', onIts('itself').sort()],
      ['keys(google_secret_manager_secret_iam_member.function)', onSecrets.sort()],
      ['keys(google_dns_managed_zone_iam_member.function)', onZones.sort()],
      [
        '{ for id, role in google_project_iam_custom_role.plinth : id => sort(role.permissions) }',
        Object.fromEntries(
          customRoles.map(({ name, permissions }) => [name.split('/').at(-1), [...permissions].sort()]),
        ),
      ],
      // Terraform enables more; nothing here works by an API that is not enabled there.
      [
        `[for service in ${hcl(ownServices)} : service if !contains(values(google_project_service.api)[*].service, service)]`,
        [],
      ],
      [
        '{ for job in google_cloud_scheduler_job.job : job.name => [job.schedule, job.attempt_deadline] }',
        Object.fromEntries(
          schedules.map(({ job, schedule, deadlineSeconds }) => [job, [schedule, `${deadlineSeconds}s`]]),
        ),
      ],
    ];
    const asserts = assertions.map(([found, wanted]) =>
      `  assert {\n    condition = jsonencode(${found}) == jsonencode(${hcl(wanted)})\n    error_message = "$${'{'}jsonencode(${found})}"\n  }\n`.replace(
        '$${',
        '${',
      ),
    );
    await inWorkspace(
      async ({ terraform }) => {
        const { exitCode, output } = await terraform(['test', '-no-color', '-filter=tests/names.tftest.hcl']);
        expect(exitCode, output).to.equal(0);
        expect(output).to.include('Success! 1 passed, 0 failed.');
      },
      (folder) => {
        const text = readFileSync(join(folder, 'tests/deployment.tftest.hcl'), 'utf8');
        const head = text.slice(0, text.indexOf('\nrun "'));
        writeFileSync(
          join(folder, 'tests/names.tftest.hcl'),
          `${head}\nrun "names" {\n  command = plan\n\n${asserts.join('\n')}}\n`,
        );
      },
    );
  });

  it('makes no account that docs/operate/deploy.md has made by hand', () => {
    const made = [
      ...readFileSync(join(terraformFolder, '..', 'docs', 'operate', 'deploy.md'), 'utf8').matchAll(
        /service-accounts create (\S+)/g,
      ),
    ].map(([, name]) => name);
    expect(made).to.have.members(['plinth-releaser', 'plinth-deployer', 'plinth-nightly']);
    expect(readFileSync(join(terraformFolder, 'identities.tf'), 'utf8')).not.to.match(
      /plinth-(releaser|deployer|nightly)/,
    );
  });

  it('sets only settings that there are, all that are required, and none that stands for Google elsewhere', () => {
    const text = readFileSync(join(terraformFolder, 'settings.tf'), 'utf8');
    const set = [...text.matchAll(/\b([A-Z0-9_]+) += /g)].map(([, name = '']) => name);
    expect(set, 'one of them is set twice').to.have.length(new Set(set).size);
    const named = [...new Set([...text.matchAll(/\b(PLINTH_[A-Z0-9_]+)\b/g)].map(([, name = '']) => name))];
    expect(Object.keys(settings)).to.include.members(named);
    const required = Object.entries(settings).flatMap(([name, setting]) => ('required' in setting ? [name] : []));
    expect(named).to.include.members(required);
    expect(named.filter((name) => name.endsWith('_EMULATOR_HOST'))).to.deep.equal([]);
  });

  it('counts lines that the functions write', () => {
    const source = readdirSync(join(projectFolder, 'functions'), { recursive: true, encoding: 'utf8' })
      .filter((file) => file.endsWith('.ts'))
      .map((file) => readFileSync(join(projectFolder, 'functions', file), 'utf8'))
      .join('\n');
    const lines = [...source.matchAll(/\blog\(\s*'([A-Z]+)',\s*(?:'([^']*)'|`([^`]*)`)/g)].map(
      ([, severity = '', plain, template = '']) => ({ severity, text: plain ?? template.replace(/\$\{[^}]*\}/g, '3') }),
    );
    const metrics = readFileSync(join(terraformFolder, 'metrics.tf'), 'utf8');
    const patterns = [...metrics.matchAll(/severity {4}= "([A-Z]+)"\n +pattern {5}= "(.*)"/g)];
    expect(patterns).to.have.length.above(4);
    for (const [, severity, pattern = ''] of patterns) {
      const written = lines.filter((line) => line.severity === severity && new RegExp(pattern).test(line.text));
      expect(written.length, `nothing writes ${severity} ${pattern}`).to.be.above(0);
    }
  });
});
