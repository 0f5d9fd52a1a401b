/** Reads a secret from Secret Manager as the caller, with the Google access token that IAP's tunnels take, too. */
import { Buffer } from 'node:buffer';
import * as z from 'zod';
import { Problem } from '../../shared/problems.js';
import { timeLimit } from '../../shared/time-limit.js';
import type { Call } from '../frame/command.js';
import { findAccessToken } from '../identity/access-token.js';
import { send } from '../network/send.js';
import { secretManagerUrlOf } from '../settings.js';
import type { ReadSecret } from './secrets.js';

const timeoutMs = 30_000;

const Version = z.object({ payload: z.object({ data: z.base64() }) });
const Refusal = z.object({ error: z.object({ message: z.string() }) });

/** `name`: `projects/<project>/secrets/<secret>`, with `/versions/<version>` or for the latest one. */
export async function readFromSecretManager(
  name: string,
  { settings, interrupted }: Pick<Call, 'settings' | 'interrupted'>,
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
