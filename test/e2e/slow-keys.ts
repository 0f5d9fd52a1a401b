/** Many bootstraps at once whose RSA keys don't get ready until all else that can be made stands. */
import { expect } from 'chai';
import { optionsOf, sshPublicKey } from '../../bench/bootstrap.js';
import { createKeyMaker } from '../../functions/host/keys.js';
import { vmsOf } from '../../functions/steps/topology.js';
import { people } from '../../local/stack/deployment.js';
import { createStack } from '../../local/stack/stack.js';
import { createTestKeys } from '../../local/stack/test-keys.js';
import type { BootstrapOptions } from '../../shared/bootstrap/options.js';
import { StreamItem } from '../../shared/bootstrap/routes.js';

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

/** What a caller hears of a bootstrap. */
async function* follow(url: string, authorization: string): AsyncGenerator<StreamItem> {
  const reply = await fetch(url, { headers: { authorization } });
  let text = '';
  for await (const chunk of reply.body ?? []) {
    text += Buffer.from(chunk).toString();
    const blocks = text.split('\n\n');
    text = blocks.pop() ?? '';
    for (const block of blocks) {
      const data = /^data: (.*)$/m.exec(block)?.[1];
      if (data !== undefined) yield StreamItem.parse(JSON.parse(data));
    }
  }
}

export function describeSlowKeys(count: number): void {
  describe(`${count} bootstraps at once, whose RSA keys take as long as all else together`, () => {
    it('have two keys made at once at most, and each caller hears of every VM before the first key is there', async () => {
      const slow = createSlowKeys();
      const stack = await createStack({ keys: slow.keys });
      try {
        const { idToken } = await stack.tokens(people.alice);
        const authorization = `Bearer ${idToken}`;
        const begin = async (_: unknown, i: number): Promise<string> => {
          const reply = await fetch(`${stack.url}/bootstraps`, {
            method: 'POST',
            headers: { authorization, 'content-type': 'application/json' },
            body: JSON.stringify({ options: optionsOf(`slow-${i}`), sshPublicKey }),
          });
          const body = (await reply.json()) as { readonly bootstrap: { readonly id: string } };
          expect(reply.status, JSON.stringify(body)).to.equal(201);
          return `${stack.url}/bootstraps/${body.bootstrap.id}/events`;
        };
        const urls = await Promise.all(Array.from({ length: count }, begin));
        const vms = vmsOf({ multiDc: false } as BootstrapOptions).length;
        let waiting = count;
        const ends = await Promise.all(
          urls.map(async (url) => {
            let [stand, last] = [0, undefined as StreamItem | undefined];
            for await (const item of follow(url, authorization)) {
              last = item;
              if (item.type !== 'instance' || !item.instance.startsWith('vm:') || item.state !== 'done') continue;
              stand += 1;
              if (stand === vms && --waiting === 0) slow.open();
            }
            return last?.type === 'end' ? last.state : last?.type;
          }),
        );
        expect(new Set(ends)).to.deep.equal(new Set(['succeeded']));
        expect(slow.most()).to.equal(2);
      } finally {
        await stack.close();
      }
    });
  });
}
