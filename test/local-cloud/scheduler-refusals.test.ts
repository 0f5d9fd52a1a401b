import { project, type ReadyCloud, readyCloud, stranger } from './ready-cloud.js';
import { commonRefusals, invalid, itRefuses, refusalsOf } from './refusals.js';

const root = `/v1/projects/${project}/locations/europe-west4`;
const path = root.slice('/v1/'.length);
const account = `caller-one@${project}.iam.gserviceaccount.com`;
const uri = 'http://127.0.0.1:9/';
const good = { schedule: '*/5 * * * *', httpTarget: { uri } };

describe('Cloud Scheduler refuses', () => {
  let cloud: ReadyCloud;

  before(async () => {
    cloud = await readyCloud({
      initial: { serviceAccounts: [account, 'other-one@bare-project.iam.gserviceaccount.com'] },
    });
    await cloud.call('cloudscheduler', `POST ${root}/jobs`, { ...good, name: `${path}/jobs/stands` });
  });
  after(() => cloud.close());

  const make = `POST ${root}/jobs`;
  const change = (mask: string) => `PATCH ${root}/jobs/stands?updateMask=${mask}`;
  const refused = refusalsOf('cloudscheduler');
  const bad = (name: string, body: object, says?: RegExp) =>
    refused(name, make, { ...good, ...body }, ...invalid, says);
  const target = (more: object) => ({ httpTarget: { uri, ...more } });

  itRefuses(() => cloud, commonRefusals('cloudscheduler', make, good));
  itRefuses(
    () => cloud,
    [
      refused('a job that exists', make, { ...good, name: `${path}/jobs/stands` }, 409, 'ALREADY_EXISTS'),
      refused('a place that there is not', 'POST /v1/projects/P/locations/nowhere-1/jobs', good, ...invalid, {
        says: /ListLocations/,
      }),
      bad('a name that is no path', { name: 'mine' }, /must be formatted/),
      bad('a name with a dot', { name: `${path}/jobs/a.b` }, /must be formatted/),
      bad('a name of 501 letters', { name: `${path}/jobs/${'a'.repeat(501)}` }, /500/),
      bad('a name in another place', { name: `projects/${project}/locations/us-east1/jobs/a` }, /should start with/),
      bad('no schedule', { schedule: '' }, /schedule is required/),
      bad('a schedule of four fields', { schedule: '* * * *' }, /Schedule or time zone/),
      bad('a schedule with seconds', { schedule: '*/5 * * * * *' }, /Schedule or time zone/),
      bad('a minute 61', { schedule: '61 * * * *' }, /Schedule or time zone/),
      bad('a schedule that never comes', { schedule: '0 0 31 2 *' }),
      bad('a nickname of other crons', { schedule: '@daily' }),
      bad('a last day, which unix-cron has not', { schedule: '0 0 L * *' }),
      bad('a time zone that there is not', { timeZone: 'Mars/Olympus' }, /Schedule or time zone/),
      bad('no target', { httpTarget: null }, /exactly one target/),
      bad('two targets', { pubsubTarget: { topicName: `projects/${project}/topics/t` } }, /exactly one target/),
      refused('a target without an address', make, { schedule: good.schedule, httpTarget: {} }, ...invalid),
      bad('an address that is none', target({ uri: 'example' }), /http/),
      bad('an address of another scheme', target({ uri: 'ftp://127.0.0.1/' }), /http/),
      bad('a method that there is not', target({ httpMethod: 'FETCH' }), /TYPE_ENUM/),
      bad('a body of a GET', target({ httpMethod: 'GET', body: 'YQ==' }), /POST, PUT and PATCH/),
      bad('a body that is not base64', target({ body: '###' }), /Base64/),
      bad('a header that is none', target({ headers: { 'a b': 'c' } }), /valid header/),
      bad('a header with a line break', target({ headers: { a: 'b\r\nc: d' } }), /valid header/),
      bad(
        'two tokens',
        target({ oidcToken: { serviceAccountEmail: account }, oauthToken: { serviceAccountEmail: account } }),
        /both/,
      ),
      bad('a token of nobody', target({ oidcToken: {} }), /service account/),
      refused(
        'a token of an account that there is not',
        make,
        { ...good, ...target({ oidcToken: { serviceAccountEmail: `none@${project}.iam.gserviceaccount.com` } }) },
        403,
        'PERMISSION_DENIED',
        { says: /actAs/ },
      ),
      bad(
        'an account of another project',
        target({ oidcToken: { serviceAccountEmail: 'other-one@bare-project.iam.gserviceaccount.com' } }),
        /in the project of the job/,
      ),
      bad('a deadline of 14 s', { attemptDeadline: '14s' }, /between 15s and 1800s/),
      bad('a deadline of 31 min', { attemptDeadline: '1860s' }, /between 15s and 1800s/),
      bad('a deadline without unit', { attemptDeadline: '60' }, /Duration/),
      bad('six retries', { retryConfig: { retryCount: 6 } }, /between 0 and 5/),
      bad('17 doublings', { retryConfig: { maxDoublings: 17 } }, /between 0 and 16/),
      bad('a least wait over the longest', { retryConfig: { minBackoffDuration: '10s', maxBackoffDuration: '5s' } }),
      bad('a negative retry time', { retryConfig: { maxRetryDuration: '-1s' } }),
      bad('a description of 501 letters', { description: 'a'.repeat(501) }, /500/),
      refused('a look at none', `GET ${root}/jobs/none`, undefined, 404, 'NOT_FOUND', { says: /Job not found/ }),
      refused('the end of none', `DELETE ${root}/jobs/none`, undefined, 404, 'NOT_FOUND'),
      refused('a run of none', `POST ${root}/jobs/none:run`, {}, 404, 'NOT_FOUND'),
      refused('another name', change('name'), { name: `${path}/jobs/other` }, ...invalid, {
        says: /cannot be changed/,
      }),
      refused('a state from outside', change('state'), { state: 'PAUSED' }, ...invalid, { says: /cannot be changed/ }),
      refused('a bad schedule later', change('schedule'), { schedule: 'hourly' }, ...invalid),
      refused('a page of 501', `GET ${root}/jobs?pageSize=501`, undefined, ...invalid),
      refused('a list for strangers', `GET ${root}/jobs`, undefined, 403, 'PERMISSION_DENIED', { as: stranger }),
      refused(
        'what it does not simulate',
        make,
        { ...good, httpTarget: null, appEngineHttpTarget: {} },
        501,
        'UNIMPLEMENTED',
      ),
    ],
  );
});
