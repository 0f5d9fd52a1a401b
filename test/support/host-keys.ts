/** Host keys as machines publish them: those that plinth takes, and what somebody with root there may publish instead. */
import { generateKeyPairSync, type KeyObject } from 'node:crypto';

const part = (bytes: Buffer | string): Buffer => {
  const content = Buffer.from(bytes);
  const length = Buffer.alloc(4);
  length.writeUInt32BE(content.length);
  return Buffer.concat([length, content]);
};

/** `<type> <base64>`, of the parts that follow the type (RFC 4253, 5656, 8709). */
const line = (type: string, ...parts: readonly Buffer[]): string =>
  `${type} ${Buffer.concat([type, ...parts].map(part)).toString('base64')}`;

const member = (key: KeyObject, name: 'x' | 'y' | 'n' | 'e'): Buffer =>
  Buffer.from(key.export({ format: 'jwk' })[name] ?? '', 'base64url');
const positive = (bytes: Buffer): Buffer => ((bytes[0] ?? 0) & 0x80 ? Buffer.concat([Buffer.of(0), bytes]) : bytes);

/** A new key, as `<type> <base64>`. */
export const makeHostKey = (): string => line('ssh-ed25519', member(generateKeyPairSync('ed25519').publicKey, 'x'));

const makeRsaKey = (modulusLength: number): string => {
  const { publicKey } = generateKeyPairSync('rsa', { modulusLength });
  return line('ssh-rsa', positive(member(publicKey, 'e')), positive(member(publicKey, 'n')));
};

/** One of each type. */
export const goodKeys = (): readonly string[] => [
  makeHostKey(),
  ...[['nistp256', 'P-256'] as const, ['nistp384', 'P-384'] as const, ['nistp521', 'P-521'] as const].map(
    ([curve, namedCurve]) => {
      const { publicKey } = generateKeyPairSync('ec', { namedCurve });
      const point = Buffer.concat([Buffer.of(4), member(publicKey, 'x'), member(publicKey, 'y')]);
      return line(`ecdsa-sha2-${curve}`, Buffer.from(curve), point);
    },
  ),
  makeRsaKey(2048),
];

/** Title, type and value of what is no host key. `good` is one: what is added to it would be read by OpenSSH. */
export function badKeys(good: string): readonly (readonly [title: string, type: string, value: string])[] {
  const type = 'ssh-ed25519';
  const [, base64 = ''] = good.split(' ');
  const blob = Buffer.from(base64, 'base64');
  const value = (bytes: Buffer) => bytes.toString('base64');
  const short = line(type, Buffer.alloc(31)).split(' ')[1] ?? '';
  return [
    ['a line for another machine', type, `${base64}\nk0s-1.demo-ab12cd34 ${good}`],
    ['a revocation in a line of its own', type, `${base64}\n@revoked * ${good}`],
    ['a carriage return', type, `${base64}\r`],
    ['a line separator', type, `${base64}\u2028`],
    ['a comment', type, `${base64} root@jumpbox`],
    ['a mark of revocation before the type', `@revoked * ${type}`, base64],
    ['a mark of an authority before the type', `@cert-authority *\t${type}`, base64],
    ['a line before the type', `ssh-rsa AAAA\n* ${type}`, base64],
    ['a pattern of names before the type', `*,10.0.0.1 ${type}`, base64],
    ['a type that is not the one within', 'ssh-rsa', base64],
    ['a certificate', `${type}-cert-v01@openssh.com`, base64],
    ['a type that nobody knows', 'ssh-none', value(Buffer.from(line('ssh-none', blob).split(' ')[1] ?? '', 'base64'))],
    ['a key that is cut off', type, value(blob.subarray(0, -1))],
    ['a key with bytes behind it', type, value(Buffer.concat([blob, Buffer.of(0)]))],
    ['a key of another length', type, short],
    ['base64 that is written in another way', type, `${base64}====`],
    ['a length beyond the end', type, value(Buffer.concat([Buffer.of(255, 255, 255, 255), blob]))],
    ['nothing', type, ''],
    ['a weak key', 'ssh-rsa', makeRsaKey(512).split(' ')[1] ?? ''],
  ];
}
