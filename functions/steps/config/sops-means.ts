/** Time and chance for encrypting a secrets file. */
import { randomBytes } from 'node:crypto';
import type { SopsMeans } from '../../../shared/install-config/sops-cipher.js';

export const sopsMeans = (now: Date): SopsMeans => ({ now, random: (bytes) => new Uint8Array(randomBytes(bytes)) });
