/** A call that is taken and never answered: each of Google's clients must give it up, or an instance of a function waits for ever. */
import { expect } from 'chai';
import { createPublisher } from '../../functions/publisher.js';
import { local } from '../../local/stack/deployment.js';
import { Problem } from '../../shared/problems.js';
import { type ServedCloud, servedCloud } from './served-cloud.js';

describe('a call that is never answered', function () {
  this.timeout(120_000);
  let served: ServedCloud;
  const asked: string[] = [];
  before(async () => {
    served = await servedCloud(({ url }) => void asked.push(url ?? ''));
  });
  after(() => served.close());

  it('is given up within 90 seconds by Compute, Scheduler and Pub/Sub', async () => {
    const { cloud, config } = served;
    const message = { schema: 1, bootstrapId: 'b1', instance: 'project', generation: 1 } as const;
    const inTime = (call: Promise<unknown>) =>
      Promise.race([
        call.catch((error: unknown) => (error instanceof Problem ? error.code : String(error))),
        new Promise((resolve) => setTimeout(resolve, 90_000, 'still waiting').unref()),
      ]);
    const ended = await Promise.all([
      inTime(cloud.compute.region(local.project, local.region)),
      inTime(cloud.scheduler.status('plinth-cleanup')),
      inTime(createPublisher(config).publish('cloud', [message])),
    ]);
    expect(ended).to.deep.equal(['cloud-unavailable', 'cloud-unavailable', 'unavailable']);
    expect(asked, 'each asked once').to.have.length(3);
  });
});
