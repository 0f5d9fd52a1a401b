/**
 * V4 signed URLs of Cloud Storage. Like Google, it checks the signer's key, the time, and the signer's permissions at the time
 * of use.
 */
import { sha256 } from '../../../shared/sha256.js';
import { isSignedBy } from '../iam/credentials.js';
import { isBarred } from '../iam/service-accounts.js';
import type { World } from '../kernel/api.js';
import type { MediaReply, MediaRequest } from '../kernel/media.js';
import { contentOf } from './content.js';
import { buckets, objectPath, objects } from './objects.js';

export const isSigned = (query: URLSearchParams): boolean => query.has('X-Goog-Signature');

const longestSeconds = 604_800;

export function answerSigned(world: World, { request, headers }: MediaRequest): MediaReply {
  const { query, path, httpMethod } = request;
  const field = (name: string): string => query.get(`X-Goog-${name}`) ?? '';
  const [signer = '', date, ...scope] = field('Credential').split('/');
  const at = /^(\d{4})(\d\d)(\d\d)T(\d\d)(\d\d)(\d\d)Z$/.exec(field('Date'));
  const seconds = Number(field('Expires'));
  if (field('Algorithm') !== 'GOOG4-RSA-SHA256') return refusal(400, 'InvalidArgument', 'Invalid argument.');
  if (at === null || date !== field('Date').slice(0, 8) || scope.slice(1).join('/') !== 'storage/goog4_request') {
    return refusal(400, 'AuthorizationQueryParametersError', 'The credential or the date is malformed.');
  }
  if (!Number.isInteger(seconds) || seconds < 1 || seconds > longestSeconds) {
    return refusal(400, 'AuthorizationQueryParametersError', 'X-Goog-Expires must be between 1 and 604800 seconds.');
  }
  const [, year, month, day, hour, minute, second] = at.map(Number);
  const begins = Date.UTC(year ?? 0, (month ?? 1) - 1, day, hour, minute, second);
  // Clocks differ. Google allows a quarter of an hour into the future.
  if (world.now() < begins - 900_000) return refusal(403, 'AccessDenied', 'Request signature is not yet valid.');
  if (world.now() > begins + seconds * 1000) return refusal(400, 'ExpiredToken', 'The provided token has expired.');

  const signedHeaders = field('SignedHeaders').split(';');
  if (!signedHeaders.includes('host')) return refusal(400, 'AuthorizationQueryParametersError', 'host must be signed.');
  const canonical = [
    httpMethod,
    path,
    [...query]
      .filter(([name]) => name !== 'X-Goog-Signature')
      .map(([name, value]) => `${encoded(name)}=${encoded(value)}`)
      .sort()
      .join('&'),
    ...signedHeaders.map((name) => `${name}:${String(headers[name] ?? '').trim()}`),
    '',
    field('SignedHeaders'),
    'UNSIGNED-PAYLOAD',
  ].join('\n');
  const text = ['GOOG4-RSA-SHA256', field('Date'), [date, ...scope].join('/'), sha256(canonical)].join('\n');
  const signature = Buffer.from(field('Signature'), 'hex');
  if (!isSignedBy(world, signer, text, signature)) {
    return refusal(
      403,
      'SignatureDoesNotMatch',
      'Access denied. The request signature we calculated does not match the signature you provided. Check your Google secret key and signing method.',
    );
  }
  const [bucket = '', ...rest] = path.slice(1).split('/');
  const name = decodeURIComponent(rest.join('/'));
  const held = buckets(world)[bucket];
  if (held === undefined) return refusal(404, 'NoSuchBucket', 'The specified bucket does not exist.');
  const caller = { email: signer, kind: 'serviceAccount' } as const;
  const may = (permission: string, resource: string) => world.policies.allows(caller, permission, resource);
  const denied = (permission: string) =>
    refusal(403, 'AccessDenied', `${signer} does not have ${permission} access to the Google Cloud Storage object.`);
  if (isBarred(world, signer) || !may('storage.objects.get', objectPath(world, bucket, name))) {
    return denied('storage.objects.get');
  }
  if (httpMethod !== 'GET' && httpMethod !== 'HEAD')
    return refusal(405, 'MethodNotAllowed', 'The method is not allowed.');
  if (objects(world)[`${bucket}/${name}`] === undefined)
    return may('storage.objects.list', `projects/${held.projectId}/buckets/${bucket}`)
      ? refusal(404, 'NoSuchKey', 'The specified key does not exist.')
      : denied('storage.objects.list');
  const reply = contentOf(world, bucket, name, headers.range);
  return httpMethod === 'HEAD' ? { ...reply, body: '' } : reply;
}

/** Encodes as RFC 3986 says, which is stricter than encodeURIComponent. */
const encoded = (text: string): string =>
  encodeURIComponent(text).replaceAll(/[!'()*]/g, (letter) => `%${letter.charCodeAt(0).toString(16).toUpperCase()}`);

const refusal = (status: number, code: string, message: string): MediaReply => ({
  status,
  headers: { 'content-type': 'application/xml; charset=UTF-8' },
  body: `<?xml version='1.0' encoding='UTF-8'?><Error><Code>${code}</Code><Message>${message}</Message></Error>`,
});
