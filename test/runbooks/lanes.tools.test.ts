/** The pages of lanes, schedules and functions, each walked at the fault that it is about. */
import { expect } from 'chai';
import { local, people, topicPath } from '../../local/stack/deployment.js';
import { type Desk, openDesk } from './desk.js';

describe('runbooks of the lanes', function () {
  this.timeout(300_000);
  let desk: Desk;
  const settings: Record<string, string> = {};
  let storeIsAway = false;
  before(async () => {
    desk = await openDesk({
      settings,
      wrapStore: (store) => ({
        ...store,
        query: (query) => {
          if (storeIsAway) throw new Error('the store is away');
          return store.query(query);
        },
      }),
    });
  });
  after(() => desk?.close());

  const succeeds = async (name: string) => {
    await desk.scene.stack.settle();
    expect((await desk.find(name)).state).to.equal('succeeded');
  };

  it('function-not-loaded: a faulty setting is corrected, and people are served again', async () => {
    expect((await desk.alice.bootstrap('loaded')).exitCode).to.equal(0);
    // The organization API has not been asked so far, so that it loads now.
    settings['PLINTH_MAX_TTL_SECONDS'] = 'long';
    const { said, asked } = await desk.walk(
      'function-not-loaded',
      { NAME: 'loaded' },
      {
        2: () => {
          delete settings['PLINTH_MAX_TTL_SECONDS'];
        },
      },
    );
    expect(said[0]).to.match(/failed +token at the organization API/);
    expect(said[1]).to.match(/ok +token at the organization API/);
    expect(asked).to.deep.equal(['POST logging.googleapis.com/v2/entries:list']);
  });

  it('poisoned-message: the stranger is found and may publish no more', async () => {
    const mallory = 'user:mallory@example.com';
    const publish = async (): Promise<number> => {
      const { status } = await fetch(`${desk.scene.cloud.endpoints.pubsub}/v1/${topicPath('cloud')}:publish`, {
        method: 'POST',
        headers: {
          authorization: `Bearer ${desk.scene.cloud.identity.accessToken('mallory@example.com')}`,
          'content-type': 'application/json',
        },
        body: JSON.stringify({ messages: [{ data: Buffer.from('poison').toString('base64') }] }),
      });
      return status;
    };
    await desk.bash(
      'gcloud pubsub topics add-iam-policy-binding plinth-cloud-steps --project $PROJECT --member $MEMBER --role roles/pubsub.publisher',
      { MEMBER: mallory },
    );
    expect(await publish()).to.equal(200);
    await desk.until('it is dropped', () => desk.scene.stack.logs.some((line) => line.includes('none of ours')));
    const { said } = await desk.walk('poisoned-message', { MEMBER: mallory });
    const strangers = (said[0] ?? '').split('\n').filter((line) => line !== '' && !line.includes('plinth-'));
    expect(strangers).to.deep.equal([mallory]);
    expect(await publish()).to.equal(403);
    expect((await desk.alice.bootstrap('unpoisoned')).exitCode).to.equal(0);
  });

  it('stuck-steps: the lease of a function that died is taken up', async () => {
    const { id, projectId } = await desk.begunAndLost('stuck');
    await desk.abandon(id, 0);
    const { said } = await desk.walk('stuck-steps', { NAME: projectId });
    expect(said[0]).to.contain('running').and.to.contain('PAUSED');
    await succeeds('stuck');
  });

  it('sweep-late: the job runs again, and what stood still goes on', async () => {
    const { projectId } = await desk.begunAndLost('unswept');
    const { said } = await desk.walk('sweep-late', { NAME: projectId });
    expect(said[0]).to.contain('PAUSED');
    await desk.until('sweep runs by itself', async () => (await desk.find('unswept')).state === 'succeeded');
  });

  it('step-kills-function: the step that failed is run again', async () => {
    const { id, projectId } = await desk.begunAndLost('killer');
    await desk.abandon(id, 4);
    await desk.bash('gcloud scheduler jobs resume plinth-sweep --project $PROJECT --location $REGION');
    await desk.until('it is failed', async () => (await desk.find('killer')).state === 'failed');
    const { said, asked } = await desk.walk('step-kills-function', { NAME: projectId });
    expect(said[0]).to.contain('failed').and.to.contain('plinth-support-killer-');
    expect(asked).to.deep.equal(['POST logging.googleapis.com/v2/entries:list']);
    await succeeds('killer');
  });

  it('messages-wait: nothing new begins while the lane is healed, and then all goes on', async () => {
    const move = (url: string) =>
      desk.bash(
        `gcloud pubsub subscriptions modify-push-config eventarc-run-cloud-step-sub --project $PROJECT --push-endpoint ${url}`,
      );
    const there = `${desk.scene.stack.url}/_functions/run-cloud-step`;
    await move('http://127.0.0.1:9/');
    const running = desk.alice.start('waiting');
    await desk.until('it begins', async () => (await desk.alice.plinth('list')).stdout.includes('waiting'));
    running.interrupt();
    await running.ended;
    let refused = '';
    const { said } = await desk.walk(
      'messages-wait',
      { NAME: 'waiting' },
      {
        3: async () => {
          refused = (await desk.alice.bootstrap('refused')).stdout;
          await move(there);
        },
      },
    );
    expect(said[0]).to.contain('http://127.0.0.1:9/');
    expect(refused).to.contain('"stopped"').and.to.contain('we are on it');
    await succeeds('waiting');
  });

  it('host-lane-busy: new bootstraps are kept away for a while', async () => {
    let state = '';
    const { said } = await desk.walk(
      'host-lane-busy',
      {},
      {
        2: async () => {
          state = (await desk.alice.bootstrap('refused')).stdout;
        },
      },
    );
    expect(state).to.contain('"stopped"');
    expect(said[2]).to.contain('open');
  });

  it('scheduler-refused: a job that calls as somebody else calls as itself again', async () => {
    await desk.bash(
      'gcloud scheduler jobs update http plinth-sweep --project $PROJECT --location $REGION --oidc-service-account-email plinth-eventarc@$PROJECT.iam.gserviceaccount.com',
    );
    await desk.bash('gcloud scheduler jobs run plinth-sweep --project $PROJECT --location $REGION');
    await desk.scene.cloud.scheduledCalls.idle();
    const { said } = await desk.walk('scheduler-refused');
    expect(said[0]).to.match(/plinth-sweep\s+plinth-eventarc@\S+\s+\S+\s+(?:7|16)\n/);
    await desk.scene.cloud.scheduledCalls.idle();
    const after = await desk.bash(
      `gcloud scheduler jobs describe plinth-sweep --project ${local.project} --location $REGION --format 'value(httpTarget.oidcToken.serviceAccountEmail,status.code)'`,
    );
    expect(after.trim()).to.equal(`plinth-scheduler@${local.project}.iam.gserviceaccount.com`);
  });

  it('server-errors: seen by doctor, and over when the store is back', async () => {
    storeIsAway = true;
    const { idToken } = await desk.scene.stack.tokens(people.alice);
    const reply = await fetch(`${desk.scene.stack.url}/bootstraps`, {
      headers: { authorization: `Bearer ${idToken}` },
    });
    expect(reply.status).to.be.within(500, 599);
    const { said, asked } = await desk.walk(
      'server-errors',
      {},
      {
        2: () => {
          storeIsAway = false;
        },
      },
    );
    expect(said[1]).to.contain('unpoisoned');
    expect(asked).to.deep.equal(['POST logging.googleapis.com/v2/entries:list']);
  });
});
