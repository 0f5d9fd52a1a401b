/** Makes signed URLs for objects in Cloud Storage. IAM Credentials signs them, because functions have no key. */
import { Problem } from '../../shared/problems.js';
import { sha256 } from '../../shared/sha256.js';
import { createRest, type Transport } from './rest.js';

const longestSeconds = 604_800;

/** A V4 signed URL for GET. `seconds` is at most a week. */
export async function signUrl(
  transport: Transport,
  { bucket, object: name }: { readonly bucket: string; readonly object: string },
  seconds: number,
  now: Date,
): Promise<string> {
  const { config } = transport;
  if (!(seconds >= 1 && seconds <= longestSeconds)) throw new RangeError(`${seconds} s is no life of a signed URL`);
  const email = config.serviceAccount;
  if (email === 'default') {
    throw new Problem('internal', 'PLINTH_SERVICE_ACCOUNT must be an e-mail where URLs are signed: it is the signer.');
  }
  const url = new URL(`${config.endpoints.storage}/${bucket}/${name.split('/').map(encoded).join('/')}`);
  const at = now.toISOString().replaceAll(/[-:]|\.\d+/g, '');
  const scope = `${at.slice(0, 8)}/auto/storage/goog4_request`;
  const query = [
    ['X-Goog-Algorithm', 'GOOG4-RSA-SHA256'],
    ['X-Goog-Credential', `${email}/${scope}`],
    ['X-Goog-Date', at],
    ['X-Goog-Expires', String(Math.floor(seconds))],
    ['X-Goog-SignedHeaders', 'host'],
  ]
    .map(([key = '', value = '']) => `${encoded(key)}=${encoded(value)}`)
    .join('&');
  const canonical = ['GET', url.pathname, query, `host:${url.host}`, '', 'host', 'UNSIGNED-PAYLOAD'].join('\n');
  const text = ['GOOG4-RSA-SHA256', at, scope, sha256(canonical)].join('\n');
  const { signedBlob } = await createRest(transport, 'iamcredentials')<{ signedBlob: string }>(
    'POST',
    `/v1/projects/-/serviceAccounts/${email}:signBlob`,
    { doing: `sign a URL of gs://${bucket}/${name}`, body: { payload: Buffer.from(text).toString('base64') } },
  );
  return `${url.href}?${query}&X-Goog-Signature=${Buffer.from(signedBlob, 'base64').toString('hex')}`;
}

/** Encodes as RFC 3986 requires, which is stricter than encodeURIComponent. */
const encoded = (text: string): string =>
  encodeURIComponent(text).replaceAll(/[!'()*]/g, (letter) => `%${letter.charCodeAt(0).toString(16).toUpperCase()}`);
