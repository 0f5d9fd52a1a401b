/** Reads a secret from where `plinth.yaml` says it is: the environment, a file, or Secret Manager. */
import { Buffer } from 'node:buffer';
import * as z from 'zod';
import { Problem } from '../../shared/problems.js';
import { timeLimit } from '../../shared/time-limit.js';
import { homePlaceOf, reason } from '../files/files.js';
import { readSecretText, registerText } from '../files/secret-text.js';
import type { CommandContext } from '../frame/command.js';
import { withoutLineBreak } from '../frame/flags.js';
import { findAccessToken } from '../identity/access-token.js';
import { send } from '../network/send.js';
import { secretManagerUrlOf } from '../settings.js';
import type { SecretReference } from './schema.js';

type ReadSecret = { readonly value: string } | { readonly why: string };

/** What it says never holds the value, which is registered. */
export async function readSecret(reference: SecretReference, call: CommandContext): Promise<ReadSecret> {
  const read = await readFrom(reference, call);
  if (!('value' in read)) return read;
  registerText(read.value, 'secret by reference', call.settings);
  return { value: withoutLineBreak(read.value) };
}

async function readFrom(reference: SecretReference, call: CommandContext): Promise<ReadSecret> {
  if ('env' in reference) {
    const value = call.settings.env[reference.env] ?? '';
    return withoutLineBreak(value) === ''
      ? { why: `is in the environment variable ${reference.env}, which is not set` }
      : { value };
  }
  if ('file' in reference) return readSecretFile(reference.file, call);
  return readFromSecretManager(reference.secretManager, call);
}

function readSecretFile(path: string, { settings }: CommandContext): ReadSecret {
  try {
    const value = readSecretText(homePlaceOf(path, settings), 'secret by reference', settings);
    return withoutLineBreak(value) === '' ? { why: `is in ${path}, which is empty` } : { value };
  } catch (error) {
    return { why: `is in ${path}, which cannot be read: ${reason(error)}` };
  }
}

const timeoutMs = 30_000;

const Version = z.object({ payload: z.object({ data: z.base64() }) });
const Refusal = z.object({ error: z.object({ message: z.string() }) });

/** As the caller, with the Google access token that IAP's tunnels take, too. `name`: `projects/<project>/secrets/<secret>`, with `/versions/<version>` or for the latest one. */
async function readFromSecretManager(
  name: string,
  { settings, interrupted }: Pick<CommandContext, 'settings' | 'interrupted'>,
): Promise<ReadSecret> {
  const version = name.includes('/versions/') ? name : `${name}/versions/latest`;
  const refused = (why: string): ReadSecret => ({
    why: `is in Secret Manager as ${name}, which cannot be read: ${why}`,
  });
  try {
    const { token } = await findAccessToken(settings, { interrupted });
    const limit = timeLimit(timeoutMs);
    const response = await send(settings.env, `${secretManagerUrlOf(settings)}/v1/${version}:access`, {
      redirect: 'error',
      headers: { authorization: `Bearer ${token}` },
      signal: AbortSignal.any([limit, interrupted]),
    });
    const body: unknown = await response.json();
    if (!response.ok) {
      return refused(Refusal.safeParse(body).data?.error.message ?? `it answered ${response.status}`);
    }
    const { data } = Version.parse(body).payload;
    return { value: Buffer.from(data, 'base64').toString('utf8') };
  } catch (error) {
    interrupted.throwIfAborted();
    return refused(error instanceof Problem ? [error.detail, error.advice].join(' ') : 'it gave no answer');
  }
}
