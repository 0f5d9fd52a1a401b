/** What looks like a secret, whoever wrote it: keys and tokens by the forms that their makers gave them. */
import { redacted } from './bootstrap/options.js';

export interface SecretForm {
  /** Global. */
  readonly pattern: RegExp;
  /** A text with `$1`, or what makes it of the match and its groups. */
  readonly replacement: string | ((match: string, ...groups: unknown[]) => string);
}

const whole = (pattern: RegExp): SecretForm => ({ pattern, replacement: redacted });
/** The part before the secret stays: it says what was there. */
const afterName = (pattern: RegExp): SecretForm => ({ pattern, replacement: `$1${redacted}` });

/** Nothing else has these forms, so they are taken out of everything. */
export const keyForms: readonly SecretForm[] = [
  whole(
    /-----BEGIN [A-Z0-9 ]*PRIVATE KEY(?: BLOCK)?-----[\s\S]*?(?:-----END [A-Z0-9 ]*PRIVATE KEY(?: BLOCK)?-----|$)/g,
  ),
  whole(/AGE-SECRET-KEY-[A-Z0-9-]{8,}/gi),
  whole(/whsec_[A-Za-z0-9+/]{16,}={0,2}/g),
];

/** Tokens of Google, GitHub and forge1's kind, and any JSON Web Token. */
const tokenForms: readonly SecretForm[] = [
  whole(/\b(?:ya29|1\/\/0)[.\w-]{8,}/g),
  whole(/\b(?:GOCSPX-[\w-]{8,}|AIza[\w-]{30,})/g),
  whole(/\bgh[a-z]_\w{16,}|\bgithub_pat_\w{16,}/g),
  whole(/\beyJ[\w-]{8,}\.[\w-]{4,}(?:\.[\w-]*)?/g),
];

export const withoutForms = (text: string, forms: readonly SecretForm[]): string =>
  forms.reduce((left, { pattern, replacement }) => left.replaceAll(pattern, replacement as string), text);

/** For what leaves the computer: an archive may lose a harmless word, and must not carry a key. */
const suspectForms: readonly SecretForm[] = [
  ...keyForms,
  ...tokenForms,
  afterName(/((?:proxy-|x-serverless-)?authorization["']?\s*[:=]\s*["']?(?:bearer|basic)?\s+)[^\s"',;]+/gi),
  afterName(/(\bbearer\s+)[\w.~+/=-]{8,}/gi),
  // The password in a URL, and the signature of a signed one.
  afterName(/([a-z][a-z0-9+.-]*:\/\/[^\s:/@"']*:)[^\s@/"']+(?=@)/gi),
  afterName(/([?&](?:X-Goog-Signature|X-Amz-Signature|sig|access_token|token|code)=)[^&\s"']+/gi),
  afterName(
    /((?:password|passwd|passphrase|client[_-]?secret|refresh[_-]?token|access[_-]?token|id[_-]?token|api[_-]?key)\\?["']?\s*[:=]\s*\\?["']?)(?!<secret>|(?:null|true|false)\b)[^\s"'\\,}]{4,}/gi,
  ),
];

export const withoutSuspects = (text: string): string => withoutForms(text, suspectForms);
