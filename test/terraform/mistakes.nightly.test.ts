/** Mistakes planted in the deployment: each must be found, by what terraform knows or by what our own tests of it assert. */
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { init, makeWorkspace, type Workspace } from './workspace.js';

interface Mistake {
  readonly title: string;
  readonly file: string;
  readonly from: string;
  readonly to: string;
  /** What terraform says of it. */
  readonly says: RegExp;
}

/** What the schema or the language forbids. */
const invalid: readonly Mistake[] = [
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
    from: '    runtime           = "nodejs24"\n',
    to: '    runtime           = "nodejs24"\n    timeout_seconds = 60\n',
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
    from: 'timeout     = 60 #',
    to: 'timeout     = "a minute" #',
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
    from: '= google_project_iam_member.builder.id',
    to: '= google_project_iam_member.builders.id',
    says: /Reference to undeclared resource/,
  },
  {
    title: 'an attribute that a resource does not have, read',
    file: 'identities.tf',
    from: 'name => account.email }',
    to: 'name => account.mail }',
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

/** What is valid and wrong: only an assertion can tell, in the file of terraform/tests that is named. */
const wrong: readonly (Mistake & { readonly test: string })[] = [
  {
    title: 'a lane without retries',
    file: 'functions.tf',
    from: '"RETRY_POLICY_RETRY"',
    to: '"RETRY_POLICY_DO_NOT_RETRY"',
    test: 'functions',
    says: /Both lanes hear messages, with retries\./,
  },
  {
    title: 'a lane that is reached from outside',
    file: 'function-table.tf',
    from: 'as many connections as there are instances\n      ingress     = "ALLOW_INTERNAL_ONLY"',
    to: 'as many connections as there are instances\n      ingress     = "ALLOW_ALL"',
    test: 'functions',
    says: /Only the APIs are reached from outside\./,
  },
  {
    title: 'a lane that everybody may call',
    file: 'invokers.tf',
    from: 'member = local.identities["eventarc"].member',
    to: 'member = "allUsers"',
    test: 'functions',
    says: /Nobody else may call a function\./,
  },
  {
    title: 'a role on the whole project in place of one bucket',
    file: 'roles.json',
    from: '"on": "packages"',
    to: '"on": "project"',
    test: 'functions',
    says: /In the whole project a function has the documents/,
  },
  {
    title: 'a grant on secrets without its condition',
    file: 'grants.tf',
    from: `
  condition {
    title       = "secrets-of-bootstraps"
    description = "No secret of the deployment itself."
    expression  = "resource.name.startsWith(\\"projects/\${data.google_project.plinth.number}/secrets/\${local.bootstrap_id_prefix}\\")"
  }
`,
    to: '',
    test: 'grants',
    says: /Secrets of bootstraps are granted by their names, and no others with them\./,
  },
  {
    title: 'a zone that is granted on itself and with its project',
    file: 'grants.tf',
    from: ' if !contains(var.dns_projects, split("/", zone)[0])',
    to: '',
    test: 'grants',
    says: /Where zones may be made the project has the grant, and its zones have none\./,
  },
  {
    title: 'a token of Cloud Scheduler for another audience',
    file: 'scheduler.tf',
    from: 'audience = local.urls[each.key]',
    to: 'audience = local.urls["api"]',
    test: 'clock',
    says: /A job's token is made for the function that it calls, and for nothing else\./,
  },
  {
    title: 'documents that nobody removes',
    file: 'firestore.tf',
    from: 'each.value.ttl ? [true] : []',
    to: '[]',
    test: 'firestore',
    says: /expireAt is what Firestore removes by, and nothing else\./,
  },
  {
    title: 'a database that may be deleted',
    file: 'variables-tuning.tf',
    from: 'take a trial deployment down."\n  type        = bool\n  default     = true',
    to: 'take a trial deployment down."\n  type        = bool\n  default     = false',
    test: 'firestore',
    says: /Neither Google nor terraform deletes the database\./,
  },
  {
    title: 'an alert that is gone',
    file: 'alerts.tf',
    from: '  for_each = local.log_alerts\n',
    to: '  for_each = { for name, alert in local.log_alerts : name => alert if name != "quarantined" }\n',
    test: 'watching',
    says: /Each of these lines in a log wakes somebody, and no sooner\./,
  },
];

/** Gives the text as it was. */
function replaceIn(folder: string, { file, from, to }: Mistake): string {
  const path = join(folder, file);
  const text = readFileSync(path, 'utf8');
  expect(text, `${file} no longer has what the mistake is made of`).to.include(from);
  writeFileSync(path, text.replace(from, to));
  return text;
}

/** Terraform breaks its lines, and puts a rule beside them. */
const unwrapped = (output: string): string => output.replace(/\s*│\s*/g, ' ').replace(/\s+/g, ' ');

describe('mistakes in terraform', function () {
  this.timeout(300_000);

  for (const mistake of invalid) {
    it(`are found: ${mistake.title}`, async () => {
      const workspace = makeWorkspace((folder) => replaceIn(folder, mistake));
      try {
        const prepared = await workspace.terraform(init);
        const checked = prepared.exitCode === 0 ? await workspace.terraform(['validate', '-no-color']) : prepared;
        // A type is only known once there are values.
        const judged = checked.exitCode === 0 ? await test(workspace, 'functions') : checked;
        expect(judged.exitCode, judged.output).to.not.equal(0);
        expect(unwrapped(judged.output)).to.match(mistake.says);
      } finally {
        workspace.close();
      }
    });
  }

  describe('that only a plan shows', () => {
    let workspace: Workspace;

    before(async () => {
      workspace = makeWorkspace();
      const { exitCode, output } = await workspace.terraform(init);
      expect(exitCode, output).to.equal(0);
    });
    after(() => workspace?.close());

    for (const mistake of wrong) {
      it(`are found: ${mistake.title}`, async () => {
        const text = replaceIn(workspace.folder, mistake);
        try {
          const { exitCode, output } = await test(workspace, mistake.test);
          expect(exitCode, output).to.not.equal(0);
          expect(unwrapped(output))
            .to.match(/Error: Test assertion failed/)
            .and.to.match(mistake.says);
        } finally {
          writeFileSync(join(workspace.folder, mistake.file), text);
        }
      });
    }
  });
});

/** One file of our own tests alone: each of its runs takes a second. */
const test = ({ terraform }: Workspace, name: string) =>
  terraform(['test', '-no-color', `-filter=tests/${name}.tftest.hcl`]);
