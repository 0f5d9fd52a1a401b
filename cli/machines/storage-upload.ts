/**
 * Sends a file to Cloud Storage in a session of its resumable uploads, from where the session is. See
 * https://cloud.google.com/storage/docs/performing-resumable-uploads. The session's URI is a secret and stands in no message.
 */
import type { FileSource, SendOptions } from '../../functions/remote/remote.js';
import { reasonOf } from '../../shared/network-reason.js';
import { Problem } from '../../shared/problems.js';
import { timeLimit } from '../../shared/time-limit.js';
import { joinedSignal } from '../frame/joined-signal.js';
import { send } from '../network/send.js';
import type { Settings } from '../settings.js';

/** Google takes multiples of 256 KiB. A slow line needs minutes for one. */
const pieceBytes = 8 * 1024 * 1024;
const pieceMs = 10 * 60_000;

/** Where a session is. `over`: it has expired, or what it was for is there by another way. */
type Standing = { readonly state: 'sent' | 'over' } | { readonly state: 'open'; readonly arrived: number };

interface Sending extends Pick<SendOptions, 'onProgress'>, Pick<Settings, 'env'> {
  readonly signal: AbortSignal;
}

/** Throws a transient Problem if the connection breaks. The next call then goes on where it was. */
export async function sendToStorage(
  session: string,
  source: FileSource,
  { onProgress, ...way }: Sending,
): Promise<'sent' | 'over'> {
  const { size } = source;
  let standing = await put(session, `bytes */${size}`, undefined, way);
  while (standing.state === 'open') {
    const { arrived } = standing;
    onProgress?.(arrived);
    const piece = await pieceAt(source, arrived);
    const range = `bytes ${arrived}-${arrived + piece.length - 1}/${size}`;
    standing = await put(session, range, piece, way);
    if (standing.state === 'open' && standing.arrived <= arrived) throw troubled('it keeps nothing of what it gets');
  }
  return standing.state;
}

async function pieceAt(source: FileSource, offset: number): Promise<Buffer<ArrayBuffer>> {
  const parts: Uint8Array[] = [];
  let length = 0;
  for await (const part of source.read(offset)) {
    parts.push(part);
    length += part.length;
    if (length >= pieceBytes) break;
  }
  if (length === 0) throw new Error(`the file ends at ${offset} of ${source.size} bytes`);
  return Buffer.concat(parts).subarray(0, pieceBytes);
}

/** Without a piece it only asks how far the session is. */
async function put(
  session: string,
  range: string,
  piece: Buffer<ArrayBuffer> | undefined,
  { env, signal: stop }: Omit<Sending, 'onProgress'>,
): Promise<Standing> {
  const { signal, release } = joinedSignal(stop, timeLimit(pieceMs));
  try {
    const headers = { 'content-range': range };
    // A 308 of a session is no redirect, and nothing is sent elsewhere.
    const sending = { method: 'PUT', headers, body: piece ?? '', redirect: 'manual', signal } as const;
    const response = await send(env, session, sending);
    const text = await response.text();
    return standingOf(response, text);
  } catch (error) {
    stop.throwIfAborted();
    throw error instanceof Problem ? error : troubled(`the connection broke (${reasonOf(error)})`, error);
  } finally {
    release();
  }
}

function standingOf({ status, headers }: Response, text: string): Standing {
  if (status === 200 || status === 201) return { state: 'sent' };
  if (status === 308) {
    const [, last] = /^bytes=0-(\d+)$/.exec(headers.get('range') ?? '') ?? [];
    return { state: 'open', arrived: last === undefined ? 0 : Number(last) + 1 };
  }
  if ([403, 404, 410, 412, 499].includes(status)) return { state: 'over' };
  if (status === 408 || status === 429 || status >= 500) throw troubled(`it answered ${status}`);
  throw new Problem('cloud-input', `Cloud Storage refused the file with ${status}: ${text.slice(0, 200)}`);
}

const troubled = (why: string, cause?: unknown): Problem =>
  new Problem('cloud-unavailable', `Cloud Storage does not take the file now: ${why}.`, { cause });
