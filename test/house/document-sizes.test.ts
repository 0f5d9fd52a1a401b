/**
 * Firestore takes no document above 1 MiB, and what writes one that is larger answers 500 for ever. So each list, map and free
 * text of each stored document has a bound here, with what enforces it, and the largest document is well below that.
 */
import { expect } from 'chai';
import * as z from 'zod';
import { SessionRecord } from '../../functions/console/sessions.js';
import { CountersRecord, OwnerCountRecord, TeamCountRecord } from '../../functions/engine/record/counts.js';
import * as engine from '../../functions/engine/record/documents.js';
import { DurationsRecord } from '../../functions/engine/record/durations.js';
import { planOfRecord } from '../../functions/engine/record/plan-of-record.js';
import { RateRecord } from '../../functions/http/rate-limit.js';
import * as organizations from '../../functions/organizations/documents.js';
import { PoolNotesRecord } from '../../functions/pools/notes.js';
import { FunctionReport } from '../../functions/preflight/deployment/reports.js';
import { SeenRecord } from '../../functions/preflight/seen.js';
import { stepsOf } from '../../functions/steps/index.js';
import { collections } from '../../shared/names.js';
import { makeOptions } from '../install-config/make-options.js';

const mostBytes = 900 * 1024;
const kib = 1024;
/** E-mails, names, ids, reasons. */
const shortText = 300;
/** `inShort` of functions/engine/record/bounded.ts, with the mark of what is left out. */
const inShort = 1510;

/** Of the largest plan: two datacenters with an install. */
const instances = planOfRecord(stepsOf({ hosts: true }), {
  options: { ...makeOptions({ multiDc: true, installVersion: '1.0.0', airgapped: true, createTestUser: true }) },
} as unknown as engine.BootstrapRecord).size;

/** By place: how many a list or a map holds, or how many bytes a text or what has no schema. */
const bounds: Readonly<Record<string, number>> = {
  // shared/bootstrap/request.ts: 64 KiB of options, and a key of 16 KiB.
  'bootstraps.options': 64 * kib,
  'bootstraps.given': 64 * kib,
  'bootstraps.sshPublicKey': 16 * kib,
  // functions/bootstraps/people/people.ts and team-shares.ts
  'bootstraps.sharedWith': 20,
  'bootstraps.sharedTeams': 5,
  'bootstraps.boundTo': 21,
  // functions/bootstraps/people/team-people.ts and functions/engine/record/bounded.ts
  'bootstraps.teamPeople': 200,
  'bootstraps.teamPeople.*': 254,
  'bootstraps.formerPeople': 500,
  'bootstraps.formerPeople.*': 254,
  'bootstraps.warnings': 20,
  'bootstraps.warnings.*': inShort,
  // 14 VMs with 20 pauses each.
  'bootstraps.pauses': 280,
  'bootstraps.pauses.*.vm': 63,
  // functions/cleanup/unplanned-machines.ts
  'bootstraps.unplanned': 100,
  'bootstraps.unplanned.*.name': 63,
  'bootstraps.unplanned.*.zone': 40,
  // The deployment's own setting. An environment holds 32 KiB.
  'bootstraps.sshSourceRanges': 500,
  'bootstraps.sshSourceRanges.*': 64,
  'bootstraps.base': 2,
  'bootstraps.overspent': 2,
  'bootstraps.instances': instances,
  // What a step saw, on an average: ids, addresses, a key, the metrics of a quota.
  'bootstraps.instances.*.output': 600,
  // Of VMs and addresses, as their output.
  'bootstraps.instances.*.unfinished': 200,
  // The failure of one, with the titles of all others that failed.
  'bootstraps.problem.detail': 10 * kib,
  // Of one step each, and again in the problem of the bootstrap.
  'bootstraps.instances.*.problem.short': 0,
  'bootstraps.instances.*.problem.members': 0,
  // A problem takes the place of the note.
  'bootstraps.instances.*.note': 0,
  'bootstraps.vmsStopped.why': inShort,
  'bootstraps.vmsStopped.advice': inShort,
  'leases.failures': 20,
  'leases.note': inShort,
  'leases.retry': inShort,
  'events.event.action': 100 * 130,
  'events.event.problem.detail': 10 * kib,
  'events.event.note': inShort,
  'events.event.retry': inShort,
  'events.event.text': inShort,
  'events.calls': 60,
  'events.calls.*.text': inShort,
  // functions/engine/record/files.ts
  'files.content': 900 * kib - 4 * kib,
  // A piece of 256 KiB of a log: bytes that are not UTF-8 become three.
  'logs.text': 3 * 256 * kib,
  'logHeads.read': 100,
  // `endOfMonths` in functions/engine/record/counts.ts: 366 days begin in one month and end in the thirteenth after it at most.
  'counters.spend': 14,
  // Those of the setting, whose places are short.
  'counters.pools': 400,
  'passes.rests': 400,
  'passes.drained': 400,
  'passes.told': 2000,
  'passes.told.*': 30,
  'passes.pageToken': 4 * kib,
  'durations.seconds': instances,
  // By topic, and by finding of the function.
  'functionReports.handled': 3,
  'functionReports.verdicts': 10,
  'functionReports.verdicts.*.what': inShort,
  'functionReports.verdicts.*.why': inShort,
  'functionReports.verdicts.*.mend': inShort,
  'functionReports.verdicts.*.problem.errors': 5,
  'functionReports.verdicts.*.problem.members': 2 * kib,
  'preflights.warnings': 60,
  'preflights.warnings.*': inShort,
};
/** The same wherever a problem stands. */
const ofProblems: Readonly<Record<string, number>> = {
  'problem.code': 40,
  'problem.detail': inShort,
  'problem.advice': 500,
  'problem.short': 5,
  'problem.members': kib,
};

/** Every kind of document, by collection. */
const kinds: readonly (readonly [collection: string, record: z.ZodType])[] = [
  [collections.bootstraps, engine.BootstrapRecord],
  [collections.names, engine.NameRecord],
  [collections.leases, engine.LeaseRecord],
  [collections.events, engine.EventRecord],
  [collections.files, engine.FileRecord],
  [collections.logs, engine.LogChunkRecord],
  [collections.logHeads, engine.LogHeadRecord],
  [collections.counters, CountersRecord],
  [collections.counters, OwnerCountRecord],
  [collections.counters, TeamCountRecord],
  [collections.durations, DurationsRecord],
  [collections.functionReports, FunctionReport],
  [collections.passes, engine.PassRecord],
  [collections.passes, engine.SearchRecord],
  [collections.passes, PoolNotesRecord],
  [collections.preflights, SeenRecord],
  [collections.rates, RateRecord],
  [collections.consoleSessions, SessionRecord],
  [collections.organizations, organizations.OrganizationRecord],
  [collections.organizationMembers, organizations.OrganizationMemberRecord],
  [collections.invitations, organizations.InvitationRecord],
  [collections.transfers, organizations.TransferRecord],
  [collections.teams, organizations.TeamRecord],
  [collections.teamMembers, organizations.TeamMemberRecord],
];

/** Whose largest documents are made and stored in a test of their own, or that hold a number alone. */
const elsewhere: Readonly<Record<string, string>> = {
  [collections.organizationEvents]: 'test/http/organizations-large-teams.test.ts moves a team of 2,000',
  [collections.idempotency]: 'test/http/organizations-large-teams.test.ts has its answer given again',
  [collections.notices]: 'as large as the event that it tells of, which names no member twice',
  [collections.organizationMemberVersions]: 'one number',
};

type Schema = Readonly<Record<string, unknown>> & { readonly $ref?: string };

/** The most bytes that Firestore may count for a value of this schema. Notes what has no bound. */
function sizeOf(schema: Schema, path: string, definitions: Readonly<Record<string, Schema>>, open: string[]): number {
  const inner = (of: unknown, step: string): number => sizeOf(of as Schema, step, definitions, open);
  const bound = bounds[path] ?? ofProblems[path.split('.').slice(-2).join('.')];
  if (schema.$ref !== undefined) return inner(definitions[schema.$ref.replace('#/$defs/', '')], path);
  const either = (schema['anyOf'] ?? schema['oneOf']) as readonly Schema[] | undefined;
  if (either !== undefined) return Math.max(...either.map((each) => inner(each, path)));
  if (schema['enum'] !== undefined || schema['const'] !== undefined) return 40;
  if (['integer', 'number', 'boolean', 'null'].includes(String(schema['type']))) return 8;
  if ([schema['type']].flat().includes('string')) return bound ?? (schema['format'] === 'date-time' ? 25 : shortText);
  if (schema['properties'] !== undefined) {
    const fields = Object.entries(schema['properties'] as Readonly<Record<string, unknown>>);
    return fields.reduce((sum, [name, field]) => sum + name.length + 1 + inner(field, `${path}.${name}`), 32);
  }
  if (bound === undefined) {
    open.push(path);
    return 0;
  }
  if (schema['type'] === 'array') return bound * inner(schema['items'], `${path}.*`);
  const values = schema['additionalProperties'];
  const isPlain = values === undefined || JSON.stringify(values) === '{}';
  return isPlain ? bound : bound * (100 + inner(values, `${path}.*`));
}

describe('the largest document', () => {
  const sizes = kinds.map(([collection, record]) => {
    const open: string[] = [];
    const { $defs = {}, ...schema } = z.toJSONSchema(record, { unrepresentable: 'any', io: 'input' }) as Schema & {
      $defs?: Record<string, Schema>;
    };
    return { collection, open, bytes: sizeOf(schema, collection, $defs, open) };
  });

  it('has a bound for each of its lists and maps', () => {
    expect(sizes.flatMap(({ open }) => open)).to.deep.equal([]);
  });

  for (const { collection, bytes } of sizes) {
    it(`of ${collection} is well below what Firestore takes`, () => {
      expect(bytes).to.be.below(mostBytes);
    });
  }

  it('is known of every collection', () => {
    const known = new Set([...kinds.map(([collection]) => collection), ...Object.keys(elsewhere)]);
    expect(Object.values(collections).filter((collection) => !known.has(collection))).to.deep.equal([]);
  });
});
