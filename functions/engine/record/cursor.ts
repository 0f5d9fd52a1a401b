/**
 * Where a follower of a bootstrap is: the number of the last event that was told, and how far into the logs of jobs. Opaque to
 * clients, who bring it back.
 */
import { Problem } from '../../../shared/problems.js';
import { sha256 } from '../../../shared/sha256.js';

/** How far the log of each instance was told, in stored bytes, by `logKey`; of one generation. */
export interface LogPlaces {
  readonly generation: number;
  readonly offsets: ReadonlyMap<string, number>;
}

interface Position {
  readonly event: number;
  readonly logs?: LogPlaces | undefined;
}

/** A cursor travels with each event, so names are made short; two that meet would only show a log from elsewhere on. */
export const logKey = (instance: string): string => sha256(instance).slice(0, 7);

/** What fits a header well; who forgets the oldest tells the last of it twice. */
const mostLogs = 150;

export function writeCursor({ event, logs }: Position): string {
  const offsets = [...(logs?.offsets ?? [])].slice(-mostLogs);
  const places = offsets.map(([key, offset]) => `${key}:${offset.toString(36)}`);
  // As releases before there were logs wrote it.
  const text = logs === undefined || places.length === 0 ? `1.${event}` : `2.${event}.${logs.generation}.${places}`;
  return Buffer.from(text).toString('base64url');
}

/** Throws a Problem of code `bad-input` for what is none of ours. Without a cursor: the beginning. */
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

/** The same place among the events, and that one in the logs. */
export const withLogs = (cursor: string | undefined, logs: LogPlaces): string =>
  writeCursor({ event: readCursor(cursor).event, logs });
