/** The rule of every text that other people see, as schemas: whoever takes such a text builds its schema here. */
import * as z from 'zod';
import { hiddenIn, oneSpelling } from './visible-text.js';

/** Refuses what cannot be seen, and keeps the rest as it is written. */
export const seen = (schema: z.ZodString): z.ZodString =>
  schema.superRefine((text, { addIssue }) => {
    const found = hiddenIn(text);
    if (found === undefined) return;
    const message = `must hold no control characters and nothing that cannot be seen, but holds ${found}`;
    addIssue({ code: 'custom', message });
  });

const inPlaneZero =
  '\\u0000-\\u001f\\u007f-\\u009f\\u00ad\\u034f\\u0600-\\u0605\\u061c\\u06dd\\u070f\\u0890\\u0891\\u08e2\\u115f\\u1160\\u17b4\\u17b5' +
  '\\u180b-\\u180f\\u200b-\\u200f\\u2028-\\u202e\\u2060-\\u206f\\u2800\\u3164\\ud800-\\udfff\\ufdd0-\\ufdef\\ufe00-\\ufe0f\\ufeff\\uffa0' +
  '\\ufff0-\\ufffb\\ufffe\\uffff';

/** By properties for readers with the flag `u`, and by halves of characters for those without. */
const inOtherPlanes = [
  '\\p{Cf}',
  '\\p{Default_Ignorable_Code_Point}',
  '\\p{Noncharacter_Code_Point}',
  '\\ud81b\\udfe4',
  '\\ud834\\udd59',
  '\\ud804[\\udcbd\\udccd]',
  '\\ud80d[\\udc30-\\udc3f]',
  '\\ud82f[\\udca0-\\udca3]',
  '\\ud834[\\udd73-\\udd7a]',
  '[\\udb40-\\udb43][\\udc00-\\udfff]',
  '[\\ud83f\\ud87f\\ud8bf\\ud8ff\\ud93f\\ud97f\\ud9bf\\ud9ff\\uda3f\\uda7f\\udabf\\udaff\\udb3f\\udb7f\\udbbf\\udbff][\\udffe\\udfff]',
].join('|');

/**
 * The same for readers of JSON Schema, with and without the flag `u`. It refuses emoji of several characters, too, because it cannot
 * tell them from other uses of U+200D and U+FE0F.
 */
export const plainPattern = `^(?!\\s*$)(?:(?!${inOtherPlanes})(?:[^${inPlaneZero}]|[\\ud800-\\udbff][\\udc00-\\udfff]))+$`;

/** One line of somebody's own words, in one spelling. */
export const plainLine = (
  most: number,
  meta: { readonly id?: string; readonly description: string; readonly examples: string[] },
): z.ZodString =>
  seen(
    z.string().overwrite(oneSpelling).min(1, 'must not be empty').max(most, `must have at most ${most} characters`),
  ).meta({ ...meta, pattern: plainPattern });
