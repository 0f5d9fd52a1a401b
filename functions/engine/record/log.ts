/**
 * Machine logs, stored in chunks by instance, without secrets, even those that span two chunks. One commit writes a chunk and
 * how far it was read, so a killed function neither loses nor doubles a byte.
 */
import { collections } from '../../../shared/names.js';
import type { SecretRedactor } from '../../../shared/secret-redactor.js';
import type { Context } from '../../context.js';
import { Conflict, type Document, type Store, type Write } from '../../store/store.js';
import type { StepLog } from '../step.js';
import { type LogChunkRecord, type LogHeadRecord, liftLogHead, logChunkId, logHeadId, read } from './documents.js';

interface Whose {
  readonly bootstrapId: string;
  readonly instance: string;
  readonly generation: number;
  readonly expireAt: string;
}

/**
 * The most that is read into one chunk. A document holds 1 MiB, and the stored text may be longer: it marks secrets, and each
 * byte that is not UTF-8 becomes three.
 */
const maxPieceBytes = 256 * 1024;
/** The most that is stored of one instance. The rest stays on the machine. */
const mostStoredBytes = 8 * 1024 * 1024;
/** Each job has a log. Those of earlier generations are followed no more. */
const mostSources = 100;
const betweenCommitsMilliseconds = 1000;

export function createStepLog(
  { store, clock }: Pick<Context, 'store' | 'clock'>,
  whose: Whose,
  { redact, shownLength }: SecretRedactor,
  maxStoredBytes = mostStoredBytes,
): StepLog {
  const { bootstrapId, instance } = whose;
  const id = logHeadId(bootstrapId, instance);
  const find = async (): Promise<Document<LogHeadRecord> | undefined> =>
    read(await store.get(collections.logHeads, id), liftLogHead);
  let head: Promise<Document<LogHeadRecord> | undefined> | undefined;
  let mayAt = 0;

  const entryOf = (found: Document<LogHeadRecord> | undefined, source: string): ReadSoFar | undefined =>
    found?.data.read.find((each) => each.source === source);
  const readOf = (found: Document<LogHeadRecord> | undefined, source: string): number =>
    entryOf(found, source)?.offset ?? 0;

  const linesIn = (bytes: Uint8Array, last: boolean): string[] => {
    const piece = Buffer.from(bytes);
    const cut = shownLength(piece);
    const text = last ? endOf(piece, cut) : piece.subarray(0, cut).toString();
    const lines = redact(text).split(/[\r\n]+/);
    return lines.map((line) => line.trim()).filter((line) => line !== '');
  };

  return {
    async offset(source) {
      head ??= find();
      return readOf(await head, source);
    },
    async append(source, offset, bytes, last) {
      head ??= find();
      const found = await head;
      const from = readOf(found, source);
      if (from !== offset) return from;
      const whole = Buffer.from(bytes.subarray(0, maxPieceBytes));
      const isEnd = last && whole.length === bytes.length;
      const isWithin = entryOf(found, source)?.within === true;
      const piece = isWithin ? nextLineOf(whole) : whole;
      const cut = shownLength(piece);
      const taken = whole.length - (isEnd ? 0 : piece.length - cut);
      if (taken === 0) return offset;
      const within = (isWithin && piece.length === 0) || (isEnd && cut < piece.length);
      const shown = isEnd ? endOf(piece, cut) : piece.subarray(0, cut).toString();
      const before: LogHeadRecord = found?.data ?? { ...whose, schema: 1, stored: 0, begins: 0, read: [] };
      const text = textOf(before, maxStoredBytes, redact(shown));
      const writes = logWrites(whose, found, {
        before,
        read: { source, offset: offset + taken, ...(within && { within }) },
        text,
        at: clock.now(),
      });
      await clock.pause(Math.max(0, mayAt - clock.now().getTime()) / 1000);
      try {
        await store.commit(writes);
      } catch (error) {
        // Somebody else was first, or our own write went through and its answer was lost. The stored head says where to go on.
        if (!(error instanceof Conflict)) throw error;
      } finally {
        mayAt = clock.now().getTime() + betweenCommitsMilliseconds;
        head = undefined;
      }
      head = find();
      return readOf(await head, source);
    },
    lastLine: (bytes, last) => linesIn(bytes, last).at(-1) ?? '',
    lastLines: (bytes, count) => linesIn(bytes, true).slice(-count).join('; '),
  };
}

type ReadSoFar = LogHeadRecord['read'][number];

/** Of a log that broke off and goes on after all. The rest of that line may be the rest of a secret. */
function nextLineOf(bytes: Buffer): Buffer {
  const end = bytes.indexOf(0x0a);
  return bytes.subarray(end === -1 ? bytes.length : end);
}

/** So much of a secret tells something. */
const leastHalf = 4;

/** Of a log that nothing follows. It may have broken off within a secret, as when its machine restarted. */
const endOf = (piece: Buffer, cut: number): string =>
  piece.length - cut < leastHalf ? piece.toString() : `${piece.subarray(0, cut)}<secret>`;

/** Writes a chunk, and how far its log was read. */
function logWrites(
  { bootstrapId, instance, generation, expireAt }: Whose,
  found: Document<LogHeadRecord> | undefined,
  {
    before,
    read: soFar,
    text,
    at,
  }: {
    readonly before: LogHeadRecord;
    readonly read: ReadSoFar;
    readonly text: string;
    readonly at: Date;
  },
): Write[] {
  const head = { collection: collections.logHeads, id: logHeadId(bootstrapId, instance) };
  const data: LogHeadRecord = {
    ...before,
    // Followers see only this generation's log, so it begins here.
    ...(before.generation >= generation ? {} : { generation, begins: before.stored }),
    stored: before.stored + Buffer.byteLength(text),
    read: [...before.read.filter(({ source }) => source !== soFar.source), soFar].slice(-mostSources),
    expireAt,
  };
  const write: Write =
    found === undefined ? { kind: 'create', ...head, data } : { kind: 'update', ...head, version: found.version, data };
  if (text === '') return [write];
  const chunk = { schema: 1 as const, bootstrapId, instance, generation: data.generation, offset: before.stored, text };
  return [write, chunkWrite({ ...chunk, at: at.toISOString(), expireAt })];
}

const chunkWrite = (data: LogChunkRecord) =>
  ({
    kind: 'create',
    collection: collections.logs,
    id: logChunkId(data.bootstrapId, data.instance, data.offset),
    data,
  }) as const;

const tooLong = '\n[The log is longer than what is kept here; all of it is on the machine.]\n';

function textOf({ stored }: LogHeadRecord, maxStoredBytes: number, text: string): string {
  if (stored >= maxStoredBytes) return '';
  return stored + Buffer.byteLength(text) < maxStoredBytes ? text : tooLong.padEnd(maxStoredBytes - stored, ' ');
}

const deletedAtOnce = 200;

/** The logs may be more than one commit can delete. Heads go last, so that an interrupted removal finds the rest by them. */
export async function removeLogs(store: Store, bootstrapId: string): Promise<void> {
  const limit = deletedAtOnce;
  const findHeads = () =>
    store.query({ collection: collections.logHeads, where: [['bootstrapId', '==', bootstrapId]], limit });
  const findChunks = () =>
    store.query({ collection: collections.logs, where: [['bootstrapId', '==', bootstrapId]], limit });
  let heads = await findHeads();
  if (heads.length === 0) return;
  for (let chunks = await findChunks(); chunks.length > 0; chunks = await findChunks()) await removeAll(store, chunks);
  for (; heads.length > 0; heads = await findHeads()) await removeAll(store, heads);
}

async function removeAll(store: Store, documents: readonly Document[]): Promise<void> {
  try {
    await store.commit(documents.map(({ collection, id }) => ({ kind: 'delete', collection, id }) as const));
  } catch (error) {
    // Another removal was faster with some of them.
    if (!(error instanceof Conflict)) throw error;
  }
}
