/** Many bootstraps at once whose RSA keys don't get ready until all else that can be made stands. */
import { expect } from 'chai';
import type { Clock } from '../../functions/host/clock.js';
import { createKeyMaker } from '../../functions/host/keys.js';
import { vmsOf } from '../../functions/steps/topology.js';
import { people } from '../../local/stack/deployment.js';
import { createStack, type Stack } from '../../local/stack/stack.js';
import { createTestKeys } from '../../local/stack/test-keys.js';
import type { BootstrapOptions } from '../../shared/bootstrap/options.js';
import { StreamItem } from '../../shared/bootstrap/routes.js';
import { functionNames } from '../../shared/names.js';
import { optionsOf, sshPublicKey } from '../bench/stack.js';

/** Nobody who waits is to be without a line for longer. */
const silentSeconds = 15;
/** So often it is looked whether they hear something. */
const looks = 6;

/** Keys of which none gets ready before `open`. */
function createSlowKeys() {
  const pool = createTestKeys();
  let open: () => void = () => undefined;
  const opened = new Promise<void>((resolve) => {
    open = resolve;
  });
  let underWay = 0;
  let most = 0;
  const keys = createKeyMaker(async (kind) => {
    if (!kind.startsWith('rsa-')) return pool.make(kind);
    underWay += 1;
    most = Math.max(most, underWay);
    await opened;
    const pair = await pool.make(kind);
    underWay -= 1;
    return pair;
  });
  return { keys, open, most: () => most };
}

/** Once it is stopped, the time of the function that callers follow moves by `move` alone. */
function stoppable(clock: Clock) {
  const { now, after } = clock;
  const timers = new Set<{ readonly at: number; readonly work: () => void }>();
  let stoppedAt: number | undefined;
  const time = (): number => stoppedAt ?? now().getTime();
  function ring(): void {
    for (const timer of timers) {
      if (timer.at <= time() && timers.delete(timer)) setImmediate(timer.work);
    }
  }
  Object.assign(clock, {
    now: () => new Date(time()),
    after(seconds: number, work: () => void) {
      const timer = { at: time() + seconds * 1000, work };
      timers.add(timer);
      if (stoppedAt !== undefined) ring();
      else {
        after(seconds, () => {
          if (stoppedAt === undefined && timers.delete(timer)) work();
        });
      }
      return () => void timers.delete(timer);
    },
  });
  return {
    stop: () => {
      stoppedAt = now().getTime();
    },
    move(seconds: number) {
      stoppedAt = time() + seconds * 1000;
      ring();
    },
  };
}

/** What a caller hears of a bootstrap. A comment, which only says that all is well, is undefined. */
async function* follow(url: string, authorization: string): AsyncGenerator<StreamItem | undefined> {
  const reply = await fetch(url, { headers: { authorization } });
  let text = '';
  for await (const chunk of reply.body ?? []) {
    text += Buffer.from(chunk).toString();
    const blocks = text.split('\n\n');
    text = blocks.pop() ?? '';
    for (const block of blocks) {
      const data = /^data: (.*)$/m.exec(block)?.[1];
      yield data === undefined ? undefined : StreamItem.parse(JSON.parse(data));
    }
  }
}

/** Begins one and returns where its events are. */
async function begin(stack: Stack, authorization: string, name: string): Promise<string> {
  const reply = await fetch(`${stack.url}/bootstraps`, {
    method: 'POST',
    headers: { authorization, 'content-type': 'application/json' },
    body: JSON.stringify({ options: optionsOf(name), sshPublicKey }),
  });
  const body = (await reply.json()) as { readonly bootstrap: { readonly id: string } };
  expect(reply.status, JSON.stringify(body)).to.equal(201);
  return `${stack.url}/bootstraps/${body.bootstrap.id}/events`;
}

/** All that follow, as far as they have heard. */
function createFollowers(count: number) {
  const heard = Array.from({ length: count }, () => ({ lines: 0, vms: 0, last: undefined as StreamItem | undefined }));
  let wake: () => void = () => undefined;
  return {
    ends: () => heard.map(({ last }) => (last?.type === 'end' ? last.state : last?.type)),
    hear(i: number, item: StreamItem | undefined): void {
      const own = heard[i];
      if (own === undefined) return;
      own.lines += 1;
      own.last = item ?? own.last;
      if (item?.type === 'instance' && item.instance.startsWith('vm:') && item.state === 'done') own.vms += 1;
      wake();
    },
    lines: () => heard.map(({ lines }) => lines),
    async until(isSo: (own: (typeof heard)[number], i: number) => boolean): Promise<void> {
      while (!heard.every(isSo)) {
        await new Promise<void>((resolve) => {
          wake = resolve;
        });
      }
    },
  };
}

export function describeSlowKeys(count: number): void {
  describe(`${count} bootstraps at once, whose RSA keys take longer than all else together`, () => {
    it(`have two keys made at once at most. Each caller hears of every VM before the first key is there, and then something each ${silentSeconds} s`, async () => {
      const slow = createSlowKeys();
      const stack = await createStack({ keys: slow.keys });
      try {
        const door = stack.functionsHalf?.contextOf(functionNames.bootstraps);
        if (door === undefined) throw new Error('The functions must run here.');
        const time = stoppable(door.clock);
        const authorization = `Bearer ${(await stack.tokens(people.alice)).idToken}`;
        const names = Array.from({ length: count }, (_, i) => `slow-${i}`);
        const urls = await Promise.all(names.map((name) => begin(stack, authorization, name)));
        const followers = createFollowers(count);
        const followed = Promise.all(
          urls.map(async (url, i) => {
            for await (const item of follow(url, authorization)) followers.hear(i, item);
          }),
        );
        const vms = vmsOf({ multiDc: false } as BootstrapOptions).length;
        await followers.until((own) => own.vms === vms);
        time.stop();
        for (let look = 0; look < looks; look++) {
          const before = followers.lines();
          time.move(silentSeconds);
          await followers.until(({ lines }, i) => lines > (before[i] ?? 0));
        }
        slow.open();
        await followed;
        expect(new Set(followers.ends())).to.deep.equal(new Set(['succeeded']));
        expect(slow.most()).to.equal(2);
      } finally {
        await stack.close();
      }
    }).timeout(600_000);
  });
}
