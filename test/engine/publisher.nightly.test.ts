import { expect } from 'chai';
import { readConfig } from '../../functions/config.js';
import { createPublisher } from '../../functions/publisher.js';
import { type Emulator, startEmulator } from '../../local/emulators/emulators.js';
import { topics } from '../../shared/names.js';

describe("the publisher, on Google's Pub/Sub emulator", () => {
  let emulator: Emulator;
  before(async function () {
    this.timeout(240_000);
    emulator = await startEmulator('pubsub');
  });
  after(() => emulator?.close());

  const ask = async (method: string, path: string, body: object): Promise<unknown> => {
    const reply = await fetch(`http://${emulator.host}/v1/projects/plinth-test/${path}`, {
      method,
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(body),
    });
    expect(reply.status, await reply.clone().text()).to.equal(200);
    return reply.json();
  };

  it('delivers each message with its trace', async () => {
    const topic = topics.cloud;
    await ask('PUT', `topics/${topic}`, {});
    await ask('PUT', 'subscriptions/test', { topic: `projects/plinth-test/topics/${topic}` });
    const publisher = createPublisher(
      readConfig({
        PLINTH_PROJECT: 'plinth-test',
        PLINTH_DEPLOYMENT: 'test',
        PLINTH_MACHINE_ACCESS: 'direct',
        PLINTH_SSH_SOURCE_RANGES: '127.0.0.0/8',
        PUBSUB_EMULATOR_HOST: emulator.host,
      }),
    );
    const messages = Array.from({ length: 1200 }, (_, n) => ({
      schema: 1 as const,
      bootstrapId: 'b1',
      instance: `vm:k0s-${n}`,
      generation: 1,
    }));
    const traceparent = `00-${'a'.repeat(32)}-${'b'.repeat(16)}-01`;
    await publisher.publish('cloud', messages, { traceparent });
    await publisher.close();

    const seen = new Set<string>();
    while (seen.size < messages.length) {
      const { receivedMessages = [] } = (await ask('POST', 'subscriptions/test:pull', { maxMessages: 1000 })) as {
        receivedMessages?: { ackId: string; message: { data: string; attributes: Record<string, string> } }[];
      };
      for (const { message } of receivedMessages) {
        expect(message.attributes).to.deep.equal({ traceparent });
        seen.add(Buffer.from(message.data, 'base64').toString());
      }
      await ask('POST', 'subscriptions/test:acknowledge', { ackIds: receivedMessages.map(({ ackId }) => ackId) });
    }
    expect([...seen].sort()).to.deep.equal(messages.map((message) => JSON.stringify(message)).sort());
  }).timeout(240_000);

  it('says so when Pub/Sub cannot be reached', async () => {
    const publisher = createPublisher(
      readConfig({
        PLINTH_PROJECT: 'plinth-test',
        PLINTH_DEPLOYMENT: 'test',
        PLINTH_MACHINE_ACCESS: 'direct',
        PLINTH_SSH_SOURCE_RANGES: '127.0.0.0/8',
        PUBSUB_EMULATOR_HOST: '127.0.0.1:1',
      }),
    );
    const message = { schema: 1 as const, bootstrapId: 'b1', instance: 'a', generation: 1 };
    const error = await publisher.publish('cloud', [message]).catch((thrown: unknown) => thrown);
    expect(error).to.deep.include({ code: 'unavailable' });
    await publisher.close();
  }).timeout(240_000);
});
