/**
 * The place of a follower: the number of the last event sent, and how far the logs of jobs were sent. It is opaque to clients,
 * who send it back.
 */
import { Problem } from '../../../shared/problems.js';
import { sha256 } from '../../../shared/sha256.js';

/** How far the log of each instance was sent in one generation, in stored bytes, by `logKey`. */
export interface LogPlaces {
  readonly generation: number;
  readonly offsets: ReadonlyMap<string, number>;
}

interface Position {
  readonly event: number;
  readonly logs?: LogPlaces | undefined;
}

/**
 * Names are short because a cursor travels with each event. If two names collide, the follower only misses the beginning of a
 * log.
 */
export const logKey = (instance: string): string => sha256(instance).slice(0, 7);

/** As many as fit well into a header. If the oldest is dropped, the end of that log is sent twice. */
const mostLogs = 150;

export function writeCursor({ event, logs }: Position): string {
  const offsets = [...(logs?.offsets ?? [])].slice(-mostLogs);
  const places = offsets.map(([key, offset]) => `${key}:${offset.toString(36)}`);
  // The first form is the one that releases without logs wrote.
  const text = logs === undefined || places.length === 0 ? `1.${event}` : `2.${event}.${logs.generation}.${places}`;
  return Buffer.from(text).toString('base64url');
}

/** Throws a Problem of code `bad-input` if the cursor is not ours. Without a cursor it is the beginning. */
export function readCursor(cursor: string | undefined): Position {
  if (cursor === undefined) return { event: 0 };
  const [, event, generation, places] =
    /^(?:1\.(?=\d+$)|2\.(?=\d+\.))(\d{1,9})(?:\.(\d{1,9})\.((?:[\da-f]{7}:[\da-z]{1,8},?)+))?$/.exec(
      Buffer.from(cursor, 'base64url').toString(),
    ) ?? [];
  if (event === undefined) {
    throw new Problem('bad-input', 'The cursor is none of ours.', {
      errors: [{ path: 'cursor', message: 'is none of ours' }],
    });
  }
  if (generation === undefined || places === undefined) return { event: Number(event) };
  const offsets = places.split(',').map((place): [string, number] => {
    const [key = '', offset = ''] = place.split(':');
    return [key, Number.parseInt(offset, 36)];
  });
  return { event: Number(event), logs: { generation: Number(generation), offsets: new Map(offsets) } };
}

/** The same place among the events, with new places in the logs. */
export const withLogs = (cursor: string | undefined, logs: LogPlaces): string =>
  writeCursor({ event: readCursor(cursor).event, logs });
