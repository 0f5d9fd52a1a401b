/** Ed25519 key pairs in OpenSSH's form, for machines and people of the tests. */
import { generateKeyPairSync } from 'node:crypto';
import { type OpenSshPair, openSshPair } from '../../shared/openssh.js';

export const makeKey = (): OpenSshPair =>
  openSshPair(
    generateKeyPairSync('ed25519', {
      privateKeyEncoding: { type: 'pkcs8', format: 'pem' },
      publicKeyEncoding: { type: 'spki', format: 'pem' },
    }).privateKey,
    'test',
  );

/** `<type> <base64>`, as a machine publishes its host key. */
export const withoutComment = (publicKey: string): string => publicKey.split(' ').slice(0, 2).join(' ');
