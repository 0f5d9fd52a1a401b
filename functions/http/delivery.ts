/** Takes what Eventarc delivers: a Pub/Sub message as a CloudEvent in binary mode. An answer of 2xx acknowledges it. */
import type { HttpFunction } from '@google-cloud/functions-framework';
import { Problem } from '../../shared/problems.js';
import { realClock } from '../host/clock.js';
import { readBody } from './bodies.js';

/** The part of a CloudEvent that functions use. `data` has no form yet. */
interface Delivery {
  readonly id?: string;
  /** The topic: `//pubsub.googleapis.com/projects/p/topics/t`. */
  readonly source?: string;
  readonly data?: unknown;
}

/** A message of plinth's has four fields. */
const limitBytes = 64 * 1024;

/** What is too large, or is no JSON, is passed on without data: it would come back for ever. */
async function dataOf(request: Parameters<HttpFunction>[0], gone: AbortSignal): Promise<unknown> {
  try {
    const bytes = await readBody(request, { limitBytes, clock: realClock, gone });
    return JSON.parse(bytes.toString('utf8'));
  } catch (error) {
    if (error instanceof SyntaxError) return undefined;
    if (error instanceof Problem && error.code === 'payload-too-large') return undefined;
    throw error;
  }
}

/** `handle` logs its own failures. A message that it fails with is delivered again. */
export function onDelivery<Event extends Delivery>(handle: (event: Event) => Promise<void>): HttpFunction {
  return async (request, response) => {
    const client = new AbortController();
    response.on('close', () => client.abort());
    const answer = (status: number): void => void response.writeHead(status).end();
    if (request.method !== 'POST') return answer(405);
    try {
      const { 'ce-id': id, 'ce-source': source } = request.headers;
      const data = await dataOf(request, client.signal);
      const named = { ...(typeof id === 'string' && { id }), ...(typeof source === 'string' && { source }) };
      await handle({ ...named, data } as Event);
      answer(204);
    } catch {
      answer(500);
    }
  };
}
