import { mkdtempSync, rmSync } from 'node:fs';
import { createServer, type IncomingHttpHeaders, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import { createRemoteJWKSet, jwtVerify } from 'jose';
import { createDeliveries, type Deliveries, type DeliveriesOptions } from '../../local/cloud/pubsub/deliveries.js';
import { project, type ReadyCloud, readyCloud } from './ready-cloud.js';

interface Event {
  headers: IncomingHttpHeaders;
  body: {
    message: { data?: string; attributes?: Record<string, string>; messageId: string; publishTime: string };
    subscription: string;
    deliveryAttempt?: number;
  };
}

const topic = `projects/${project}/topics/steps`;
const serviceAccount = `eventarc@${project}.iam.gserviceaccount.com`;

/** A function's end: keeps what it hears and answers as told. */
async function startReceiver(answer: (event: Event, count: number) => number | Promise<number> = () => 204) {
  const events: Event[] = [];
  let underWay = 0;
  let most = 0;
  const server: Server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', async () => {
      const event = { headers: request.headers, body: JSON.parse(Buffer.concat(chunks).toString()) as Event['body'] };
      underWay += 1;
      most = Math.max(most, underWay);
      const status = await answer(event, events.push(event));
      underWay -= 1;
      response.writeHead(status).end();
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/`,
    events,
    texts: () => events.map(({ body }) => Buffer.from(body.message.data ?? '', 'base64').toString()),
    most: () => most,
    close: () => new Promise((resolve) => server.close(resolve).closeAllConnections()),
  };
}

type Receiver = Awaited<ReturnType<typeof startReceiver>>;

describe('deliveries of Pub/Sub messages to functions', () => {
  let cloud: ReadyCloud;
  let receiver: Receiver;
  let deliveries: Deliveries;

  const begin = async (
    given: Partial<DeliveriesOptions> & {
      answer?: Parameters<typeof startReceiver>[0];
      retry?: boolean;
      timeFactor?: number;
    } = {},
  ) => {
    const { answer, retry = true, timeFactor = 0, ...options } = given;
    cloud = await readyCloud({ timeFactor });
    receiver = await startReceiver(answer);
    deliveries = createDeliveries({ world: cloud.world, identity: cloud.identity, ...options });
    deliveries.addTrigger({ name: 'run-step', topic, url: receiver.url, serviceAccount, retry });
  };
  const publish = (...texts: string[]) =>
    cloud.call('pubsub', `POST /v1/${topic}:publish`, {
      messages: texts.map((text) => ({ data: Buffer.from(text).toString('base64'), attributes: { lane: 'cloud' } })),
    });

  afterEach(async () => {
    await deliveries?.close();
    await receiver?.close();
    await cloud?.close();
  });

  it('arrive as binary CloudEvents with a token of the calling identity', async () => {
    await begin();
    const reply = await publish('hello');
    await deliveries.settled();
    expect(receiver.texts()).to.deep.equal(['hello']);
    const [event] = receiver.events;
    const [messageId] = reply.body['messageIds'] as string[];
    expect(event?.headers).to.include({
      'content-type': 'application/json',
      'ce-specversion': '1.0',
      'ce-id': messageId,
      'ce-source': `//pubsub.googleapis.com/${topic}`,
      'ce-type': 'google.cloud.pubsub.topic.v1.messagePublished',
      'ce-time': event?.body.message.publishTime,
    });
    expect(event?.body).to.deep.include({
      subscription: `projects/${project}/subscriptions/eventarc-run-step-sub`,
      deliveryAttempt: 1,
    });
    expect(event?.body.message).to.deep.include({ messageId, attributes: { lane: 'cloud' } });
    const token = (event?.headers.authorization ?? '').replace('Bearer ', '');
    const { payload } = await jwtVerify(token, createRemoteJWKSet(new URL(cloud.identity.jwksUrl)), {
      audience: receiver.url,
    });
    expect(payload).to.include({ email: serviceAccount, email_verified: true, iss: cloud.issuerUrl });
  });

  it('come again with a rising attempt until the function says 2xx', async () => {
    const failures: string[] = [];
    await begin({ answer: (_event, count) => (count < 4 ? 500 : 200), onFailure: ({ why }) => failures.push(why) });
    await publish('stubborn');
    await deliveries.settled();
    expect(receiver.events.map(({ body }) => body.deliveryAttempt)).to.deep.equal([1, 2, 3, 4]);
    expect(failures).to.have.length(3);
    expect(failures[0]).to.match(/^500/);
  });

  it('wait longer after every failure, 10 to 600 s of cloud time', async () => {
    const heard: number[] = [];
    const answer = () => (heard.push(Date.now()) < 4 ? 503 : 200);
    await begin({ timeFactor: 0.005, answer });
    await publish('slow down');
    await deliveries.settled();
    const gaps = heard.slice(1).map((at, index) => at - (heard[index] ?? 0));
    // 600 s would be 3000 ms. A busy computer adds to each wait.
    for (const [index, least] of [45, 95, 195].entries()) expect(gaps[index]).to.be.within(least, 2000);
  });

  it('end after one attempt where retries are off, as they are by default', async () => {
    await begin({ answer: () => 500, retry: false });
    await publish('once');
    await deliveries.settled();
    expect(receiver.events).to.have.length(1);
  });

  it('are bounded in number at a time', async () => {
    await begin({ concurrency: 3, answer: () => new Promise((resolve) => setTimeout(resolve, 10, 200)) });
    await publish(...Array.from({ length: 12 }, (_, index) => `m${index}`));
    await deliveries.settled();
    expect(receiver.events).to.have.length(12);
    expect(receiver.most()).to.equal(3);
  });

  it('are doubled and reordered by the seed, the same way each time', async () => {
    const texts = Array.from({ length: 30 }, (_, index) => `m${index}`);
    const orders: string[][] = [];
    for (const seed of [7, 7, 8]) {
      await begin({ duplicates: 0.3, reordering: 0.5, concurrency: 1, seed });
      await publish(...texts);
      await deliveries.settled();
      orders.push(receiver.texts());
      await deliveries.close();
      await receiver.close();
      await cloud.close();
    }
    const [first = [], second = [], other = []] = orders;
    expect(first).to.deep.equal(second);
    expect(first).not.to.deep.equal(other);
    expect(first.length).to.be.greaterThan(30);
    expect(new Set(first)).to.have.property('size', 30);
    expect([...new Set(first)]).not.to.deep.equal(texts);
  });

  it('can be waited for: idle leaves out what waits for another attempt', async () => {
    await begin({ timeFactor: 1, answer: () => 500 });
    await publish('later');
    await deliveries.idle();
    expect(receiver.events).to.have.length(1);
    expect(deliveries.pending()).to.equal(1);
  });

  it('go to a function that is deployed anew without further wait', async () => {
    await begin({ timeFactor: 1, answer: () => 500 });
    await publish('patient');
    await deliveries.idle();
    const next = await startReceiver();
    deliveries.addTrigger({ name: 'run-step', topic, url: next.url, serviceAccount, retry: true });
    await deliveries.settled();
    expect(next.texts()).to.deep.equal(['patient']);
    await next.close();
  });

  it('are broken off by close, and leave the message to be delivered again', async () => {
    let arrived = () => {};
    const arrival = new Promise<void>((resolve) => (arrived = resolve));
    const answer = () => {
      arrived();
      return new Promise<number>(() => {});
    };
    await begin({ answer });
    await publish('cut off');
    await arrival;
    await deliveries.close();
    expect(deliveries.pending()).to.equal(1);
  });

  it('outlive the cloud: what was not acknowledged comes after a restart', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'deliveries-'));
    const snapshotFile = join(folder, 'cloud.json');
    try {
      const first = await readyCloud({ snapshotFile });
      const early = createDeliveries({ world: first.world, identity: first.identity });
      early.addTrigger({ name: 'run-step', topic, url: 'http://127.0.0.1:9/', serviceAccount, retry: true });
      cloud = first;
      await publish('survivor');
      await early.idle();
      await early.close();
      await first.close();

      cloud = await readyCloud({ snapshotFile });
      receiver = await startReceiver();
      deliveries = createDeliveries({ world: cloud.world, identity: cloud.identity });
      deliveries.addTrigger({ name: 'run-step', topic, url: receiver.url, serviceAccount, retry: true });
      await deliveries.settled();
      expect(receiver.texts()).to.deep.equal(['survivor']);
      expect(receiver.events[0]?.body.deliveryAttempt).to.be.greaterThan(1);
    } finally {
      rmSync(folder, { recursive: true });
    }
  });
});
