/** SHA-256 as 64 hexadecimal digits: of files, scripts, images and whatever is told apart by its content. */
import { createHash } from 'node:crypto';

/** Text counts as UTF-8. */
export const sha256 = (content: string | Uint8Array): string => createHash('sha256').update(content).digest('hex');
