/** Secrets files that sops 3.13.3 wrote, in the folder by-sops, and the key that opens them; only for tests. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { SecretsFile } from '../../shared/install-config/secrets.js';

export const bySopsIdentity = 'AGE-SECRET-KEY-177MZVR5YXE8Q52YYDZX85RXS6UA4XSAPKD7L5SYQDVD8DQLUKMPSFRGPGF';
export const bySopsRecipient = 'age1h3m55lyezjphz0f6tzk4n5el59kfjy6enrh54mggql3wk0hn7plq3jcckg';
export const otherRecipient = 'age154prmya7r2esfsghzpz6d0darytwffaghfm5ys4kdrz0ah32aemql6zqky';
export const otherIdentity = 'AGE-SECRET-KEY-18SSTKHZDWTH2DATXGVP7FYMN94EDTTCDZSUZJ344VMYKYPDM77KQLENPQJ';

export const bySops = (name: string): string =>
  readFileSync(join('test', 'install-config', 'by-sops', `${name}.yaml`), 'utf8');

/** What those hold that are about recipients, comments and rules. */
export const inBySops: SecretsFile = {
  version: 1,
  secrets: [
    { name: 'first', fields: { username: 'ada', password: 'lovelace' } },
    { name: 'second', file: { name: 'second.pem', content: 'line\nline\n' } },
    { name: 'third', fields: { password: '\uFEFFmark' } },
  ],
};

export const inClearValues: SecretsFile = {
  version: 1,
  secrets: [
    { name: '<<', fields: { password: 'a', username: 'y\u2028z' } },
    { name: 'a\nb\u2028  c\n', fields: { password: 'b', username: '  a\nb\u2029c' } },
    { name: 'yes', fields: { password: 'c', username: '=' } },
    { name: '1_000', fields: { password: 'd', username: '2024-01-01' } },
    { name: '\uFEFF', fields: { password: 'e', username: 'w\u0085x' } },
    { name: 'a: \u2028b #', fields: { password: 'e', username: '\u2028' } },
  ],
};

export const inLargeNumbers: SecretsFile = {
  version: 1,
  secrets: [
    { name: '1e400', fields: { username: '0xFFFFFFFFFFFFFFFFFFFF', password: 'a' } },
    { name: '-0o7777777777777777777777', fields: { username: '-1e999', password: 'b' } },
    { name: '0b11111111111111111111111111111111111111111111111111111111111111111111', fields: { password: 'c' } },
  ],
};
