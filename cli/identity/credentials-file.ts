/**
 * The credentials of a login: `credentials.json` in the config folder, readable only by its owner. Its content is never shown.
 */
import { rmSync } from 'node:fs';
import { join } from 'node:path';
import * as z from 'zod';
import { Problem } from '../../shared/problems.js';
import { registerScalars } from '../../shared/secret-texts.js';
import { keepSecret, makeSecretFolder, reason, secretMode, whyUnwritable, writeWhole } from '../files/files.js';
import { readSecretTextIfThere, registerText } from '../files/secret-text.js';
import type { Settings } from '../settings.js';

const Credentials = z.object({
  schema: z.literal(1),
  issuer: z.string(),
  clientId: z.string(),
  email: z.string(),
  refreshToken: z.string(),
  idToken: z.string(),
});
export type Credentials = z.infer<typeof Credentials>;

const credentialsPath = ({ configFolder }: Pick<Settings, 'configFolder'>): string =>
  join(configFolder, 'credentials.json');

/** Undefined if nobody is logged in. */
export function readCredentials(settings: Settings): Credentials | undefined {
  const path = credentialsPath(settings);
  let found: string | undefined;
  try {
    found = readSecretTextIfThere(path, 'credentials', settings);
  } catch (error) {
    throw unreadable(path, reason(error));
  }
  if (found === undefined) return undefined;
  const read = Credentials.safeParse(jsonIn(found));
  if (!read.success) {
    registerScalars(settings.redactor, found);
    throw unreadable(path, 'it is not what a login leaves');
  }
  keepSecret(path);
  return read.data;
}

export function writeCredentials(settings: Settings, credentials: Credentials): void {
  makeSecretFolder(settings.configFolder);
  const text = `${JSON.stringify(credentials, null, 2)}\n`;
  writeWhole(credentialsPath(settings), registerText(text, 'credentials', settings), secretMode);
}

/**
 * Throws a Problem if renewed credentials could not be saved. The issuer may accept the present refresh token only once, so a
 * renewal would then lose the login.
 */
export function checkKeepable(settings: Settings): void {
  const path = credentialsPath(settings);
  const why = whyUnwritable(path);
  if (why === undefined) return;
  throw new Problem('unauthenticated', `The login is to be renewed, and ${path} cannot be written: ${why}.`, {
    advice: 'Make it writable, or set PLINTH_TOKEN to an ID token.',
  });
}

export const removeCredentials = (settings: Settings): void => rmSync(credentialsPath(settings), { force: true });

function jsonIn(content: string): unknown {
  try {
    return JSON.parse(content);
  } catch {
    return undefined;
  }
}

const unreadable = (path: string, why: string) =>
  new Problem('unauthenticated', `${path} cannot be read: ${why}.`, { advice: 'Log in again: plinth login.' });
