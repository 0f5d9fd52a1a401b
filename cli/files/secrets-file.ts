/**
 * The secrets file in the caller's folder. A person edits it with sops, too. A file in clear, cut short, broken, encrypted
 * only for others or changed meanwhile is refused: never sent, moved aside or replaced.
 */
import { join } from 'node:path';
import { identitiesIn } from '../../shared/install-config/age-identity.js';
import { Problem } from '../../shared/problems.js';
import type { Settings } from '../settings.js';
import { fileWord, placeOf, reason } from './files.js';
import { readSecretTextIfThere } from './secret-text.js';

export interface SecretsOnDisk {
  /** As the caller wrote it. */
  readonly path: string;
  readonly place: string;
  readonly text: string;
}

const loadForm = () => import('../../shared/install-config/sops-block.js');

export const identityPath = (configFolder: string, id: string): string =>
  join(configFolder, 'age', `${fileWord(id)}.txt`);

/** What the caller keeps for one bootstrap. */
export interface KeptIdentities {
  /** Of the whole file. */
  readonly text: string;
  readonly recipients: readonly string[];
}

/** Undefined if none is kept here. Throws for a file with a damaged line, which nothing may replace. */
export async function keptIdentities(
  id: string,
  settings: Pick<Settings, 'configFolder' | 'redactor'>,
): Promise<KeptIdentities | undefined> {
  const path = identityPath(settings.configFolder, id);
  const text = readIdentities(path, settings);
  if (text === undefined) return undefined;
  const found = await identitiesIn(text, path);
  return found.length === 0 ? undefined : { text, recipients: found.map(({ recipient }) => recipient) };
}

function readIdentities(path: string, settings: Pick<Settings, 'redactor'>): string | undefined {
  try {
    return readSecretTextIfThere(path, 'age identity', settings);
  } catch (error) {
    throw new Problem('bad-input', `${path} cannot be read: ${reason(error)}.`, { cause: error });
  }
}

export function standingSecrets(path: string, settings: Settings): SecretsOnDisk | undefined {
  const place = placeOf(path, settings);
  const text = readSecretTextIfThere(place, 'secrets file', settings);
  return text === undefined ? undefined : { path, place, text };
}

/** Throws what is wrong with the file, as far as plinth can see without a key. */
export async function checkSecrets({ path, text }: Pick<SecretsOnDisk, 'path' | 'text'>): Promise<void> {
  const { sopsFault } = await loadForm();
  const fault = sopsFault(text);
  if (fault !== undefined) throw of(path, fault);
}

/** Whether the file holds something, and none of it is encrypted. */
export async function isInClear(text: string): Promise<boolean> {
  const { holdsSealed } = await loadForm();
  return text.trim() !== '' && !holdsSealed(text);
}

/**
 * Whether the file belongs to the bootstrap. If the bootstrap's recipient is known here, the file must be encrypted for it.
 * Otherwise the config beside it decides.
 */
export async function isOf(
  file: SecretsOnDisk,
  id: string,
  configIsOurs: boolean,
  settings: Pick<Settings, 'configFolder' | 'redactor'>,
): Promise<boolean> {
  await checkSecrets(file);
  const kept = await keptIdentities(id, settings);
  if (kept === undefined) return configIsOurs;
  const { notFor, sopsRecipients } = await loadForm();
  const all = sopsRecipients(file.text);
  if (kept.recipients.some((recipient) => all.includes(recipient))) return true;
  if (configIsOurs) throw of(file.path, notFor(kept.recipients));
  return false;
}

/** Compares the contents, because encrypted texts always differ. Throws for a file that must not be replaced. */
export async function opensToTheSame(file: SecretsOnDisk, made: string, identity: string): Promise<boolean> {
  if (file.text === made) return true;
  const { decryptSecrets, sameContent } = await import('../../shared/install-config/secrets.js');
  const stands = await decryptSecrets(file.text, identity).catch((error: unknown) => {
    throw error instanceof Problem ? of(file.path, error) : error;
  });
  const same = sameContent(stands, await decryptSecrets(made, identity));
  const seen = seenTexts.get(file.place);
  if (!same && seen !== undefined && seen !== file.text) throw changedMeanwhile(file.path);
  return same;
}

/** What this run has read or written, by place. If the text differs now, somebody else has written it since. */
const seenTexts = new Map<string, string>();
export const remember = ({ place, text }: SecretsOnDisk): void => void seenTexts.set(place, text);

const changedMeanwhile = (path: string): Problem =>
  new Problem('bad-input', `${path} was changed while the bootstrap ran.`, {
    advice: 'It stays as it is. Run the same command again: it takes the change over.',
  });

/** For the end of a run: the bootstrap exists, even though the file has a fault. */
export function notWritten(path: string, error: unknown): unknown {
  if (!(error instanceof Problem) || error.detail.startsWith('The bootstrap stands')) return error;
  const message = `${path} is not written: ${error.detail}`;
  return new Problem(error.code, `The bootstrap stands, but ${message}`, {
    errors: [{ path: '--secrets-file', message }],
    ...(error.advice !== undefined && { advice: error.advice }),
  });
}

export const inFull = ({ detail, advice = '' }: Problem): string => `${detail} ${advice}`.trim();

const of = (path: string, { code, detail, advice }: Problem): Problem =>
  new Problem(
    code,
    detail.replace(/^The secrets file/, () => path),
    {
      ...(advice !== undefined && { advice: advice.replaceAll('<file>', path) }),
    },
  );
