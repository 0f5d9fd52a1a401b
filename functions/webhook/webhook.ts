/** One message to a webhook, signed according to Standard Webhooks (https://www.standardwebhooks.com). */
import { createHmac } from 'node:crypto';
import { timeLimit } from '../../shared/time-limit.js';

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

/** Never throws. Follows no redirects: a signed message goes only to the configured URL. */
export async function postWebhook(
  url: string,
  keys: readonly Buffer[],
  { id, body, at }: { readonly id: string; readonly body: string; readonly at: Date },
): Promise<PostEnd> {
  const timestamp = Math.floor(at.getTime() / 1000);
  try {
    const reply = await fetch(url, {
      method: 'POST',
      headers: {
        'content-type': 'application/json',
        'user-agent': 'plinth',
        'webhook-id': id,
        'webhook-timestamp': String(timestamp),
        'webhook-signature': signatureOf(keys, id, timestamp, body),
      },
      body,
      redirect: 'manual',
      signal: timeLimit(timeoutMs),
    });
    // Its text is not needed and may be endless.
    await reply.body?.cancel();
    if (reply.ok) return { taken: true, final: true };
    return { taken: false, final: reply.status === 410, why: `the receiver answered ${reply.status}` };
  } catch (error) {
    const cause = error instanceof Error && error.cause instanceof Error ? error.cause : error;
    const why = error instanceof Error && error.name === 'TimeoutError' ? 'no answer in time' : String(cause);
    return { taken: false, final: false, why };
  }
}
