/**
 * Seals what a cookie holds, so that only this deployment can read and write it. The key is derived from the secret of the
 * OAuth client: a new client secret ends every session.
 */
import { createCipheriv, createDecipheriv, hkdfSync } from 'node:crypto';
import type { Random } from '../host/random.js';

const [ivBytes, tagBytes] = [12, 16];

export interface Seal {
  seal(value: object): string;
  /** Undefined for what this seal has not sealed. */
  open(text: string): unknown;
}

/** What is sealed for one purpose opens for no other one. */
export function createSeal(random: Random, secret: string, purpose: string): Seal {
  const key = Buffer.from(hkdfSync('sha256', secret, '', `plinth console ${purpose}`, 32));
  return {
    seal(value) {
      const iv = random.bytes(ivBytes);
      const cipher = createCipheriv('aes-256-gcm', key, iv);
      const sealed = Buffer.concat([cipher.update(JSON.stringify(value), 'utf8'), cipher.final()]);
      return Buffer.concat([iv, cipher.getAuthTag(), sealed]).toString('base64url');
    },
    open(text) {
      const bytes = Buffer.from(text, 'base64url');
      if (bytes.length <= ivBytes + tagBytes) return undefined;
      try {
        const decipher = createDecipheriv('aes-256-gcm', key, bytes.subarray(0, ivBytes), { authTagLength: tagBytes });
        decipher.setAuthTag(bytes.subarray(ivBytes, ivBytes + tagBytes));
        const opened = Buffer.concat([decipher.update(bytes.subarray(ivBytes + tagBytes)), decipher.final()]);
        return JSON.parse(opened.toString('utf8'));
      } catch {
        return undefined;
      }
    },
  };
}
