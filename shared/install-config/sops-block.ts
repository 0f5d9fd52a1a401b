/** Examines a file in the SOPS form: whether it is complete, who can open it, and which of its values are encrypted. */
import { type Document, isMap, isScalar, isSeq, type Pair, type Scalar, visit, type YAMLMap } from 'yaml';
import { Problem } from '../problems.js';
import { faultText, readYamlDocument, type YamlFault } from '../yaml-text.js';
import { isSealed } from './sops-cipher.js';

export interface SopsFile {
  readonly document: Document;
  readonly root: YAMLMap;
  readonly block: YAMLMap;
}

const putBack =
  'Put back a copy that sops can open, or move the file aside: it is then written again from what the bootstrap holds.';

export const refuse = (reason: string, advice = putBack): Problem =>
  new Problem('bad-input', `The secrets file cannot be read: ${reason}.`, { advice });

/** `Problem` bad-input if the text is no SOPS file, is cut short, or is of a kind that plinth cannot open. */
export function parseSops(text: string): SopsFile {
  // bigint, because the MAC covers all digits.
  const { document, errors } = readYamlDocument(text, { keepSourceTokens: true, intAsBigInt: true });
  const root = document.contents;
  const second = document.errors.findIndex(({ code }) => code === 'MULTIPLE_DOCS');
  if (second !== -1) throw manyDocuments(errors[second]);
  if (document.errors.length > 0) throw noYaml(text, errors[0]);
  if (!isMap(root)) throw refuse('it is not a YAML map');
  let sealed = false;
  visit(document, {
    Alias: () => {
      throw refuse('it has a YAML alias, which sops does not write');
    },
    Scalar: (_, scalar) => {
      scalar.value = asGoReads(scalar);
      if (typeof scalar.value === 'string' && scalar.value.search(notForGo) !== -1) scalar.type = 'QUOTE_DOUBLE';
      sealed ||= isSealed(scalar.value);
    },
  });
  const block = root.get('sops');
  if (!isMap(block)) throw withoutBlock(sealed);
  if (block.has('key_groups')) {
    throw refuse(
      'it is encrypted to key groups, which plinth cannot open',
      "Decrypt it with sops, and encrypt it again with one list of recipients, the bootstrap's own among them: sops encrypt --age <recipient>,<recipient>.",
    );
  }
  for (const name of ['lastmodified', 'mac']) {
    if (!block.has(name)) throw refuse(`it was cut short: its \`sops\` block has no ${name}`);
  }
  for (const name of ['encrypted_comment_regex', 'unencrypted_comment_regex']) {
    if (textAt(block, name) !== undefined) {
      throw refuse(
        `it says by comments what is encrypted (${name}), which plinth cannot read`,
        'Decrypt it with sops, and encrypt it again without that rule.',
      );
    }
  }
  return { document, root, block };
}

/**
 * sops breaks lines at U+2028 and U+2029, as YAML 1.1 does. If a rule leaves such a text in clear, only sops itself can read
 * it.
 */
const noYaml = (text: string, fault: YamlFault | undefined): Problem =>
  /[\u2028\u2029]/.test(text)
    ? refuse(
        'it has U+2028 or U+2029 in a text of several lines that its own rule leaves in clear, where sops breaks the line and YAML 1.2 does not',
        withoutRule,
      )
    : refuse(
        `it is not YAML: it was cut short, or changed by other means than sops${fault === undefined ? '' : ` (${faultText(fault)})`}`,
      );

const manyDocuments = (fault: YamlFault | undefined): Problem =>
  refuse(
    `it holds more than one document (the second begins at line ${fault?.line})`,
    'Decrypt it with sops, put all secrets into one document, and encrypt it again.',
  );

export const withoutRule =
  'Decrypt it with sops, and encrypt it again without that rule: what is encrypted may hold anything. Or move the file aside: it is then written again from what the bootstrap holds.';

/** Works on a text that is cut short or is no YAML, too. */
export const holdsSealed = (text: string): boolean => /ENC\[AES256_GCM,data:/.test(text);

function withoutBlock(sealed: boolean): Problem {
  if (sealed) return refuse('it was cut short: it has encrypted values, but no `sops` block');
  return refuse(
    'it is not encrypted: it has no `sops` block, and what it holds stands there in clear',
    "If sops decrypted it in place, encrypt it again: sops encrypt --in-place --age <the bootstrap's recipient> <file>. Else move it out of this folder, and delete it when nobody needs it.",
  );
}

/** What is wrong with a text that should be a secrets file, as far as plinth can see without a key. */
export function sopsFault(text: string): Problem | undefined {
  try {
    parseSops(text);
    return undefined;
  } catch (error) {
    if (error instanceof Problem) return error;
    throw error;
  }
}

/** The age recipients that a SOPS file names. They are not secret. */
export const sopsRecipients = (text: string): string[] => ageEntries(parseSops(text)).map(({ recipient }) => recipient);

/** The bootstrap's recipient is missing because a person removed it. */
export const notFor = (recipients: readonly string[]): Problem =>
  refuse(
    "it is not encrypted for this bootstrap's age identity",
    `Add its recipient: sops rotate --in-place --add-age ${recipients.join(',')} <file>. Or move the file aside: it is then written again from what the bootstrap holds.`,
  );

export function ageEntries({ block }: SopsFile): { recipient: string; enc: string }[] {
  const entries = block.get('age');
  if (!isSeq(entries)) return [];
  return entries.items.flatMap((entry) => {
    const [recipient, enc] = isMap(entry) ? [textAt(entry, 'recipient'), textAt(entry, 'enc')] : [];
    return recipient !== undefined && enc !== undefined ? [{ recipient, enc }] : [];
  });
}

/** Recipients and rule of a file. Two files for which these are equal are alike to sops. */
export function sopsForm(text: string): string {
  const { block } = parseSops(text);
  const changing = new Set(['mac', 'lastmodified', 'version', 'enc', 'created_at']);
  return JSON.stringify(block.toJSON(), (name, value: unknown) => {
    if (changing.has(name) || (Array.isArray(value) && value.length === 0)) return undefined;
    if (typeof value !== 'object' || value === null || Array.isArray(value)) return value;
    return Object.fromEntries(Object.entries(value).sort(([one], [other]) => (one < other ? -1 : 1)));
  });
}

export const lastModified = (text: string): number => Date.parse(textAt(parseSops(text).block, 'lastmodified') ?? '');

export function textAt(map: YAMLMap, name: string): string | undefined {
  const value = map.get(name);
  return typeof value === 'string' && value !== '' ? value : undefined;
}

export const nameOf = ({ key }: Pair): string => String(isScalar(key) ? key.value : key);

const rules = ['encrypted_suffix', 'encrypted_regex', 'unencrypted_regex', 'unencrypted_suffix'] as const;

export const ruleName = ({ block }: Pick<SopsFile, 'block'>): string => {
  return rules.find((rule) => textAt(block, rule) !== undefined) ?? 'unencrypted_suffix';
};

/** Decides by the file's own rule which paths hold encrypted values. sops allows one rule per file. */
export async function encryptionRule({ block }: SopsFile): Promise<(path: readonly string[]) => boolean> {
  const [encryptedSuffix, encryptedRegex, unencryptedRegex, unencryptedSuffix] = rules.map((name) =>
    textAt(block, name),
  );
  if (encryptedSuffix !== undefined) return (path) => path.some((name) => name.endsWith(encryptedSuffix));
  if (encryptedRegex !== undefined) {
    const matches = await goExpression('encrypted_regex', encryptedRegex);
    return (path) => path.some(matches);
  }
  if (unencryptedRegex !== undefined) {
    const matches = await goExpression('unencrypted_regex', unencryptedRegex);
    return (path) => !path.some(matches);
  }
  const suffix = unencryptedSuffix ?? '_unencrypted';
  return (path) => !path.some((name) => name.endsWith(suffix));
}

/** Matches as Go does, in linear time. Some expressions would otherwise take longer than the universe exists. */
async function goExpression(rule: string, source: string): Promise<(name: string) => boolean> {
  const { RE2JS } = await import('re2js');
  try {
    const expression = RE2JS.compile(source);
    return (name) => expression.matcher(name).find();
  } catch {
    throw refuse(`its ${rule} is no regular expression that sops reads`);
  }
}

/** Unless they are escaped, sops' reader takes these for a line break or rejects them. */
export const notForGo = /[\u007f-\u009f\u2028\u2029\ufeff]/g;

/**
 * sops reads and writes YAML 1.1 in places: `!!merge <<` is text, and U+2028 and U+2029 break lines, which are then indented.
 */
function asGoReads(scalar: Scalar): unknown {
  const { value, type, srcToken } = scalar;
  if (typeof value === 'symbol') return value.description;
  if (isTextForGo(scalar)) return scalar.source;
  if (typeof value !== 'string' || !/[\u2028\u2029]/.test(value)) return value;
  if (type === 'QUOTE_SINGLE' || type === 'PLAIN') return value.replace(/([\u2028\u2029]) +/g, '$1');
  if (type !== 'BLOCK_LITERAL' || srcToken?.type !== 'block-scalar') return value;
  const indentOf = (text: string) => /^ */.exec(text.replace(/^\n+/, ''))?.[0].length ?? 0;
  const indent = indentOf(srcToken.source) - indentOf(value);
  return value.replace(new RegExp(`([\\u2028\\u2029]) {0,${indent}}`, 'g'), '$1');
}

/** Numbers that Go's types cannot hold, as strconv.ParseFloat and ParseInt refuse them: sops keeps them as texts. */
function isTextForGo({ value, type, source, tag }: Scalar): boolean {
  if (type !== 'PLAIN' || source === undefined || tag !== undefined) return false;
  if (typeof value === 'number') return !Number.isFinite(value) && /\d/.test(source);
  return typeof value === 'bigint' && /^[-+]?0[xob]/i.test(source) && (value > largest || value < -largest - 1n);
}

const largest = 2n ** 63n - 1n;
