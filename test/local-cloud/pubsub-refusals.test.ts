import { commonRefusals } from './common-refusals.js';
import { project, type ReadyCloud, readyCloud } from './ready-cloud.js';
import { itRefuses, type Refusal } from './refusals.js';

const root = '/v1/projects/P';
const topic = `projects/${project}/topics/news`;
const data = Buffer.from('x').toString('base64');

describe('simulated Pub/Sub, bad requests', () => {
  let cloud: ReadyCloud;
  before(async () => {
    cloud = await readyCloud();
    await cloud.call('pubsub', `PUT ${root}/topics/news`, {});
    await cloud.call('pubsub', `PUT ${root}/subscriptions/reader`, { topic });
    await cloud.call('pubsub', `PUT ${root}/subscriptions/pushed`, {
      topic,
      pushConfig: { pushEndpoint: 'http://127.0.0.1:9/' },
    });
  });
  after(() => cloud.close());

  const refused = (
    name: string,
    line: string,
    body: unknown,
    code: number,
    reason: string,
    says?: RegExp,
  ): Refusal => ({
    name,
    api: 'pubsub',
    line,
    body,
    code,
    reason,
    ...(says === undefined ? {} : { says }),
  });
  const invalid = [400, 'INVALID_ARGUMENT'] as const;
  const publish = `POST ${root}/topics/news:publish`;
  const subscribe = `PUT ${root}/subscriptions/other`;

  itRefuses(() => cloud, commonRefusals('pubsub', publish, { messages: [{ data }] }));
  itRefuses(
    () => cloud,
    [
      refused('a topic of two letters', `PUT ${root}/topics/ab`, {}, ...invalid, /Invalid resource name given/),
      refused('a topic that begins with goog', `PUT ${root}/topics/google-news`, {}, ...invalid),
      refused('a topic that exists', `PUT ${root}/topics/news`, {}, 409, 'ALREADY_EXISTS', /\(resource=news\)/),
      refused(
        'a look at a topic that is not there',
        `GET ${root}/topics/none`,
        undefined,
        404,
        'NOT_FOUND',
        /^Resource not found \(resource=none\)\.$/,
      ),
      refused(
        'publishing to a topic that is not there',
        `POST ${root}/topics/none:publish`,
        { messages: [{ data }] },
        404,
        'NOT_FOUND',
      ),
      refused('publishing nothing', publish, { messages: [] }, ...invalid),
      refused('an empty message', publish, { messages: [{}] }, ...invalid, /non-empty data/),
      refused('data that is not base64', publish, { messages: [{ data: '###' }] }, ...invalid, /Base64/),
      refused(
        '1001 messages',
        publish,
        { messages: Array.from({ length: 1001 }, () => ({ data })) },
        ...invalid,
        /1001/,
      ),
      refused('an attribute that is a number', publish, { messages: [{ attributes: { a: 1 } }] }, ...invalid),
      refused("an attribute of Google's", publish, { messages: [{ attributes: { googclient: 'x' } }] }, ...invalid),
      refused('a subscription without topic', subscribe, {}, ...invalid),
      refused(
        'a subscription of a topic that is not there',
        subscribe,
        { topic: `projects/${project}/topics/none` },
        404,
        'NOT_FOUND',
      ),
      refused('a topic that is no name', subscribe, { topic: 'news' }, ...invalid),
      refused('a subscription that exists', `PUT ${root}/subscriptions/reader`, { topic }, 409, 'ALREADY_EXISTS'),
      refused('an ack deadline of 5 s', subscribe, { topic, ackDeadlineSeconds: 5 }, ...invalid, /seconds=5/),
      refused('an ack deadline of 601 s', subscribe, { topic, ackDeadlineSeconds: 601 }, ...invalid),
      refused(
        'a push over HTTP to the world',
        subscribe,
        { topic, pushConfig: { pushEndpoint: 'http://example.com/' } },
        ...invalid,
        /HTTPS/,
      ),
      refused('a retention of a minute', subscribe, { topic, messageRetentionDuration: '60s' }, ...invalid),
      refused(
        'a duration without unit',
        subscribe,
        { topic, messageRetentionDuration: '3600' },
        ...invalid,
        /Duration/,
      ),
      refused('a backoff over 10 min', subscribe, { topic, retryPolicy: { maximumBackoff: '601s' } }, ...invalid),
      refused(
        'dead letters after 2 attempts',
        subscribe,
        { topic, deadLetterPolicy: { deadLetterTopic: topic, maxDeliveryAttempts: 2 } },
        ...invalid,
      ),
      refused('a filter it cannot read', subscribe, { topic, filter: 'colour is red' }, ...invalid),
      refused(
        'ordering, which is not simulated',
        subscribe,
        { topic, enableMessageOrdering: true },
        501,
        'UNIMPLEMENTED',
      ),
      refused('pulling none', `POST ${root}/subscriptions/reader:pull`, { maxMessages: -1 }, ...invalid),
      refused(
        'pulling where it is pushed',
        `POST ${root}/subscriptions/pushed:pull`,
        { maxMessages: 1 },
        400,
        'FAILED_PRECONDITION',
      ),
      refused('pulling from none', `POST ${root}/subscriptions/none:pull`, { maxMessages: 1 }, 404, 'NOT_FOUND'),
      refused(
        'an ack id that is none',
        `POST ${root}/subscriptions/reader:acknowledge`,
        { ackIds: ['x'] },
        ...invalid,
        /invalid ack ID/,
      ),
      refused('a patch without a mask', `PATCH ${root}/subscriptions/reader`, { subscription: {} }, ...invalid),
      refused(
        'another topic later',
        `PATCH ${root}/subscriptions/reader`,
        { subscription: { name: 'x', topic }, updateMask: 'topic' },
        ...invalid,
      ),
    ],
  );
});
