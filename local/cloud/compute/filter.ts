/** Compute's list filters: `name=x`, `labels.k:*`, `status != RUNNING`, `name eq web.*`, joined by AND and OR. */
import { GoogleError, type Json, type JsonObject } from '../kernel/api.js';

export function matchesFilter(resource: JsonObject, filter: string | undefined): boolean {
  if (filter === undefined || filter.trim() === '') return true;
  return filter.split(/\s+OR\s+/).some((side) => termsOf(side).every((term) => matchesTerm(resource, term, filter)));
}

const termsOf = (side: string): string[] =>
  side
    .split(/\s+AND\s+|\)\s*\(/)
    .map((term) => term.replace(/^[\s(]+|[\s)]+$/g, ''))
    .filter((term) => term !== '');

function matchesTerm(resource: JsonObject, term: string, filter: string): boolean {
  const match = /^(-|NOT\s+)?([\w.-]+?)\s*(!=|<=|>=|=|:|<|>|\seq\s|\sne\s)\s*(.*)$/s.exec(term);
  if (match === null) {
    throw new GoogleError(
      400,
      'INVALID_ARGUMENT',
      `Invalid value for field 'filter': '${filter}'. Invalid list filter expression.`,
      {
        reason: 'invalid',
      },
    );
  }
  const [, not, field = '', operator = '', quoted = ''] = match;
  const value = quoted
    .trim()
    .replace(/^"(.*)"$/s, '$1')
    .replace(/^'(.*)'$/s, '$1');
  return compare(valuesAt(resource, field), operator.trim(), value) !== (not !== undefined);
}

function compare(found: string[], operator: string, value: string): boolean {
  switch (operator) {
    case '=':
      return found.some((one) => one === value || (value.includes('*') && wildcard(value).test(one)));
    case '!=':
      return !found.includes(value);
    case ':':
      return value === '*' ? found.length > 0 : found.some((one) => wildcard(value).test(one) || one.includes(value));
    case 'eq':
      return found.some((one) => new RegExp(`^(?:${value})$`).test(one));
    case 'ne':
      return !found.some((one) => new RegExp(`^(?:${value})$`).test(one));
    default:
      return found.some((one) => ordered(one, operator, value));
  }
}

function ordered(one: string, operator: string, value: string): boolean {
  const [a, b] = [Number(one), Number(value)];
  const order = Number.isNaN(a) || Number.isNaN(b) ? one.localeCompare(value) : a - b;
  return operator === '<' ? order < 0 : operator === '>' ? order > 0 : operator === '<=' ? order <= 0 : order >= 0;
}

const wildcard = (value: string): RegExp =>
  new RegExp(`^${value.replace(/[.+?^${}()|[\]\\]/g, '\\$&').replaceAll('*', '.*')}$`, 'i');

function valuesAt(value: Json | undefined, field: string): string[] {
  if (Array.isArray(value)) return value.flatMap((item) => valuesAt(item, field));
  if (field === '') return value === undefined || value === null || typeof value === 'object' ? [] : [String(value)];
  if (typeof value !== 'object' || value === null) return [];
  const [head = '', ...rest] = field.split('.');
  return valuesAt(value[head], rest.join('.'));
}
