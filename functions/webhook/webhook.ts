/** One message to a webhook, signed according to Standard Webhooks (https://www.standardwebhooks.com). */
import { createHmac } from 'node:crypto';
import { request as httpRequest } from 'node:http';
import { request as httpsRequest } from 'node:https';
import type { LookupFunction } from 'node:net';
import { timeLimit } from '../../shared/time-limit.js';
import { checkHost, guardedLookup } from './target.js';

const timeoutMs = 10_000;

/** `whsec_` and base64 of 24 to 64 bytes. Undefined for anything else. */
export function readKey(secret: string): Buffer | undefined {
  const text = /^whsec_([A-Za-z0-9+/]+={0,2})$/.exec(secret.trim())?.[1];
  const key = Buffer.from(text ?? '', 'base64');
  return key.length >= 24 && key.length <= 64 ? key : undefined;
}

/** One signature for each key, separated by spaces. A receiver accepts any whose key it knows. */
export const signatureOf = (keys: readonly Buffer[], id: string, timestamp: number, body: string): string =>
  keys.map((key) => `v1,${createHmac('sha256', key).update(`${id}.${timestamp}.${body}`).digest('base64')}`).join(' ');

export type PostEnd =
  | { readonly taken: true; readonly final: true }
  /** `final`: the receiver wants no more messages. */
  | { readonly taken: false; readonly final: boolean; readonly why: string };

/**
 * Never throws. Follows no redirects: a signed message goes only to the configured URL, and to none of the function's own
 * addresses. `lookup`: in place of the system's.
 */
export async function postWebhook(
  url: string,
  keys: readonly Buffer[],
  { id, body, at }: { readonly id: string; readonly body: string; readonly at: Date },
  lookup?: LookupFunction,
): Promise<PostEnd> {
  const timestamp = Math.floor(at.getTime() / 1000);
  const headers = {
    'content-type': 'application/json',
    'content-length': String(Buffer.byteLength(body)),
    'user-agent': 'plinth',
    'webhook-id': id,
    'webhook-timestamp': String(timestamp),
    'webhook-signature': signatureOf(keys, id, timestamp, body),
  };
  const signal = timeLimit(timeoutMs);
  try {
    const status = await post(new URL(url), { headers, body, signal, lookup });
    if (status >= 200 && status < 300) return { taken: true, final: true };
    return { taken: false, final: status === 410, why: `the receiver answered ${status}` };
  } catch (error) {
    return { taken: false, final: false, why: signal.aborted ? 'no answer in time' : String(error) };
  }
}

interface Sending {
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
  readonly signal: AbortSignal;
  readonly lookup?: LookupFunction | undefined;
}

/** The status of the answer. `fetch` cannot be given a look-up, so its connections cannot be checked. */
function post(url: URL, { headers, body, signal, lookup }: Sending): Promise<number> {
  const request = url.protocol === 'https:' ? httpsRequest : httpRequest;
  return new Promise((resolve, reject) => {
    checkHost(url);
    const options = { method: 'POST', agent: false, headers, signal, lookup: guardedLookup(url, lookup) };
    const sending = request(url, options, (reply) => {
      resolve(reply.statusCode ?? 0);
      // Its text is not needed and may be endless.
      reply.destroy();
    });
    sending.on('error', reject);
    sending.end(body);
  });
}
