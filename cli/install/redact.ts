/** Redacts secrets in the lines that a package's executables print. */
import { shortestHidden } from '../../shared/bootstrap/options.js';
import type { SecretsFile } from '../../shared/install-config/secrets.js';

export function createRedactor({ secrets }: SecretsFile, more: readonly string[] = []): (text: string) => string {
  const values = secrets.flatMap(({ file, fields }) => [
    fields?.password ?? '',
    // A single line of a key is already secret.
    ...(file?.content.split(/\r?\n/).filter((line) => !line.startsWith('-----')) ?? []),
  ]);
  const hidden = [...new Set([...values, ...more].map((value) => value.trim()))]
    .filter((value) => value.length >= shortestHidden)
    .flatMap((value) => [value, encodeURIComponent(value), Buffer.from(value).toString('base64')])
    .sort((a, b) => b.length - a.length);
  return (text) => hidden.reduce((left, value) => left.replaceAll(value, '***'), text);
}
