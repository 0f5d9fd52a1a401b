/**
 * The logins at the local issuer. It stores refresh tokens by their hash in a file of the state folder, so that a login
 * survives a restart.
 */
import { existsSync, readFileSync } from 'node:fs';
import * as z from 'zod';
import { sha256 } from '../../shared/sha256.js';
import { writeWhole } from '../whole-file.js';

export interface Logins {
  /** The e-mail of the token's owner. */
  emailOf(refreshToken: string): string | undefined;
  add(refreshToken: string, email: string): void;
  /** False if there was none. */
  remove(refreshToken: string): boolean;
}

const Kept = z.record(z.string(), z.string());
/** Without a file the logins live as long as this process. */
export function openLogins(file: string | undefined): Logins {
  const kept = file !== undefined && existsSync(file) ? Kept.parse(JSON.parse(readFileSync(file, 'utf8'))) : {};
  const emails = new Map(Object.entries(kept));
  const keep = (): void => {
    if (file !== undefined) writeWhole(file, `${JSON.stringify(Object.fromEntries(emails), null, 2)}\n`);
  };
  return {
    emailOf: (refreshToken) => emails.get(sha256(refreshToken)),
    add(refreshToken, email) {
      emails.set(sha256(refreshToken), email);
      keep();
    },
    remove(refreshToken) {
      const removed = emails.delete(sha256(refreshToken));
      if (removed) keep();
      return removed;
    },
  };
}
