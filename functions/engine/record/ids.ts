/** Random ids, chosen once. */
import { bootstrapIdPrefix } from '../../../shared/names.js';
import type { Random } from '../../host/random.js';

type Bytes = Pick<Random, 'bytes'>;

const letters = 'abcdefghijklmnopqrstuvwxyz0123456789';
function randomText(random: Bytes, length: number): string {
  let text = '';
  while (text.length < length) {
    // 252 is the largest multiple of 36 that fits in a byte. Higher values would favour some letters.
    for (const byte of random.bytes(length)) if (byte < 252) text += letters[byte % 36];
  }
  return text.slice(0, length);
}

/** Begins with a letter, as label values and secret names must. */
export const makeBootstrapId = (random: Bytes): string => `${bootstrapIdPrefix}${randomText(random, 15)}`;

/** Firestore refuses some texts as ids, and anybody may write a label. So check a text before it names a document. */
export const isBootstrapId = (text: string): boolean => /^b[a-z0-9]{15}$/.test(text);

/** Google refuses these within a project id. */
const restricted = /google|null|undefined|ssl/;

/**
 * A slug of the name, cut to 21 characters, and eight random characters. A project id can never be used again, not even after
 * deletion.
 */
export function makeProjectId(random: Bytes, name: string): string {
  const slug = name
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, '-')
    .replace(new RegExp(restricted, 'g'), '-')
    .replace(/-+/g, '-')
    .replace(/^[^a-z]+/, '')
    .slice(0, 21)
    .replace(/-+$/, '');
  for (;;) {
    const id = `${slug === '' ? 'project' : slug}-${randomText(random, 8)}`;
    if (!restricted.test(id)) return id;
  }
}
