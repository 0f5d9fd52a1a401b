/** The reference page of the roles that terraform grants, with a reason each, from terraform/roles.json. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import * as z from 'zod';

const Roles = z.object({
  customRoles: z.record(z.string(), z.object({ description: z.string(), permissions: z.array(z.string()) })),
  functions: z.record(z.string(), z.array(z.object({ role: z.string(), on: z.string(), why: z.string() }))),
});

const where: Readonly<Record<string, string>> = {
  project: "plinth's project",
  bootstrapSecrets: "plinth's project, for secrets of bootstraps alone",
  topics: 'both step topics',
  proofKey: 'the secret of the proof key',
  webhookKey: 'the secret of the webhook key',
  cursorKey: 'the secret of the cursor key',
  consoleClient: "the secret of the console's OAuth client",
  parents: 'each folder or organization of `parents`',
  billingAccounts: 'each of `billing_accounts`',
  dnsZones: 'each zone of `dns_zones`, or its project where that stands in `dns_projects`',
  packages: 'the bucket of packages',
  uploads: 'the bucket of uploads',
  releases: 'the executables in the bucket of releases',
  itself: 'its own service account',
};

export function rolesReference(): string {
  const { customRoles, functions } = Roles.parse(JSON.parse(readFileSync(join('terraform', 'roles.json'), 'utf8')));
  const rows = Object.entries(functions).flatMap(([name, grants]) =>
    grants.map(({ role, on, why }) => `| ${name} | \`${role}\` | ${where[on] ?? `\`${on}\``} | ${why} |`),
  );
  const custom = Object.entries(customRoles).map(
    ([id, { description, permissions }]) =>
      `| \`${id}\` | ${description} | ${permissions.map((each) => `\`${each}\``).join('<br>')} |`,
  );
  return [
    '# Roles of the functions',
    '',
    'Generated from `terraform/roles.json`, which terraform grants and the simulated cloud of the tests enforces, call by call. Each function is a service account of its own, `plinth-<function>`. Only `check` has that of `run-cloud-step`, as Google tells no other account what that one may do. Whoever makes a project owns it, so no role is granted in the projects of bootstraps. Where `traces` is on in terraform, each of them also has `roles/telemetry.tracesWriter` on the project of plinth, and sends its traces to Cloud Trace.',
    '',
    '| function | role | on | why |',
    '| --- | --- | --- | --- |',
    ...rows,
    '',
    '## Roles of our own',
    '',
    '| role | what for | permissions |',
    '| --- | --- | --- |',
    ...custom,
    '',
  ].join('\n');
}
