/** What Cloud Quotas may answer that the simulated cloud does not: quotas that take no request, answers without a word, pages. */
import { expect } from 'chai';
import { type ServedCloud, servedCloud } from './served-cloud.js';

const quotaId = 'CPUS-per-project-region';

describe('answers of Cloud Quotas', () => {
  let served: ServedCloud;
  const asked: URL[] = [];
  const answers: { status: number; body: object }[] = [];
  const next = (...bodies: object[]) => answers.push(...bodies.map((body) => ({ status: 200, body })));

  before(async () => {
    served = await servedCloud(({ url = '' }, response) => {
      asked.push(new URL(url, 'http://quotas'));
      const { status, body } = answers.shift() ?? { status: 500, body: {} };
      response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body));
    });
  });
  after(() => served.close());
  const objection = () => served.cloud.quotas.objection('p', quotaId);

  it('say why a quota takes no request', async () => {
    next({ quotaId, quotaIncreaseEligibility: { ineligibilityReason: 'NOT_ENOUGH_USAGE_HISTORY' } });
    expect(await objection()).to.equal(`Google takes no request for ${quotaId} (NOT_ENOUGH_USAGE_HISTORY)`);
    next({ quotaId, quotaIncreaseEligibility: {} });
    expect(await objection()).to.include('no reason given');
    answers.push({ status: 404, body: { error: { code: 404, status: 'NOT_FOUND', message: 'not found' } } });
    expect(await objection()).to.equal(`Cloud Quotas knows no quota ${quotaId}`);
  });

  it('that say nothing of it speak against no request', async () => {
    next({ quotaId, quotaIncreaseEligibility: { isEligible: true } }, { quotaId });
    expect([await objection(), await objection()]).to.deep.equal([undefined, undefined]);
  });

  it('come in pages, and leave out what is false or not known yet', async () => {
    const one = (id: string, more: object) => ({
      name: `projects/1/locations/global/quotaPreferences/${id}`,
      service: 'compute.googleapis.com',
      quotaId,
      quotaConfig: { preferredValue: '52' },
      ...more,
    });
    next(
      {
        quotaPreferences: [one('a', { reconciling: true }), one('b', { service: 'run.googleapis.com' })],
        nextPageToken: 'more',
      },
      {
        quotaPreferences: [
          one('c', { etag: 'e', quotaConfig: { preferredValue: '52', grantedValue: '40', stateDetail: 'No.' } }),
        ],
      },
    );
    asked.length = 0;
    const found = await served.cloud.quotas.requests('p');
    expect(asked.map(({ searchParams }) => searchParams.get('pageToken'))).to.deep.equal([null, 'more']);
    expect(
      found.map(({ open, preferred, granted, answer, etag }) => ({ open, preferred, granted, answer, etag })),
    ).to.deep.equal([
      { open: true, preferred: 52, granted: 0, answer: undefined, etag: undefined },
      { open: false, preferred: 52, granted: 40, answer: 'No.', etag: 'e' },
    ]);
  });
});
