/** Ids that are chosen once, by chance. */
import { randomBytes } from 'node:crypto';
import { bootstrapIdPrefix } from '../../../shared/names.js';

const letters = 'abcdefghijklmnopqrstuvwxyz0123456789';
function randomText(length: number): string {
  let text = '';
  while (text.length < length) {
    // 252 is the last multiple of 36 in a byte: what lies above would favour some letters.
    for (const byte of randomBytes(length)) if (byte < 252) text += letters[byte % 36];
  }
  return text.slice(0, length);
}

/** Begins with a letter, as label values and secret names shall. */
export const makeBootstrapId = (): string => `${bootstrapIdPrefix}${randomText(15)}`;

/** Google takes none of these within an id. */
const restricted = /google|null|undefined|ssl/;

/** Slug of the name, cut to 21, and eight characters by chance: ids are never free again, not even after deletion. */
export function makeProjectId(name: string): string {
  const slug = name
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, '-')
    .replace(new RegExp(restricted, 'g'), '-')
    .replace(/-+/g, '-')
    .replace(/^[^a-z]+/, '')
    .slice(0, 21)
    .replace(/-+$/, '');
  for (;;) {
    const id = `${slug === '' ? 'project' : slug}-${randomText(8)}`;
    if (!restricted.test(id)) return id;
  }
}
