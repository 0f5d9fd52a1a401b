/** SHA-256 as 64 hexadecimal digits, for files, scripts, images and anything else that its content identifies. */
import { createHash } from 'node:crypto';

/** Text is hashed as UTF-8. */
export const sha256 = (content: string | Uint8Array): string => createHash('sha256').update(content).digest('hex');
