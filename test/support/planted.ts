/** Secrets to plant, ways to damage what holds them, and whether they come out. */
import { createHash } from 'node:crypto';

/** No part of it occurs in what is no secret. Some have what YAML, JSON and shells read in another way. */
export const secretOf = (place: string, number = 0): string => {
  const chance = createHash('sha256').update(`${place} ${number}`).digest('base64url').replaceAll(/[-_]/g, 'x');
  const odd = ['', '!', '*', '&', ' # ', ': ', '"', "'", '%', '\\', 'é', ', '];
  const sign = odd[number % odd.length] ?? '';
  return number % 2 === 0 ? `${chance.slice(0, 16)}${sign}${chance.slice(16, 30)}` : `${sign}${chance.slice(0, 28)}`;
};
export const secretsOf = (place: string, count: number): string[] =>
  Array.from({ length: count }, (_, number) => secretOf(place, number));

/** Ways in which people, editors and disks damage a file. `at`: where, in [0, 1). */
export const damages: Readonly<Record<string, (text: string, at: number) => string | Buffer>> = {
  'a character changed': (text, at) => {
    const place = Math.floor(text.length * at);
    return `${text.slice(0, place)}${text[place] === 'Q' ? '{' : 'Q'}${text.slice(place + 1)}`;
  },
  truncated: (text, at) => text.slice(0, Math.max(1, Math.floor(text.length * at))),
  'with CRLF': (text) => text.replaceAll('\n', '\r\n'),
  'with a BOM': (text) => `\uFEFF${text}`,
  'in UTF-16': (text) => Buffer.from(`\uFEFF${text}`, 'utf16le'),
  'with tabs': (text) => text.replaceAll(/^( {2})+/gm, (indent) => '\t'.repeat(indent.length / 2)),
  'with a key twice': (text) => text.replace(/^(\s*)([\w-]+: \S.*)$/m, '$1$2\n$1$2'),
  'with a tag': (text) => text.replaceAll(/: (?=[^\s{[|>])/g, ': !'),
  'with an alias': (text) => text.replaceAll(/: (?=[^\s{[|>])/g, ': *'),
  'with a second document': (text) => `${text}\n---\n${text}`,
  'with bytes that are no text': (text, at) =>
    Buffer.concat([Buffer.from(text.slice(0, text.length * at)), Buffer.from([0, 255, 254, 128]), Buffer.from(text)]),
};

/** So much of a secret tells something, and stands nowhere by chance. */
const tellingLength = 10;

/** Parts of the secrets that occur in the text, in any form. */
export function partsIn(text: string, secrets: readonly string[]): string[] {
  const plain = text.replaceAll('\0', '');
  const parts = (form: string) =>
    Array.from({ length: Math.max(0, form.length - tellingLength + 1) }, (_, at) => form.slice(at, at + tellingLength));
  return secrets.filter((secret) =>
    [secret, JSON.stringify(secret).slice(1, -1), encodeURIComponent(secret), Buffer.from(secret).toString('base64')]
      .flatMap(parts)
      .some((part) => plain.includes(part)),
  );
}
