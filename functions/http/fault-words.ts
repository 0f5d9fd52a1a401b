/** Words the faults that zod finds. Each says what a value must be, to follow the value's name. */
import type * as z from 'zod';

const kinds: Readonly<Record<string, string>> = {
  string: 'text',
  number: 'a number',
  int: 'a whole number',
  boolean: 'true or false',
  object: 'an object',
  array: 'a list',
  null: 'null',
};

const kindOf = (value: unknown): string => {
  if (value === null) return 'null';
  if (Array.isArray(value)) return 'a list';
  return kinds[typeof value] ?? 'something else';
};

const units: Readonly<Record<string, string>> = { string: ' characters', array: ' items' };

const bounded = (origin: string, bound: string): string =>
  origin in units ? `must have ${bound}${units[origin]}` : `must be ${bound}`;

/** Undefined means zod's own words. zod doesn't call this for a schema with its own message. */
export function wordsOf(issue: z.core.$ZodRawIssue): string | undefined {
  switch (issue.code) {
    case 'invalid_type': {
      if (issue.input === undefined) return 'is missing';
      const expected = kinds[issue.expected] ?? issue.expected;
      return `must be ${expected}, not ${kindOf(issue.input)}`;
    }
    case 'invalid_value':
      return `must be ${issue.values.map(String).join(' or ')}`;
    case 'too_big':
      return bounded(issue.origin, `at most ${issue.maximum}`);
    case 'too_small':
      return issue.origin === 'string' && issue.minimum === 1
        ? 'must not be empty'
        : bounded(issue.origin, `at least ${issue.minimum}`);
    case 'invalid_format':
      return issue.format === 'regex' ? 'has not the form that it must have' : `must be a valid ${issue.format}`;
    case 'invalid_union':
      return 'has none of the forms that are taken here';
    default:
      return undefined;
  }
}
