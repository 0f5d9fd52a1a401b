/**
 * Distils Google's predefined roles into `local/cloud/iam/google-roles.json`, from which the simulated cloud reads them. Run it
 * by hand with a newer source, and name the day:
 *
 *     npm run -s build && node dist/tools/roles/distil.js <google-roles.json> 2026-11-23
 *
 * The source is a JSON object with `source`, `services`, `allRoleNames` and `roles` (`{ title, permissions }` by name). It is
 * taken from github.com/iann0036/iam-dataset (`gcp/roles`).
 */
import { createHash } from 'node:crypto';
import { readFileSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import * as z from 'zod';

const Source = z.object({
  source: z.string(),
  services: z.array(z.string()),
  allRoleNames: z.array(z.string()),
  roles: z.record(z.string(), z.object({ title: z.string(), permissions: z.array(z.string()) })),
});

/** The services whose methods are simulated, and those whose roles plinth's deployment grants. Permissions of others go. */
const services = [
  'artifactregistry',
  'billing',
  'cloudbuild',
  'cloudfunctions',
  'cloudquotas',
  'cloudscheduler',
  'compute',
  'datastore',
  'dns',
  'eventarc',
  'iam',
  'iap',
  'logging',
  'monitoring',
  'orgpolicy',
  'publicca',
  'pubsub',
  'resourcemanager',
  'run',
  'secretmanager',
  'serviceusage',
  'storage',
];

/** Roles that plinth's deployment grants and whose permissions the source lacks. */
const knownByName = ['roles/firebaserules.admin', 'roles/telemetry.tracesWriter'];

/** What comes before the first dot. */
const serviceOf = (name: string): string => name.slice(0, name.indexOf('.'));

/** A role of a service that is kept, or of all of them, such as `roles/owner`. */
const isKept = (role: string): boolean =>
  !role.includes('.') || services.includes(serviceOf(role.slice('roles/'.length)));

const sha256 = (text: string | Buffer): string => createHash('sha256').update(text).digest('hex');

/** Numbers in rising order, as ranges: `0-4 9`. */
function ranges(numbers: readonly number[]): string {
  const found: [number, number][] = [];
  for (const number of numbers) {
    const last = found.at(-1);
    if (last !== undefined && last[1] === number - 1) last[1] = number;
    else found.push([number, number]);
  }
  return found.map(([first, last]) => (first === last ? `${first}` : `${first}-${last}`)).join(' ');
}

/** Names that share all but the last part, under what they share: `compute.disks` → `create delete`. */
function grouped(names: readonly string[]): Record<string, string> {
  const groups: Record<string, string> = {};
  for (const name of names) {
    const at = name.lastIndexOf('.');
    const [stem, last] = [name.slice(0, Math.max(at, 0)), name.slice(at + 1)];
    groups[stem] = groups[stem] === undefined ? last : `${groups[stem]} ${last}`;
  }
  return groups;
}

function distil(bytes: Buffer, date: string): string {
  const { source, services: held, allRoleNames, roles } = Source.parse(JSON.parse(bytes.toString()));
  const missing = [
    ...services.filter((each) => !held.includes(each)),
    ...knownByName.filter((each) => !allRoleNames.includes(each)),
  ];
  if (missing.length > 0) throw new Error(`The source lacks ${missing.join(', ')}.`);
  const known = Object.entries(roles)
    .filter(([name]) => isKept(name))
    .map(([name, { title, permissions }]) => ({
      name,
      title,
      permissions: permissions.filter((each) => services.includes(serviceOf(each))).sort(),
    }))
    .sort((a, b) => (a.name < b.name ? -1 : 1));
  const stemOf = (name: string): string => name.slice(0, name.lastIndexOf('.'));
  // By noun, then verb: so that grouping keeps the order, and numbers stay the same when read back.
  const permissions = [...new Set(known.flatMap((role) => role.permissions))].sort((a, b) =>
    stemOf(a) === stemOf(b) ? (a < b ? -1 : 1) : stemOf(a) < stemOf(b) ? -1 : 1,
  );
  const numberOf = new Map(permissions.map((permission, number) => [permission, number]));
  const lines = known.flatMap(({ name, permissions: of }) => of.map((each) => `${name} ${each}\n`));
  const facts = {
    source,
    licence: 'MIT; facts',
    date,
    sourceSha256: sha256(bytes),
    // Of all lines `<role> <permission>`, so that what is read back can be compared with the source.
    permissionsSha256: sha256(lines.join('')),
  };
  const row = (key: string, value: unknown): string => `    ${JSON.stringify(key)}: ${JSON.stringify(value)}`;
  const table = (entries: readonly (readonly [string, unknown])[]): string =>
    `{\n${entries.map(([key, value]) => row(key, value)).join(',\n')}\n  }`;
  return [
    '{',
    ...Object.entries(facts).map(([key, value]) => `  ${JSON.stringify(key)}: ${JSON.stringify(value)},`),
    `  "services": ${JSON.stringify(services)},`,
    `  "permissions": ${table(Object.entries(grouped(permissions)))},`,
    `  "roles": ${table(
      known.map(({ name, title, permissions: of }) => [
        name,
        [title, ranges(of.map((each) => numberOf.get(each) ?? 0).sort((a, b) => a - b))],
      ]),
    )},`,
    `  "knownByName": ${JSON.stringify(knownByName)}`,
    '}\n',
  ].join('\n');
}

const [path, date] = process.argv.slice(2);
if (path === undefined || !/^\d{4}-\d\d-\d\d$/.test(date ?? '')) {
  process.stderr.write('usage: node dist/tools/roles/distil.js <google-roles.json> <year-month-day>\n');
  process.exit(2);
}
const target = fileURLToPath(new URL('../../../local/cloud/iam/google-roles.json', import.meta.url));
writeFileSync(target, distil(readFileSync(path), date ?? ''));
