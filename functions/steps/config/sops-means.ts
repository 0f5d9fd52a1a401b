/** The time and randomness that encryption of a secrets file needs. */
import { randomBytes } from 'node:crypto';
import type { SopsMeans } from '../../../shared/install-config/sops-cipher.js';

export const sopsMeans = (now: Date): SopsMeans => ({ now, random: (bytes) => new Uint8Array(randomBytes(bytes)) });
