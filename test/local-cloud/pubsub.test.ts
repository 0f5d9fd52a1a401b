import { v1 } from '@google-cloud/pubsub';
import { expect } from 'chai';
import { GoogleAuth, OAuth2Client } from 'google-auth-library';
import { owner, project, type ReadyCloud, readyCloud } from './ready-cloud.js';

const root = `/v1/projects/${project}`;

describe('simulated Pub/Sub', () => {
  let cloud: ReadyCloud;
  const call = (line: string, body?: unknown) => cloud.call('pubsub', line, body);
  before(async () => {
    cloud = await readyCloud();
  });
  after(() => cloud.close());

  it('changes the fields of a topic that the mask names', async () => {
    await call(`PUT ${root}/topics/news`, { labels: { a: 'b' } });
    const topic = { labels: { c: 'd' }, messageRetentionDuration: '600s' };
    const { body } = await call(`PATCH ${root}/topics/news`, { topic, updateMask: 'message_retention_duration' });
    expect(body).to.deep.include({ labels: { a: 'b' }, messageRetentionDuration: '600s' });
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
    try {
      const name = `projects/${project}/topics/typed`;
      await publisher.createTopic({ name });
      const [{ messageIds }] = await publisher.publish({ topic: name, messages: [{ data: Buffer.from('typed') }] });
      expect(messageIds).to.have.length(1);
      const [topics] = await publisher.listTopics({ project: `projects/${project}` });
      expect(topics.map((one) => one.name)).to.include(name);
      await publisher.deleteTopic({ topic: name });
      const gone = await publisher.getTopic({ topic: name }).catch((error: { code: number }) => error.code);
      // gRPC's number, over REST as well.
      expect(gone).to.equal(5);
    } finally {
      await publisher.close();
    }
  });
});
