/** Logs of jobs in documents: whoever is killed where, no byte is lost and none is double; and no secret, however it is cut. */

import { expect } from 'chai';
import { createStepLog, removeLogs } from '../../functions/engine/record/log.js';
import type { StepLog } from '../../functions/engine/step.js';
import { realTimers } from '../../functions/host/clock.js';
import type { Store } from '../../functions/store/store.js';
import { createMemoryStore } from '../../local/functions/memory-store.js';
import { collections } from '../../shared/names.js';
import { redactorOf } from '../support/redactor.js';

const clock = { ...realTimers, now: () => new Date(), wait: async () => undefined };
const whose = { bootstrapId: 'b1', instance: 'k0s:k0s-1', generation: 1, expireAt: '2030-01-01T00:00:00.000Z' };
const logOn = (store: Store, secrets: readonly string[] = [], changes = {}): StepLog =>
  createStepLog({ store, clock }, { ...whose, ...changes }, redactorOf(...secrets));

async function storedIn(store: Store): Promise<string> {
  const chunks = await store.query({ collection: collections.logs, where: [['bootstrapId', '==', 'b1']] });
  const inOrder = chunks.sort((a, b) => Number(a.data['offset']) - Number(b.data['offset']));
  let text = '';
  for (const { data } of inOrder) {
    expect(data['offset']).to.equal(Buffer.byteLength(text));
    text += data['text'];
  }
  return text;
}

/** As a step does it: reads from where the log says, so many bytes at a time. */
async function follow(log: StepLog, bytes: Buffer, atOnce: number): Promise<void> {
  let at = await log.offset('job');
  for (let from = at, take = atOnce; at < bytes.length; ) {
    at = await log.append('job', from, bytes.subarray(from, from + take), from + take >= bytes.length);
    take = at === from ? take + atOnce : atOnce;
    from = at;
  }
}

const killedAt = (store: Store, call: number, after: boolean): Store => {
  let calls = 0;
  const guarded = async <T>(work: () => Promise<T>): Promise<T> => {
    calls += 1;
    if (calls > call || (calls === call && !after)) throw new Error('killed');
    const answer = await work();
    if (calls === call) throw new Error('killed');
    return answer;
  };
  return {
    ...store,
    get: (...of) => guarded(() => store.get(...of)),
    commit: (...of) => guarded(() => store.commit(...of)),
  };
};

describe('the log of a step', () => {
  it('is whole whatever call the function is killed before or after', async () => {
    const bytes = Buffer.from('one wörd and another secret-value, then the end\n');
    const deaths = [false, true].flatMap((after) => [1, 2, 3, 4, 5, 6, 7, 8].map((call) => ({ after, call })));
    // Side by side, as a store that does not answer is asked again only after a while.
    await Promise.all(
      deaths.map(async ({ after, call }) => {
        const store = createMemoryStore();
        await follow(logOn(killedAt(store, call, after), ['secret-value']), bytes, 25).catch((error: Error) =>
          expect(error.message).to.equal('killed'),
        );
        await follow(logOn(store, ['secret-value']), bytes, 25);
        expect(await storedIn(store), `${after ? 'after' : 'before'} call ${call}`).to.equal(
          'one wörd and another <secret>, then the end\n',
        );
      }),
    );
  }).timeout(240_000);

  it('doubles nothing when two write at once', async () => {
    const store = createMemoryStore();
    const bytes = Buffer.from('0123456789'.repeat(4));
    await Promise.all([follow(logOn(store), bytes, 20), follow(logOn(store), bytes, 20)]);
    expect(await storedIn(store)).to.equal(bytes.toString());
  });

  it('goes on behind what an earlier generation stored', async () => {
    const store = createMemoryStore();
    await logOn(store).append('job', 0, Buffer.from('first\n'), true);
    await logOn(store, [], { generation: 2 }).append('job-2', 0, Buffer.from('second\n'), true);
    expect(await storedIn(store)).to.equal('first\nsecond\n');
    const [head] = await store.query({ collection: collections.logHeads });
    expect(head?.data).to.include({ generation: 2, begins: 6, stored: 13 });
  });

  it('keeps back what may be half a secret, or half a character, wherever it is cut', () => {
    const text = Buffer.from('a sécret-value-é and xs-and-more-sécret');
    const secrets = ['sécret-value-é', 'xs-and-more'];
    const { shownLength } = redactorOf(...secrets);
    for (let end = 0; end <= text.length; end++) {
      const part = text.subarray(0, end);
      const shown = part.subarray(0, shownLength(part)).toString();
      for (let rest = shown; ; rest = rest.slice(1)) {
        if (secrets.some((secret) => rest !== '' && secret !== rest && secret.startsWith(rest))) {
          expect.fail(`${end}: shows "${shown}"`);
        }
        if (rest === '') break;
      }
      expect(shown).not.to.include('\uFFFD');
    }
    expect(shownLength(Buffer.from('nothing of it'))).to.equal(13);
  });

  it('leaves out the half of a secret that it broke off in', async () => {
    const store = createMemoryStore();
    const log = logOn(store, ['secret-value']);
    const text = Buffer.from('it says secret-val');
    expect(log.lastLine(text, true)).to.equal('it says <secret>');
    expect(log.lastLines(text, 1)).to.equal('it says <secret>');
    expect(await log.append('job', 0, text, true)).to.equal(text.length);
    expect(await storedIn(store)).to.equal('it says <secret>');
    expect(log.lastLine(Buffer.from('as ever, all is so'), true)).to.equal('as ever, all is so');
  });

  it('leaves out the rest of a line that broke off in a secret, if something goes on writing it', async () => {
    const secret = 'secret-value';
    const whole = `it says ${secret}, and more\nthe next line\n`;
    for (let end = 'it says '.length + 1; end < `it says ${secret}`.length; end++) {
      const store = createMemoryStore();
      const bytes = Buffer.from(whole);
      await logOn(store, [secret]).append('job', 0, bytes.subarray(0, end), true);
      const before = await storedIn(store);
      // It comes piece by piece, each to a follower that knows only what is stored.
      for (let at = end, to = end + 2; at < bytes.length; to += 2) {
        at = await logOn(store, [secret]).append('job', at, bytes.subarray(at, to), to >= bytes.length);
      }
      expect(await storedIn(store), whole.slice(0, end)).to.equal(`${before}\nthe next line\n`);
    }
  });

  it('stays under its bound, and says so', async () => {
    const store = createMemoryStore();
    const log = createStepLog({ store, clock }, whose, redactorOf(), 1000);
    let at = 0;
    for (let n = 0; n < 3; n++) at = await log.append('job', at, Buffer.alloc(600, 'x'), false);
    expect(at).to.equal(1800);
    const text = await storedIn(store);
    expect(text.length).to.equal(1000);
    expect(text).to.include('longer than what is kept here');
    const much = await logOn(store, [], { instance: 'other' }).append('job', 0, Buffer.alloc(2_000_000, 'x'), true);
    expect(much).to.equal(256 * 1024);
  });

  it('goes with the bootstrap', async () => {
    const store = createMemoryStore();
    await logOn(store).append('job', 0, Buffer.from('first\n'), true);
    // More than one commit takes.
    const [first] = await store.query({ collection: collections.logs });
    for (let n = 0; n < 450; n++) {
      const data = { ...first?.data, offset: 100 + n };
      await store.commit([{ kind: 'create', collection: collections.logs, id: `b1~job~more-${n}`, data }]);
    }
    await logOn(store, [], { bootstrapId: 'b2' }).append('job', 0, Buffer.from('of another\n'), true);
    await removeLogs(store, 'b1');
    for (const collection of [collections.logs, collections.logHeads]) {
      expect((await store.query({ collection })).map(({ data }) => data['bootstrapId'])).to.deep.equal(['b2']);
    }
  });
});
