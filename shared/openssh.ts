/** Converts PEM keys (RSA and Ed25519) to OpenSSH's own forms (PROTOCOL.key, RFC 4253). */
import { createHash, createPrivateKey, createPublicKey, type JsonWebKey } from 'node:crypto';

export interface OpenSshPair {
  /** `-----BEGIN OPENSSH PRIVATE KEY-----`, without a passphrase. */
  readonly privateKey: string;
  /** `<type> <base64> <comment>`, one line. */
  readonly publicKey: string;
}

export function openSshPair(privateKeyPem: string, comment: string): OpenSshPair {
  const jwk = createPrivateKey(privateKeyPem).export({ format: 'jwk' });
  const { type, blob, secret } = jwk.kty === 'RSA' ? rsaParts(jwk) : ed25519Parts(jwk);
  // Two equal numbers. A reader of an encrypted key checks its passphrase with them. Here any do, so that a key has one form.
  const check = createHash('sha256').update(blob).digest().subarray(0, 4);
  const unpadded = Buffer.concat([check, check, text(type), ...secret, text(comment)]);
  const padding = Buffer.from(Array.from({ length: (8 - (unpadded.length % 8)) % 8 }, (_, index) => index + 1));
  const file = Buffer.concat([
    Buffer.from('openssh-key-v1\0'),
    text('none'),
    text('none'),
    text(''),
    uint32(1),
    chunk(blob),
    chunk(Buffer.concat([unpadded, padding])),
  ]);
  const lines = file.toString('base64').match(/.{1,70}/g) ?? [];
  return {
    privateKey: ['-----BEGIN OPENSSH PRIVATE KEY-----', ...lines, '-----END OPENSSH PRIVATE KEY-----', ''].join('\n'),
    publicKey: `${type} ${blob.toString('base64')} ${comment}`,
  };
}

/** Whether this public key belongs to an OpenSSH private key of ours (no passphrase, one key). Comments don't count. */
export function isOpenSshPair(privateKey: string, publicKey: string): boolean {
  const body = /-----BEGIN OPENSSH PRIVATE KEY-----([\s\S]+?)-----END OPENSSH PRIVATE KEY-----/.exec(privateKey)?.[1];
  const publicBlob = Buffer.from(publicKey.trim().split(/\s+/)[1] ?? '', 'base64');
  if (body === undefined || publicBlob.length === 0) return false;
  // The public key is in clear before the private part, prefixed with its length.
  return Buffer.from(body, 'base64').includes(chunk(publicBlob));
}

interface Parts {
  readonly type: string;
  readonly blob: Buffer;
  readonly secret: readonly Buffer[];
}

function rsaParts(jwk: JsonWebKey): Parts {
  const [n, e, d, p, q, qi] = [jwk.n, jwk.e, jwk.d, jwk.p, jwk.q, jwk.qi].map(integer) as Six;
  return { type: 'ssh-rsa', blob: Buffer.concat([text('ssh-rsa'), e, n]), secret: [n, e, d, qi, p, q] };
}
type Six = [Buffer, Buffer, Buffer, Buffer, Buffer, Buffer];

function ed25519Parts(jwk: JsonWebKey): Parts {
  if (jwk.crv !== 'Ed25519') throw new TypeError('only RSA and Ed25519 keys have an OpenSSH form here');
  const [publicKey, seed] = [bytes(jwk.x), bytes(jwk.d)];
  return {
    type: 'ssh-ed25519',
    blob: Buffer.concat([text('ssh-ed25519'), chunk(publicKey)]),
    secret: [chunk(publicKey), chunk(Buffer.concat([seed, publicKey]))],
  };
}

/** Whether a private and a public key, both PEM, form a pair. */
export function isPemPair(privateKeyPem: string, publicKeyPem: string): boolean {
  try {
    const spki = (key: ReturnType<typeof createPublicKey>) => key.export({ type: 'spki', format: 'der' });
    return spki(createPublicKey(createPrivateKey(privateKeyPem))).equals(spki(createPublicKey(publicKeyPem)));
  } catch {
    return false;
  }
}

const bytes = (base64url: string | undefined) => Buffer.from(base64url ?? '', 'base64url');
const uint32 = (value: number) => {
  const buffer = Buffer.alloc(4);
  buffer.writeUInt32BE(value);
  return buffer;
};
const chunk = (content: Buffer) => Buffer.concat([uint32(content.length), content]);
const text = (content: string) => chunk(Buffer.from(content));
/** An mpint. It is positive, so it gets a leading zero if the first bit is set. */
const integer = (base64url: string | undefined) => {
  const value = bytes(base64url);
  return chunk((value[0] ?? 0) & 0x80 ? Buffer.concat([Buffer.from([0]), value]) : value);
};

/** Of a key's blob, as `ssh-keygen -l` prints it: `SHA256:…`. */
export const fingerprintOf = (blob: Uint8Array): string =>
  `SHA256:${createHash('sha256').update(blob).digest('base64').replace(/=+$/, '')}`;
