/** Where a message of the webhook goes: to no address of the function itself or of its metadata server, whatever name leads there. */
import type { LookupAddress } from 'node:dns';
import type { LookupFunction } from 'node:net';
import { expect } from 'chai';
import { postWebhook } from '../../functions/webhook/webhook.js';
import { type Receiver, startReceiver } from '../support/webhook-receiver.js';

const keys = [Buffer.alloc(32, 1)];
const message = { id: 'msg_1', body: '{}', at: new Date() };

describe('a message of the webhook', () => {
  let receiver: Receiver;
  let port: string;
  before(async () => {
    receiver = await startReceiver();
    ({ port } = new URL(receiver.url));
  });
  after(() => receiver.close());
  beforeEach(() => void receiver.received.splice(0));

  /** A resolver that gives the next of these answers at each question. */
  function resolving(...answers: readonly (readonly string[])[]) {
    const asked: string[] = [];
    const lookup: LookupFunction = (name, _options, callback) => {
      const addresses = (answers[asked.length] ?? answers.at(-1) ?? []).map(
        (address): LookupAddress => ({ address, family: address.includes(':') ? 6 : 4 }),
      );
      asked.push(name);
      callback(null, addresses);
    };
    return { lookup, asked };
  }
  const post = (url: string, lookup?: LookupFunction) => postWebhook(url, keys, message, lookup);

  for (const address of [
    '127.0.0.1',
    '127.9.9.9',
    '0.0.0.0',
    '169.254.169.254',
    '169.254.0.1',
    '::1',
    '::',
    'fe80::1',
    'fd20:ce::254',
    'fd00:ec2::254',
    '::ffff:127.0.0.1',
    '::ffff:a9fe:a9fe',
    '64:ff9b::a9fe:a9fe',
  ]) {
    it(`is not sent to an address of the function or of a metadata server, by a name or without: ${address}`, async () => {
      for (const found of [[address], ['203.0.113.1', address], [address, '203.0.113.1']]) {
        const { lookup, asked } = resolving(found);
        const end = await post(`http://hooks.example.com:${port}/hook`, lookup);
        expect(end).to.include({ taken: false, final: false });
        expect('why' in end && end.why, asked.join()).to.contain(`hooks.example.com leads to ${address}`);
        expect(asked).to.deep.equal(['hooks.example.com']);
      }
      if (address !== '127.0.0.1' && address !== '::1') {
        const host = address.includes(':') ? `[${address}]` : address;
        const end = await post(`http://${host}:${port}/hook`);
        expect('why' in end && end.why).to.match(/ leads to /);
      }
      expect(receiver.received).to.deep.equal([]);
    });
  }

  it('is not sent to a name that leads elsewhere at the next question: what is checked is what is connected to', async () => {
    const { lookup, asked } = resolving(['127.0.0.1'], ['203.0.113.1']);
    expect(await post(`http://hooks.example.com:${port}/hook`, lookup)).to.include({ taken: false });
    expect(asked).to.have.length(1);
    expect(receiver.received).to.deep.equal([]);
  });

  it('is sent to this computer where the setting itself names it', async () => {
    for (const host of ['127.0.0.1', 'localhost', 'hooks.localhost']) {
      const { lookup } = resolving(['127.0.0.1']);
      expect(await post(`http://${host}:${port}/hook`, lookup), host).to.include({ taken: true });
    }
    expect(receiver.received).to.have.length(3);
    const { lookup } = resolving(['169.254.169.254']);
    expect(await post(`http://hooks.localhost:${port}/hook`, lookup)).to.include({ taken: false });
  });
});
