/** The deployment, judged by the real terraform against the real schema of its provider, offline. */
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { settings } from '../../functions/config.js';
import { customRoles, functionAccount, functionGrants, invokers } from '../../local/deployment.js';
import { deploymentSecrets, functionNames, schedulerJobs, topics } from '../../shared/names.js';
import { projectFolder } from '../support/recording-store.js';
import { makeWorkspace, terraformFolder, type Workspace } from './workspace.js';

const init = ['init', '-backend=false', '-input=false', '-no-color'];

/** Runs terraform in a workspace of its own, once it is initialized. */
async function inWorkspace<T>(work: (workspace: Workspace) => Promise<T>, change?: (folder: string) => void) {
  const workspace = makeWorkspace(change);
  try {
    const { exitCode, output } = await workspace.terraform(init);
    expect(exitCode, output).to.equal(0);
    return await work(workspace);
  } finally {
    workspace.close();
  }
}

interface Mistake {
  readonly title: string;
  readonly file: string;
  readonly from: string;
  readonly to: string;
  /** What terraform says of it. */
  readonly says: RegExp;
}

const mistakes: readonly Mistake[] = [
  {
    title: 'a misspelt attribute',
    file: 'functions.tf',
    from: 'available_memory ',
    to: 'avaliable_memory ',
    says: /Unsupported argument[\s\S]*avaliable_memory/,
  },
  {
    title: 'an attribute in the wrong block',
    file: 'functions.tf',
    from: '    runtime           = "nodejs22"\n',
    to: '    runtime           = "nodejs22"\n    timeout_seconds = 60\n',
    says: /Unsupported argument[\s\S]*timeout_seconds/,
  },
  {
    title: 'a block in the wrong place',
    file: 'scheduler.tf',
    from: '  http_target {',
    to: '  oidc_token {\n    service_account_email = "x"\n  }\n\n  http_target {',
    says: /Unsupported block type[\s\S]*oidc_token/,
  },
  {
    title: 'a required attribute that is missing',
    file: 'firestore.tf',
    from: '  location_id = coalesce(var.firestore_location, var.region)\n',
    to: '',
    says: /Missing required argument[\s\S]*location_id/,
  },
  {
    title: 'a required block that is missing',
    file: 'secrets.tf',
    from: '  replication {\n    auto {}\n  }\n',
    to: '',
    says: /Insufficient replication blocks/,
  },
  {
    title: 'a block twice that may be there once',
    file: 'secrets.tf',
    from: '  replication {\n    auto {}\n  }\n',
    to: '  replication {\n    auto {}\n  }\n  replication {\n    auto {}\n  }\n',
    says: /Too many replication blocks/,
  },
  {
    title: 'a value of the wrong type',
    file: 'function-table.tf',
    from: 'timeout     = 60\n',
    to: 'timeout     = "a minute"\n',
    says: /a number is required/,
  },
  {
    title: 'a resource that the provider does not have',
    file: 'messages.tf',
    from: 'resource "google_pubsub_topic" "lane"',
    to: 'resource "google_pubsub_subject" "lane" {}\n\nresource "google_pubsub_topic" "lane"',
    says: /Invalid resource type[\s\S]*google_pubsub_subject/,
  },
  {
    title: 'a reference to what is not declared',
    file: 'storage.tf',
    from: 'google_service_account.identity["builder"].member',
    to: 'google_service_account.identities["builder"].member',
    says: /Reference to undeclared resource/,
  },
  {
    title: 'an attribute that a resource does not have, read',
    file: 'settings.tf',
    from: 'google_service_account.identity["scheduler"].email',
    to: 'google_service_account.identity["scheduler"].mail',
    says: /Unsupported attribute[\s\S]*"mail"/,
  },
  {
    title: 'a variable that there is not',
    file: 'firestore.tf',
    from: 'var.deletion_protection ? "ABANDON"',
    to: 'var.delete_protection ? "ABANDON"',
    says: /Reference to undeclared input variable/,
  },
];

function replaceIn(folder: string, { file, from, to }: Mistake): void {
  const path = join(folder, file);
  const text = readFileSync(path, 'utf8');
  expect(text, `${file} no longer has what the mistake is made of`).to.include(from);
  writeFileSync(path, text.replace(from, to));
}

/** JSON is HCL, but for `${`. */
const hcl = (value: unknown): string => JSON.stringify(value).replaceAll('${', '$${');

describe('terraform', function () {
  this.timeout(120_000);

  it('is formatted', async () => {
    await inWorkspace(async ({ terraform }) => {
      const { exitCode, output } = await terraform(['fmt', '-check', '-recursive', '-diff']);
      expect(exitCode, output).to.equal(0);
    });
  });

  it('is valid, and so are its examples', async () => {
    await inWorkspace(async ({ terraform }) => {
      for (const folder of ['.', 'examples/minimal', 'examples/full']) {
        const prepared = await terraform(init, folder);
        expect(prepared.exitCode, prepared.output).to.equal(0);
        const { exitCode, output } = await terraform(['validate', '-no-color'], folder);
        expect(exitCode, `${folder}: ${output}`).to.equal(0);
      }
    });
  });

  it('plans what its own tests want', async () => {
    await inWorkspace(async ({ terraform }) => {
      const { exitCode, output } = await terraform(['test', '-no-color']);
      expect(exitCode, output).to.equal(0);
      expect(output).to.match(/Success! \d+ passed, 0 failed\./);
    });
  });

  it('calls everything as shared/names.ts does, and grants every row of the roles', async () => {
    const names = {
      functions: Object.values(functionNames).sort(),
      jobs: schedulerJobs,
      secrets: deploymentSecrets,
      topics,
    };
    // Each scope is granted somewhere in grants.tf; one that is not would be a right that nobody has.
    const scopes = new Set(functionGrants.map(({ on }) => on as string));
    for (const known of [
      ...['project', 'topics', 'parents', 'billingAccounts', 'dnsProjects', 'packages', 'itself'],
      ...Object.keys(deploymentSecrets),
    ])
      scopes.delete(known);
    expect([...scopes], 'terraform/grants.tf knows no such scope').to.deep.equal([]);
    const accounts = [...Object.values(functionNames).map(functionAccount), ...Object.values(invokers)].map(
      (email) => email.split('@', 1)[0] ?? '',
    );
    const own = functionGrants
      .filter(({ on }) => on === 'project')
      .map(({ name, role }) => `${name} ${role.replace(/^projects\/[^/]+\/roles\//, '')}`);
    const onTopics = functionGrants
      .filter(({ on }) => on === 'topics')
      .flatMap(({ name, role }) => Object.keys(topics).map((lane) => `${name} ${role} ${lane}`));
    const onParents = (parent: string) =>
      functionGrants.filter(({ on }) => on === 'parents').map(({ name, role }) => `${name} ${role} ${parent}`);
    const onIts = (scope: string) =>
      functionGrants.filter(({ on }) => on === scope).map(({ name, role }) => `${name} ${role}`);
    const onSecrets = functionGrants
      .filter(({ on }) => on in deploymentSecrets)
      .map(({ name, role }) => `${name} ${role}`);
    const assertions: readonly (readonly [string, unknown])[] = [
      ['output.names', names],
      ['sort([for a in google_service_account.identity : a.account_id])', [...accounts, 'plinth-builder'].sort()],
      ['keys(google_project_iam_member.function)', own.sort()],
      ['keys(google_pubsub_topic_iam_member.function)', onTopics.sort()],
      ['keys(google_folder_iam_member.function)', onParents('folders/111').sort()],
      ['keys(google_organization_iam_member.function)', onParents('organizations/222').sort()],
      ['keys(google_storage_bucket_iam_member.function)', onIts('packages').sort()],
      ['keys(google_service_account_iam_member.function)', onIts('itself').sort()],
      ['keys(google_secret_manager_secret_iam_member.function)', onSecrets.sort()],
      [
        '{ for id, role in google_project_iam_custom_role.plinth : id => sort(role.permissions) }',
        Object.fromEntries(
          customRoles.map(({ name, permissions }) => [name.split('/').at(-1), [...permissions].sort()]),
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

  it('makes no account that docs/deploy.md has made by hand', () => {
    const made = [
      ...readFileSync(join(terraformFolder, '..', 'docs', 'deploy.md'), 'utf8').matchAll(
        /service-accounts create (\S+)/g,
      ),
    ].map(([, name]) => name);
    expect(made).to.have.members(['plinth-releaser', 'plinth-deployer']);
    expect(readFileSync(join(terraformFolder, 'identities.tf'), 'utf8')).not.to.match(/plinth-(releaser|deployer)/);
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

  describe('finds', () => {
    for (const mistake of mistakes) {
      it(mistake.title, async () => {
        const workspace = makeWorkspace((folder) => replaceIn(folder, mistake));
        try {
          const prepared = await workspace.terraform(init);
          const checked = prepared.exitCode === 0 ? await workspace.terraform(['validate', '-no-color']) : prepared;
          // A type is only known once there are values.
          const judged = checked.exitCode === 0 ? await workspace.terraform(['test', '-no-color']) : checked;
          expect(judged.exitCode, judged.output).to.not.equal(0);
          expect(judged.output.replace(/\s*│\s*/g, ' ')).to.match(mistake.says);
        } finally {
          workspace.close();
        }
      });
    }
  });
});
