/** The part on Google's roles of the page about the simulated cloud: where the facts come from, and which roles are known by name alone. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import * as z from 'zod';

const Data = z.object({
  source: z.string(),
  licence: z.string(),
  date: z.string(),
  sourceSha256: z.string(),
  services: z.array(z.string()),
  roles: z.record(z.string(), z.unknown()),
  otherRoles: z.record(z.string(), z.string()),
});

export function simulatedRoles(): string {
  const path = join('local', 'cloud', 'iam', 'google-roles.json');
  const data = Data.parse(JSON.parse(readFileSync(path, 'utf8')));
  const others = Object.entries(data.otherRoles).map(([service, names]) => [service, names.split(' ')] as const);
  const known = Object.keys(data.roles).length;
  const unknown = others.reduce((sum, [, names]) => sum + names.length, 0);
  return [
    "## Google's roles",
    '',
    `Generated from \`${path}\`. The simulated cloud knows all ${known + unknown} names of predefined roles, and any of them can be bound where its resource supports it. It knows the permissions of ${known} roles, cut to the services below. A call that asks for a permission is judged by these, one by one.`,
    '',
    '| fact | value |',
    '| --- | --- |',
    `| source | ${data.source} |`,
    `| licence | ${data.licence} |`,
    `| distilled on | ${data.date} |`,
    `| SHA-256 of the source | \`${data.sourceSha256}\` |`,
    `| services | ${data.services.join(', ')} |`,
    '',
    'The source lacks `datastore.indexes.*` in every role. `tools/roles/distil.ts` makes the file anew from a newer source.',
    '',
    '### Roles known by name alone',
    '',
    `These ${unknown} roles can be bound and grant nothing. \`iam.roles.get\` answers 501 for them.`,
    '',
    '| service | roles |',
    '| --- | --- |',
    ...others.map(([service, names]) => `| ${service || '(none)'} | ${names.join(', ')} |`),
    '',
  ].join('\n');
}
