/** Takes out of a recording what tells whose it is. A value gets the same placeholder wherever it stands. */
import { shortestHidden } from '../../shared/bootstrap/options.js';
import type { SecretForm } from '../../shared/secret-forms.js';
import { createSecretRedactor } from '../../shared/secret-redactor.js';

export interface Redactor {
  text(text: string): string;
  json(value: unknown): unknown;
}

const swapped = (etag: string): string =>
  /[-_]/.test(etag) ? etag.replaceAll('-', '+').replaceAll('_', '/') : etag.replaceAll('+', '-').replaceAll('/', '_');

/** Fields whose whole value goes, and what it is called. */
const fields: Readonly<Record<string, string>> = {
  etag: 'etag',
  fingerprint: 'fingerprint',
  labelFingerprint: 'fingerprint',
  nextPageToken: 'page',
  accessToken: 'token',
  access_token: 'token',
  token: 'token',
  privateKeyData: 'secret',
  publicKeyData: 'key',
  b64MacKey: 'secret',
  signedBlob: 'secret',
  keyId: 'key-id',
  directoryCustomerId: 'customer',
  data: 'data',
};

/** Addresses that the checks themselves send, and that Google publishes. */
const ownRanges =
  /^(?:0\.0\.0\.0|10\.10\.0\.0|192\.0\.2\.1|35\.191\.0\.0|130\.211\.0\.0|209\.85\.152\.0|209\.85\.204\.0|35\.235\.240\.0)$/;

/** Projects of Google's, which everybody knows. */
const publicProjects = ['ubuntu-os-cloud', 'debian-cloud'];

interface Pattern {
  readonly kind: string;
  /** Its group 1, if it has one, is what is replaced. */
  readonly of: RegExp;
  readonly unless?: (value: string) => boolean;
}

const email = /[\w.+%-]+@[\w-]+(?:\.[\w-]+)+/g;

/** In this order: a later one sees what an earlier one left. */
const patterns: readonly Pattern[] = [
  { kind: 'secret', of: /-----BEGIN [A-Z ]+-----[\s\S]*?-----END [A-Z ]+-----/g },
  { kind: 'jwt', of: /\beyJ[\w-]+\.[\w-]+\.[\w-]*/g },
  { kind: 'token', of: /\bya29\.[\w.-]+/g },
  { kind: 'secret', of: /\b(?:AIza[\w-]{30,}|GOCSPX-[\w-]+|1\/\/0[\w-]{20,})/g },
  { kind: 'ssh-key', of: /\b(?:ssh-[\w-]+|ecdsa-[\w-]+) (AAAA[\w+/=]+(?: [^\s"\\]+)?)/g },
  { kind: 'ssh-key', of: /\bAAAA[\w+/]{20,}={0,2}/g },
  { kind: 'email', of: email },
  { kind: 'mail-domain', of: /(?<![\w}])@([\w-]+(?:\.[\w-]+)+)/g },
  { kind: 'billing-account', of: /\b[0-9A-F]{6}-[0-9A-F]{6}-[0-9A-F]{6}\b/g },
  { kind: 'organization', of: /\borganizations\/(\d+)/g },
  { kind: 'folder', of: /\bfolders\/(\d+)/g },
  { kind: 'project-number', of: /\bprojects?[/=#: ]+#?(\d{6,})/g },
  {
    kind: 'other-project',
    of: /\bprojects\/([a-z][a-z0-9-]{4,28}[a-z0-9])(?![\w:-])/g,
    unless: (id) => publicProjects.includes(id),
  },
  { kind: 'customer', of: /\bC0[a-z0-9]{7}\b/g },
  { kind: 'uuid', of: /\b[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}\b/g },
  { kind: 'operation', of: /\boperation-\d{9,}-[0-9a-z-]+/g },
  {
    kind: 'ip',
    of: /(?<![\d.])\d{1,3}(?:\.\d{1,3}){3}(?![\d.])/g,
    unless: (address) => ownRanges.test(address),
  },
  {
    kind: 'ip',
    of: /(?<![\w:])(?:[0-9a-f]{0,4}:){2,7}[0-9a-f]{0,4}(?![\w:])/gi,
    unless: (address) => !/\d/.test(address),
  },
  { kind: 'id', of: /(?<![\d.])\d{9,}(?![\d.])/g },
];

/** `known`: values by the name of their placeholder. */
export function createRedactor(known: Readonly<Record<string, string | undefined>>): Redactor {
  const placeholders = new Map<string, string>();
  const counts = new Map<string, number>();

  const placeholder = (kind: string, value: string): string => {
    const standing = placeholders.get(value);
    if (standing !== undefined) return standing;
    // Google gives etags in one alphabet and takes them in two.
    const other = kind === 'etag' ? placeholders.get(swapped(value)) : undefined;
    if (other !== undefined) return other.replace('}', '~}');
    const count = (counts.get(kind) ?? 0) + 1;
    counts.set(kind, count);
    const made = `{${kind}-${count}}`;
    placeholders.set(value, made);
    return made;
  };

  const formOf = ({ kind, of, unless }: Pattern): SecretForm => ({
    pattern: of,
    replacement(whole, ...groups) {
      const value = typeof groups[0] === 'string' ? groups[0] : whole;
      return unless?.(value) === true ? whole : whole.replace(value, () => placeholder(kind, value));
    },
  });
  const given = Object.entries(known).flatMap(([name, value]) => (value ? [{ value, shownAs: `{${name}}` }] : []));
  // A short one counts wherever it stands.
  const short = given.filter(({ value }) => value.length < shortestHidden);
  const shortForms = short.map(
    ({ value, shownAs }): SecretForm => ({
      pattern: new RegExp(value.replaceAll(/[^\w]/g, '\\$&'), 'g'),
      replacement: () => shownAs,
    }),
  );
  const { register, redact: text } = createSecretRedactor({ forms: [...shortForms, ...patterns.map(formOf)] });
  for (const { value, shownAs } of given) if (!short.some((each) => each.value === value)) register(value, shownAs);

  const json = (value: unknown, field = ''): unknown => {
    if (Array.isArray(value)) return value.map((each) => json(each, field));
    if (typeof value === 'object' && value !== null) {
      return Object.fromEntries(Object.entries(value).map(([name, each]) => [text(name), json(each, name)]));
    }
    if (typeof value === 'number') return Math.abs(value) >= 1e8 ? 0 : value;
    if (typeof value !== 'string') return value;
    const kind = fields[field];
    return kind === undefined || value === '' ? text(value) : placeholder(kind, value);
  };
  return { text: (from) => text(from), json: (value) => json(value) };
}

export { swapped };
