import { v1 } from '@google-cloud/pubsub-api';
import { expect } from 'chai';
import { GoogleAuth, OAuth2Client } from 'google-auth-library';
import { owner, project, type ReadyCloud, readyCloud } from './ready-cloud.js';

const root = `/v1/projects/${project}`;
const encode = (text: string) => Buffer.from(text).toString('base64');

interface Received {
  ackId: string;
  message: { data: string; messageId: string };
}

describe('simulated Pub/Sub', () => {
  let cloud: ReadyCloud;
  const call = (line: string, body?: unknown) => cloud.call('pubsub', line, body);
  const received = async (subscription: string): Promise<Received[]> => {
    const reply = await call(`POST ${root}/subscriptions/${subscription}:pull`, {
      maxMessages: 10,
      returnImmediately: true,
    });
    return (reply.body['receivedMessages'] ?? []) as unknown as Received[];
  };

  before(async () => {
    cloud = await readyCloud();
    await call(`PUT ${root}/topics/news`, {});
    await call(`PUT ${root}/subscriptions/reader`, { topic: `projects/${project}/topics/news` });
    await call(`PUT ${root}/subscriptions/filtered`, {
      topic: `projects/${project}/topics/news`,
      filter: 'attributes.lane = "host"',
    });
  });
  after(() => cloud.close());

  it('fills in what a subscription leaves out', async () => {
    const { body } = await call(`GET ${root}/subscriptions/reader`);
    expect(body).to.deep.include({
      ackDeadlineSeconds: 10,
      messageRetentionDuration: '604800s',
      state: 'ACTIVE',
      pushConfig: {},
    });
  });

  it('hands a message to every subscription that wants it, until it is acknowledged', async () => {
    await call(`POST ${root}/topics/news:publish`, {
      messages: [
        { data: encode('one'), attributes: { lane: 'cloud' } },
        { data: encode('two'), attributes: { lane: 'host' } },
      ],
    });
    const all = await received('reader');
    expect(all.map(({ message }) => Buffer.from(message.data, 'base64').toString())).to.deep.equal(['one', 'two']);
    expect(await received('reader')).to.deep.equal([]);
    expect((await received('filtered')).map(({ message }) => message.data)).to.deep.equal([encode('two')]);
    const [first, second] = all;
    await call(`POST ${root}/subscriptions/reader:acknowledge`, { ackIds: [first?.ackId] });
    await call(`POST ${root}/subscriptions/reader:modifyAckDeadline`, {
      ackIds: [second?.ackId],
      ackDeadlineSeconds: 0,
    });
    await new Promise((resolve) => setTimeout(resolve, 15));
    expect((await received('reader')).map(({ message }) => message.messageId)).to.deep.equal([
      second?.message.messageId,
    ]);
  });

  it("speaks with Google's own client over REST", async () => {
    const { hostname, port } = new URL(cloud.endpoints.pubsub);
    const authClient = new OAuth2Client();
    authClient.setCredentials({ access_token: cloud.identity.accessToken(owner), expiry_date: Date.now() + 3_600_000 });
    const auth = new GoogleAuth({ authClient, projectId: project });
    const options = {
      projectId: project,
      auth: auth as never,
      fallback: true,
      apiEndpoint: hostname,
      port: Number(port),
      protocol: 'http',
    } as const;
    const publisher = new v1.PublisherClient(options);
    const subscriber = new v1.SubscriberClient(options);
    try {
      const name = `projects/${project}/topics/typed`;
      const subscription = `projects/${project}/subscriptions/typed-reader`;
      await publisher.createTopic({ name });
      await subscriber.createSubscription({ name: subscription, topic: name, ackDeadlineSeconds: 20 });
      const [{ messageIds }] = await publisher.publish({ topic: name, messages: [{ data: Buffer.from('typed') }] });
      expect(messageIds).to.have.length(1);
      const [{ receivedMessages }] = await subscriber.pull({ subscription, maxMessages: 1 });
      expect(String(receivedMessages?.[0]?.message?.data)).to.equal('typed');
      await subscriber.acknowledge({ subscription, ackIds: [receivedMessages?.[0]?.ackId ?? ''] });
      const [topics] = await publisher.listTopics({ project: `projects/${project}` });
      expect(topics.map((one) => one.name)).to.include(name);
      await subscriber.deleteSubscription({ subscription });
      await publisher.deleteTopic({ topic: name });
      const gone = await publisher.getTopic({ topic: name }).catch((error: { code: number }) => error.code);
      // gRPC's number, over REST as well.
      expect(gone).to.equal(5);
    } finally {
      await publisher.close();
      await subscriber.close();
    }
  });
});
