/** Takes secrets out of a support archive: those that this computer knows by their values, any others by their forms. */
import { redacted, shortestHidden } from '../../shared/bootstrap/options.js';

/** What looks like a secret is one here. An archive may lose a harmless word, and must not carry a key. */
const forms: readonly RegExp[] = [
  /-----BEGIN [A-Z0-9 ]*PRIVATE KEY(?: BLOCK)?-----[\s\S]*?(?:-----END [A-Z0-9 ]*PRIVATE KEY(?: BLOCK)?-----|$)/g,
  /AGE-SECRET-KEY-[A-Z0-9-]{8,}/gi,
  /whsec_[A-Za-z0-9+/]{16,}={0,2}/g,
  // Tokens of Google, GitHub and forge1's kind, and any JSON Web Token.
  /\b(?:ya29|1\/\/0)[.\w-]{8,}/g,
  /\bGOCSPX-[\w-]{8,}/g,
  /\bgh[a-z]_\w{16,}|\bgithub_pat_\w{16,}/g,
  /\beyJ[\w-]{8,}\.[\w-]{4,}(?:\.[\w-]*)?/g,
];
/** The part before the secret stays: it says what was there. */
const afterName: readonly RegExp[] = [
  /((?:proxy-|x-serverless-)?authorization["']?\s*[:=]\s*["']?(?:bearer|basic)?\s+)[^\s"',;]+/gi,
  /(\bbearer\s+)[\w.~+/=-]{8,}/gi,
  // The password in a URL, and the signature of a signed one.
  /([a-z][a-z0-9+.-]*:\/\/[^\s:/@"']*:)[^\s@/"']+(?=@)/gi,
  /([?&](?:X-Goog-Signature|X-Amz-Signature|sig|access_token|token|code)=)[^&\s"']+/gi,
  /((?:password|passwd|passphrase|client[_-]?secret|refresh[_-]?token|access[_-]?token|id[_-]?token|api[_-]?key)\\?["']?\s*[:=]\s*\\?["']?)(?!<secret>|(?:null|true|false)\b)[^\s"'\\,}]{4,}/gi,
];

export function createRedactor(secrets: readonly string[]): (text: string) => string {
  const values = [...new Set(secrets.flatMap(formsOf))].sort((a, b) => b.length - a.length);
  return (text) => {
    const byValue = values.reduce((left, value) => left.replaceAll(value, redacted), text);
    const byForm = forms.reduce((left, form) => left.replaceAll(form, redacted), byValue);
    return afterName.reduce((left, form) => left.replaceAll(form, `$1${redacted}`), byForm);
  };
}

/** As it is, as JSON, a URL or base64 would write it, and each long line of one with several. */
function formsOf(secret: string): string[] {
  const lines = secret.split(/\r?\n/).filter((line) => line.length >= 16 && !line.startsWith('#'));
  return [secret, secret.trim(), ...(lines.length > 1 || secret.includes('\n') ? lines : [])]
    .filter(({ length }) => length >= shortestHidden)
    .flatMap((value) => [
      value,
      JSON.stringify(value).slice(1, -1),
      encodeURIComponent(value),
      Buffer.from(value).toString('base64').replace(/=+$/, ''),
    ]);
}
