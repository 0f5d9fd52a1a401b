/** Stored logs as they are read: page by page as they were written, and for followers bounded, from where they were. */

import { expect } from 'chai';
import { logKey, readCursor, withLogs, writeCursor } from '../../functions/engine/record/cursor.js';
import { createStepLog } from '../../functions/engine/record/log.js';
import { listLogs, readLog, readLogNews } from '../../functions/engine/record/read-log.js';
import { realTimers } from '../../functions/host/clock.js';
import { createMemoryStore } from '../../local/functions/memory-store.js';
import { collections } from '../../shared/names.js';
import { redactorOf } from '../support/redactor.js';

const at = '2030-01-01T00:00:00.000Z';

/** Chunks as log.ts stores them, without its pauses. */
async function storeWith(instance: string, pieces: readonly string[], generation = 1) {
  const store = createMemoryStore();
  let offset = 0;
  for (const [n, text] of pieces.entries()) {
    const data = { schema: 1, bootstrapId: 'b1', instance, generation, offset, text, at, expireAt: at };
    await store.commit([{ kind: 'set', collection: collections.logs, id: `b1~${instance}~${n}`, data }]);
    offset += Buffer.byteLength(text);
  }
  const head = {
    schema: 1,
    bootstrapId: 'b1',
    instance,
    generation,
    stored: offset,
    begins: 0,
    read: [],
    expireAt: at,
  };
  await store.commit([{ kind: 'set', collection: collections.logHeads, id: `b1~${instance}`, data: head }]);
  return { store };
}

const nothing = { generation: 1, offsets: new Map<string, number>() };

describe('a stored log', () => {
  it('comes page by page as it was written', async () => {
    const pieces = Array.from({ length: 40 }, (_, n) => `line ${n} – wörd\n`);
    const parts = await storeWith('install:dc1', pieces);
    let text = '';
    let pages = 0;
    for (let offset = 0, more = true; more; pages++) {
      const page = await readLog(parts, 'b1', 'install:dc1', offset);
      text += page.chunks.map((chunk) => chunk.text).join('');
      ({ next: offset, more } = page);
    }
    expect(text).to.equal(pieces.join(''));
    expect(pages).to.equal(3);
    expect(await readLog(parts, 'b1', 'install:dc1', Buffer.byteLength(text))).to.deep.equal({
      instance: 'install:dc1',
      chunks: [],
      next: Buffer.byteLength(text),
      more: false,
    });
    expect((await readLog(parts, 'b2', 'install:dc1', 0)).chunks).to.deep.equal([]);
  });

  it('is listed with what is in it, and where the last generation begins', async () => {
    const store = createMemoryStore();
    const clock = { ...realTimers, now: () => new Date(), wait: async () => undefined };
    for (const generation of [1, 2]) {
      const whose = { bootstrapId: 'b1', instance: 'package', generation, expireAt: at };
      await createStepLog({ store, clock }, whose, redactorOf()).append(
        `job-${generation}`,
        0,
        Buffer.from('12345\n'),
        true,
      );
    }
    expect(await listLogs({ store }, 'b1')).to.deep.equal([
      { instance: 'package', generation: 2, begins: 6, bytes: 12 },
    ]);
  });

  it('is told to followers from where they were, and never twice', async () => {
    const parts = await storeWith('install:dc1', ['one\n', 'two\n', 'three\n']);
    const [first] = await readLogNews(parts, 'b1', nothing, ['install:dc1', 'package']);
    expect(first).to.have.nested.property('event.text', 'one\ntwo\nthree\n');
    const from = (offset: number) => ({ generation: 1, offsets: new Map([[logKey('install:dc1'), offset]]) });
    const [rest] = await readLogNews(parts, 'b1', from(4), ['install:dc1']);
    expect(rest?.event).to.include({ offset: 4, text: 'two\nthree\n' }).and.not.have.property('skipped');
    expect(await readLogNews(parts, 'b1', from(first?.next ?? 0), ['install:dc1'])).to.deep.equal([]);
    expect(
      await readLogNews(parts, 'b1', { ...nothing, generation: 2 }, ['install:dc1']),
      'another generation',
    ).to.deep.equal([]);
  });

  it('is told by its last lines where it is much, however it is cut', async () => {
    const line = `${'ä'.repeat(40)}\n`;
    for (const pieces of [
      Array.from({ length: 300 }, () => line.repeat(10)),
      [line.repeat(3000)],
      ['ä'.repeat(120_000)],
    ]) {
      const parts = await storeWith('install:dc1', pieces);
      const all = pieces.join('');
      const [news, ...more] = await readLogNews(parts, 'b1', nothing, ['install:dc1']);
      expect(more).to.deep.equal([]);
      const { text = '', offset, skipped = 0 } = news?.event ?? {};
      expect(Buffer.byteLength(text)).to.be.within(31 * 1024, 32 * 1024);
      expect(all.endsWith(text)).to.equal(true);
      expect(text).not.to.include('\uFFFD');
      expect([skipped, offset, news?.next]).to.deep.equal([
        Buffer.byteLength(all) - Buffer.byteLength(text),
        skipped,
        Buffer.byteLength(all),
      ]);
    }
  });
});

describe('a cursor', () => {
  it('says how far events and logs were told, and those of releases without logs still do', () => {
    const logs = {
      generation: 3,
      offsets: new Map([
        [logKey('install:dc1'), 8_388_607],
        [logKey('package'), 0],
      ]),
    };
    const cursor = withLogs(writeCursor({ event: 17 }), logs);
    expect(readCursor(cursor)).to.deep.equal({ event: 17, logs });
    expect(readCursor(Buffer.from('1.17').toString('base64url'))).to.deep.equal({ event: 17 });
    expect(readCursor(undefined)).to.deep.equal({ event: 0 });
  });

  it('stays short enough for a header', () => {
    const offsets = new Map(Array.from({ length: 500 }, (_, n) => [logKey(`step:${n}`), 8_000_000 + n]));
    const cursor = writeCursor({ event: 99_999, logs: { generation: 99, offsets } });
    expect(cursor.length).to.be.below(4096);
    expect(readCursor(cursor).logs?.offsets.get(logKey('step:499'))).to.equal(8_000_499);
  });

  it('is refused where it is none', () => {
    for (const text of [
      '',
      '1',
      '1.',
      '3.1',
      '1.1.1.aaaaaaa:1',
      '2.1',
      '2.1.1.',
      '2.1.1.xyz:1',
      `1.${'9'.repeat(12)}`,
    ]) {
      expect(() => readCursor(Buffer.from(text).toString('base64url')), text).to.throw('The cursor is none of ours');
    }
  });
});
