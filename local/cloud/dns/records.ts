/** The record sets of a zone: checks them, and applies a change to them completely or not at all. */

import { parseIp } from '../compute/ip-ranges.js';
import { GoogleError, type JsonObject } from '../kernel/api.js';
import { notSimulated } from '../kernel/errors.js';
import { numberOf, textOf, textsOf } from '../kernel/json-fields.js';

export type Records = Record<string, JsonObject>;

const types = [
  'A',
  'AAAA',
  'CAA',
  'CNAME',
  'DS',
  'HTTPS',
  'MX',
  'NAPTR',
  'NS',
  'PTR',
  'SOA',
  'SPF',
  'SRV',
  'SSHFP',
  'SVCB',
  'TLSA',
  'TXT',
];

export const keyOf = ({ name, type }: JsonObject): string => `${String(name).toLowerCase()} ${String(type)}`;

const named = (record: JsonObject): string => `${String(record['name'])} (${String(record['type'])})`;

export const invalidValue = (field: string, value: string): GoogleError =>
  new GoogleError(400, 'INVALID_ARGUMENT', `Invalid value for '${field}': '${value}'`, { reason: 'invalid' });

export const requiredField = (field: string): GoogleError =>
  new GoogleError(400, 'INVALID_ARGUMENT', `The '${field}' parameter is required but was missing.`, {
    reason: 'required',
  });

/** The records that every new zone has. */
export function apexRecords(dnsName: string, nameServers: readonly string[]): Records {
  const records: JsonObject[] = [
    { kind: 'dns#resourceRecordSet', name: dnsName, type: 'NS', ttl: 21_600, rrdatas: [...nameServers] },
    {
      kind: 'dns#resourceRecordSet',
      name: dnsName,
      type: 'SOA',
      ttl: 21_600,
      rrdatas: [`${nameServers[0]} cloud-dns-hostmaster.google.com. 1 21600 3600 259200 300`],
    },
  ];
  return Object.fromEntries(records.map((record) => [keyOf(record), record]));
}

function checkRecord(record: JsonObject, dnsName: string, field: string): void {
  const [name, type] = [textOf(record['name']), textOf(record['type'])];
  if (name === undefined || name === '') throw requiredField(`${field}.name`);
  if (type === undefined || type === '') throw requiredField(`${field}.type`);
  if (!types.includes(type)) throw invalidValue(`${field}.type`, type);
  const isName = /^(\*\.)?([a-z0-9_]([a-z0-9_-]{0,61}[a-z0-9_])?\.)+$/i.test(name) && name.length <= 254;
  if (!isName || !(name === dnsName || name.endsWith(`.${dnsName}`))) throw invalidValue(`${field}.name`, name);
  if (record['routingPolicy'] !== undefined) {
    throw notSimulated('routing policies of record sets');
  }
  const ttl = numberOf(record['ttl']);
  if (ttl === undefined) throw requiredField(`${field}.ttl`);
  if (ttl < 0 || ttl > 2 ** 31 - 1) throw invalidValue(`${field}.ttl`, String(ttl));
  const data = textsOf(record['rrdatas']);
  if (data.length === 0) throw requiredField(`${field}.rrdata`);
  for (const [index, one] of data.entries()) {
    if (!isData(type, one) || data.indexOf(one) !== index) throw invalidValue(`${field}.rrdata[${index}]`, one);
  }
  if (type === 'CNAME' && data.length > 1) throw invalidValue(`${field}.rrdata`, data.join(' '));
}

function isData(type: string, data: string): boolean {
  switch (type) {
    case 'A':
      return parseIp(data) !== undefined;
    case 'AAAA':
      return data.includes(':') && /^[0-9a-f:.]+$/i.test(data);
    case 'CNAME':
    case 'NS':
    case 'PTR':
      return data.endsWith('.');
    case 'MX':
      return /^\d{1,5}\s+\S+\.$/.test(data);
    default:
      return data !== '';
  }
}

/**
 * The record sets after a change. Deletions must match exactly. Additions must be new, unless the same change deletes them.
 */
export function changed(
  stands: Records,
  dnsName: string,
  additions: readonly JsonObject[],
  deletions: readonly JsonObject[],
): Records {
  const after: Records = { ...stands };
  for (const [index, record] of deletions.entries()) {
    const field = `entity.change.deletions[${index}]`;
    checkRecord(record, dnsName, field);
    const found = after[keyOf(record)];
    if (found === undefined) {
      throw new GoogleError(404, 'NOT_FOUND', `The '${field}' resource named '${named(record)}' does not exist.`, {
        reason: 'notFound',
      });
    }
    if (!isSame(found, record)) {
      throw new GoogleError(412, 'FAILED_PRECONDITION', `Precondition not met for '${field}'`, {
        reason: 'conditionNotMet',
      });
    }
    delete after[keyOf(record)];
  }
  for (const [index, record] of additions.entries()) {
    const field = `entity.change.additions[${index}]`;
    checkRecord(record, dnsName, field);
    if (after[keyOf(record)] !== undefined) {
      throw new GoogleError(409, 'ALREADY_EXISTS', `The resource '${field}' named '${named(record)}' already exists`, {
        reason: 'alreadyExists',
      });
    }
    after[keyOf(record)] = { ...record, kind: 'dns#resourceRecordSet' };
    checkAlone(after, record, field);
  }
  for (const type of ['NS', 'SOA']) {
    if (after[keyOf({ name: dnsName, type })] === undefined) {
      throw new GoogleError(400, 'INVALID_ARGUMENT', `A managed zone must have a ${type} record set at its apex.`, {
        reason: 'invalidZoneApex',
      });
    }
  }
  return after;
}

const isSame = (a: JsonObject, b: JsonObject): boolean => {
  const [one, other] = [textsOf(a['rrdatas']), textsOf(b['rrdatas'])].map((data) => [...data].sort().join('\n'));
  return numberOf(a['ttl']) === numberOf(b['ttl']) && one === other;
};

/** A CNAME allows no other record of its name. */
function checkAlone(after: Records, record: JsonObject, field: string): void {
  const sameName = Object.values(after).filter(
    ({ name }) => String(name).toLowerCase() === String(record['name']).toLowerCase(),
  );
  if (sameName.length > 1 && sameName.some(({ type }) => type === 'CNAME')) {
    throw new GoogleError(
      400,
      'INVALID_ARGUMENT',
      `The resource record set '${field}' is invalid because the DNS name '${String(record['name'])}' may have either one CNAME resource record set or resource record sets of other types, but not both.`,
      { reason: 'cnameResourceRecordSetConflict' },
    );
  }
}
