/** Reads stored machine logs: the list of them, one page by page, and a bounded amount of news for followers. */

import type { LogEvent } from '../../../shared/bootstrap/event.js';
import type { LogPage, LogView } from '../../../shared/bootstrap/log.js';
import { collections } from '../../../shared/names.js';
import type { Context } from '../../context.js';
import { type LogPlaces, logKey } from './cursor.js';
import { type LogChunkRecord, liftLogChunk, liftLogHead, logHeadId, read } from './documents.js';

type Parts = Pick<Context, 'store'>;

export async function listLogs({ store }: Parts, id: string): Promise<LogView[]> {
  const found = await store.query({ collection: collections.logHeads, where: [['bootstrapId', '==', id]] });
  return found
    .map(({ data }) => liftLogHead(data))
    .map(({ instance, generation, begins, stored }) => ({ instance, generation, begins, bytes: stored }))
    .sort((a, b) => a.instance.localeCompare(b.instance));
}

/** A chunk may be 768 KiB: each byte that is not UTF-8 is stored as three. */
const chunksAPage = 16;

async function chunksOf({ store }: Parts, id: string, instance: string, from: number, limit = chunksAPage) {
  const found = await store.query({
    collection: collections.logs,
    where: [
      ['bootstrapId', '==', id],
      ['instance', '==', instance],
    ],
    orderBy: ['offset', 'asc'],
    after: from - 1,
    limit,
  });
  return found.map(({ data }) => liftLogChunk(data));
}

const endOf = ({ offset, text }: LogChunkRecord): number => offset + Buffer.byteLength(text);

/** `offset`: where the previous page ended, or where a generation begins. */
export async function readLog(parts: Parts, id: string, instance: string, offset: number): Promise<LogPage> {
  const chunks = await chunksOf(parts, id, instance, offset);
  const last = chunks.at(-1);
  return {
    instance,
    chunks: chunks.map(({ offset: at, generation, text, at: storedAt }) => ({
      offset: at,
      generation,
      at: storedAt,
      text,
    })),
    next: last === undefined ? offset : endOf(last),
    more: chunks.length === chunksAPage,
  };
}

export interface LogNews {
  readonly event: LogEvent;
  /** How far the log is sent with this event. */
  readonly next: number;
}

/** The most that is sent of one log at once. The whole log can be read page by page. */
const mostNewsBytes = 32 * 1024;
/** No chunk is longer, even with everything in it replaced by something longer. */
const longestChunkBytes = 1024 * 1024;

/** What these instances logged since, in the generation of the places. If it is much, only the end of it. */
export async function readLogNews(
  parts: Parts,
  id: string,
  { generation, offsets }: LogPlaces,
  instances: readonly string[],
): Promise<LogNews[]> {
  if (instances.length === 0) return [];
  const heads = await parts.store.getMany(
    collections.logHeads,
    [...new Set(instances)].map((instance) => logHeadId(id, instance)),
  );
  const news = heads.map(async (document): Promise<LogNews[]> => {
    const head = read(document, liftLogHead)?.data;
    if (head === undefined || head.generation !== generation) return [];
    const { instance, begins, stored } = head;
    const told = Math.max(offsets.get(logKey(instance)) ?? begins, begins);
    if (told >= stored) return [];
    for (const window of [mostNewsBytes, longestChunkBytes]) {
      const chunks = await chunksOf(parts, id, instance, Math.max(told, stored - window), 100);
      const [first, last] = [chunks[0], chunks.at(-1)];
      // The window began inside the last chunk.
      if (first === undefined || last === undefined) continue;
      const text = lastOf(chunks.map((chunk) => chunk.text).join(''));
      const next = endOf(last);
      const skipped = next - told - Buffer.byteLength(text);
      const offset = next - Buffer.byteLength(text);
      const event: LogEvent = { schema: 1, type: 'log', at: last.at, instance, generation, offset, text };
      return [{ event: skipped > 0 ? { ...event, skipped } : event, next }];
    }
    return [];
  });
  return (await Promise.all(news)).flat();
}

/** Whole lines from the end. */
function lastOf(text: string): string {
  const bytes = Buffer.from(text);
  if (bytes.length <= mostNewsBytes) return text;
  const tail = bytes.subarray(bytes.length - mostNewsBytes);
  const line = tail.indexOf(0x0a) + 1;
  let start = line;
  // Without a line end, skip the rest of a split character.
  while (line === 0 && ((tail[start] ?? 0) & 0xc0) === 0x80) start++;
  return tail.subarray(start).toString();
}
