/**
 * Registers what a file may hold of secrets as soon as its text is read, before anything parses it: a parser of a damaged file
 * cannot tell what a secret was.
 */
import { shortestHidden } from './bootstrap/options.js';
import type { SecretsFile } from './install-config/secrets.js';
import type { SecretRedactor } from './secret-redactor.js';

type Registry = Pick<SecretRedactor, 'register'>;

/** A text in UTF-16 that was read as UTF-8 has a zero between its letters, and signs that stand for no byte. */
const variantsOf = (text: string): string[] => [
  ...new Set([text, text.replaceAll(/[\0\uFEFF\uFFFD]/g, ''), text.replaceAll('\uFEFF', '')]),
];

const linesOf = (text: string): string[] =>
  variantsOf(text)
    .flatMap((each) => each.split(/[\r\n]+/))
    .map((line) => line.trim());

/** A shorter one is no key, and may be a word. */
const shortestLine = 16;

/** For a file that is a secret and nothing else, such as a key, a token or an address that opens something. */
export function registerLines({ register }: Registry, text: string): void {
  for (const line of linesOf(text)) {
    if (line.startsWith('-----') || (line.startsWith('#') && !/secret/i.test(line))) continue;
    if (line.length >= shortestLine) register(line);
    // A key that was changed is a part of its line.
    for (const [key] of line.matchAll(/AGE-SECRET-KEY[^\s"',]*|[\w+/=.-]{24,}/gi)) register(key);
  }
}

/** sops encrypted these, and tells everybody for whom. */
const isOpen = (value: string): boolean =>
  /^(?:ENC\[AES256_GCM,|age1[a-z0-9]{20,}$|-----|true$|false$|null$|~$)/.test(value);

/** A key and what follows it: `key: value`, `"key": value`, `KEY=value`. */
const pair =
  /^(?:- +|export +|\? +)*(?:"([^"]*)"|'([^']*)'|([^\s:=#"'[\]{},][^:=#"'[\]{},]*?))\s*(?::(?=[\s"'0-9]|$)|=)\s*(.*)$/;

interface Candidate {
  readonly key: string;
  readonly value: string;
  readonly indent: number;
}

/** Everything that looks like a value, whatever is wrong with the file. */
function candidatesIn(text: string): Candidate[] {
  return variantsOf(text)
    .flatMap((each) => each.split(/[\r\n]+/))
    .flatMap((line) => {
      const indent = /^\s*(?:- +)*/.exec(line)?.[0].length ?? 0;
      return line
        .split(/[{}[\]]|,(?=\s*["'\w-]+\s*[:=])/)
        .map((part) => part.trim())
        .filter((part) => part !== '' && !part.startsWith('#'))
        .map((part): Candidate => {
          const [, double, single, plain, value] = pair.exec(part) ?? [];
          return { key: double ?? single ?? plain ?? '', value: value ?? part, indent };
        });
    });
}

/** As it is written, without its tag or anchor, without a comment, without its quotes, and with its escapes read. */
function readingsOf(written: string): string[] {
  const bare = written.replace(/^(?:- +|[&!]\S*\s+|[|>][+-]?\d?$)+/, '').replace(/,$/, '');
  const unmarked = bare.replace(/^[!&*]+/, '');
  const withoutComment = unmarked.replace(/\s+#.*$/, '');
  const unquoted = withoutComment.replace(/^["']|["']$/g, '');
  return [written, bare, unmarked, withoutComment, unquoted, ...words(written)]
    .map((each) => each.trim())
    .filter((each) => each.length >= shortestHidden && !isOpen(each));
}

/** A tag, an anchor or an alias is a word of its own. */
const words = (text: string): string[] =>
  /[!&*\t ]/.test(text) ? text.split(/[\s"',]+/).map((word) => word.replace(/^[!&*]+/, '')) : [];

/** For a file whose values are secrets, such as one that should be encrypted. */
export function registerScalars({ register }: Registry, text: string): void {
  for (const { value } of candidatesIn(text)) for (const reading of readingsOf(value)) register(reading);
}

const secretKey =
  /(?:pass(?:word|wd|phrase)?|secret|token|credentials?|(?:api|private|access|mac|account)[-_ ]?key|key-data|pat|auth|headers?)$/i;
/** Neither a word nor a name, an address or a version. */
const looksRandom = (value: string): boolean =>
  value.length >= 12 && /\d/.test(value) && /[A-Z_+/=!$%&]/.test(value) && /[a-z]/.test(value) && !/[\s:]/.test(value);

/** For a file that mostly tells no secret: what a key calls one, and under `override` what is no word. */
export function registerNamed({ register }: Registry, text: string): void {
  let override: number | undefined;
  for (const { key, value, indent } of candidatesIn(text)) {
    if (override !== undefined && indent <= override) override = undefined;
    if (key === 'override') override ??= indent;
    const isSecret = secretKey.test(key) || (override !== undefined && looksRandom(value));
    if (isSecret) for (const reading of readingsOf(value)) register(reading);
  }
}

/** User names stand in the same place as passwords, and tell nothing. */
export function registerSecretsFile({ register }: Registry, { secrets }: SecretsFile): void {
  for (const { name, file, fields } of secrets) {
    if (!/user(?:name)?$/i.test(name)) register(fields?.password?.trim());
    if (file !== undefined) register(file.content);
  }
}
