/** The part on Google's roles of the page about the simulated cloud: where the facts come from, and what they leave out. */
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
  knownByName: z.array(z.string()),
});

export function simulatedRoles(): string {
  const path = join('local', 'cloud', 'iam', 'google-roles.json');
  const data = Data.parse(JSON.parse(readFileSync(path, 'utf8')));
  const known = Object.keys(data.roles).length;
  const byName = data.knownByName.map((name) => `\`${name}\``).join(' and ');
  return [
    "## Google's roles",
    '',
    `Generated from \`${path}\`. The simulated cloud knows the permissions of ${known} predefined roles: those of the services below, and the basic ones. A call that asks for a permission is judged by these, one by one. ${byName} can be bound too, and grant nothing. A role of any other service answers 501.`,
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
  ].join('\n');
}
