import { type ReadyCloud, readyCloud } from './ready-cloud.js';
import { commonRefusals, invalid, itRefuses, refusalsOf } from './refusals.js';

const root = '/v1/projects/P';
const data = Buffer.from('x').toString('base64');

describe('simulated Pub/Sub, bad requests', () => {
  let cloud: ReadyCloud;
  before(async () => {
    cloud = await readyCloud();
    await cloud.call('pubsub', `PUT ${root}/topics/news`, {});
  });
  after(() => cloud.close());

  const refused = refusalsOf('pubsub');
  const publish = `POST ${root}/topics/news:publish`;

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
      refused('a patch without a mask', `PATCH ${root}/topics/news`, { topic: {} }, ...invalid),
      refused(
        'another name later',
        `PATCH ${root}/topics/news`,
        { topic: { name: 'x' }, updateMask: 'name' },
        ...invalid,
        /cannot be changed/,
      ),
    ],
  );
});
