/** Compares host keys with those that machines published, by the whole key. */
import { timingSafeEqual } from 'node:crypto';
import { fingerprintOf } from '../../shared/openssh.js';
import { Problem } from '../../shared/problems.js';
import { hostKeyIn, hostKeyTypes, signaturesOf } from '../../shared/ssh-public-key.js';
import type { Machine } from './remote.js';

/**
 * The whole key blobs of `<type> <base64>` lines. Fails closed: throws a Problem if there is none, or if one is unreadable.
 */
export function blobsOf({ name, hostKeys }: Machine): readonly Buffer[] {
  const blobs = hostKeys.map((line) => {
    if (hostKeyIn(line) === undefined) {
      throw new Problem('host-changed', `A host key that ${name} published cannot be read, so nothing is sent to it.`);
    }
    return Buffer.from(line.split(' ')[1] ?? '', 'base64');
  });
  if (blobs.length > 0) return blobs;
  throw new Problem('host-changed', `${name} has published no host key, so nothing is sent to it.`);
}

export const isAmong = (blob: Uint8Array, blobs: readonly Buffer[]): boolean =>
  blobs.some((each) => each.length === blob.length && timingSafeEqual(each, blob));

/** Signature algorithms, those of known keys first, so that the machine shows a key that can be compared. */
export function hostKeyAlgorithms(blobs: readonly Buffer[]): string[] {
  const known = blobs.map((blob) => blob.subarray(4, 4 + blob.readUInt32BE(0)).toString());
  return signaturesOf([...hostKeyTypes.filter((type) => known.includes(type)), ...hostKeyTypes]);
}

export function changed(name: string, expected: readonly Buffer[], seen: Uint8Array): Problem {
  const fingerprints = expected.map(fingerprintOf).join(', ');
  return new Problem(
    'host-changed',
    `${name} shows another host key than the one it published: expected ${fingerprints}, seen ${fingerprintOf(seen)}. Nothing was sent to it.`,
    {
      advice:
        'If the VM was made anew, run the same command again, which reads its host keys anew. Else somebody may be in between: do not go on.',
    },
  );
}
