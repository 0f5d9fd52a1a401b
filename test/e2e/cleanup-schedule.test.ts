/** When cleanup runs, steered by an operator at the command line: what Cloud Scheduler then does is what the operator saw. */
import { expect } from 'chai';
import { functionAccount, functionUrl, invokers, local, people } from '../../local/stack/deployment.js';
import type { ScheduleView } from '../../shared/cleanup-schedule.js';
import { functionNames, schedulerJobs } from '../../shared/names.js';
import { runAt } from '../support/plinth-here.js';
import { type Caller, makeScene, type Scene } from '../support/scene.js';

const jobs = `/v1/projects/${local.project}/locations/${local.region}/jobs`;

describe('when cleanup runs', function () {
  this.timeout(240_000);
  let scene: Scene;
  let operator: Caller;

  const google = async (method: string, path: string, body?: unknown) => {
    const reply = await fetch(`${scene.cloud.endpoints.cloudscheduler}${jobs}${path}`, {
      method,
      headers: {
        authorization: `Bearer ${scene.cloud.identity.accessToken(people.admin)}`,
        'content-type': 'application/json',
      },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
    return (await reply.json()) as Record<string, unknown>;
  };
  const http = async (method: string, path: string, email: string) => {
    const { idToken } = await scene.stack.tokens(email);
    const reply = await fetch(`${scene.stack.url}/cleanup/schedule${path}`, {
      method,
      headers: { authorization: `Bearer ${idToken}` },
    });
    return { status: reply.status, body: (await reply.json()) as Record<string, unknown> };
  };
  const plinth = (caller: Caller, verb: string, ...more: string[]) =>
    runAt(['beta', 'cleanup', 'schedule', verb, ...more], caller);
  async function seen(verb: string): Promise<ScheduleView> {
    const { exitCode, stdout, stderr } = await plinth(operator, verb, '--json');
    expect(exitCode, stderr).to.equal(0);
    return (JSON.parse(stdout) as { schedule: ScheduleView }).schedule;
  }

  before(async () => {
    // So slow a cloud that nothing is due of itself while the test runs.
    scene = await makeScene({ timeFactor: 1 });
    operator = await scene.caller(people.admin);
    await google('DELETE', `/${schedulerJobs.cleanup}`);
    const uri = functionUrl(scene.stack.url, functionNames.sweep);
    await google('POST', '', {
      name: `${jobs.slice('/v1/'.length)}/${schedulerJobs.cleanup}`,
      schedule: '0 0 1 1 *',
      httpTarget: { uri, oidcToken: { serviceAccountEmail: invokers.scheduler } },
    });
  });
  after(() => scene?.close());

  it('is seen as it stands', async () => {
    const schedule = await seen('status');
    const job = await google('GET', `/${schedulerJobs.cleanup}`);
    expect(schedule).to.deep.equal({
      job: schedulerJobs.cleanup,
      state: 'enabled',
      schedule: '0 0 1 1 *',
      timeZone: 'UTC',
      nextRunAt: job['scheduleTime'],
    });
    const { stdout } = await plinth(operator, 'status');
    expect(stdout).to.match(/State +enabled/);
  });

  it('is paused, twice is fine, and resumed', async () => {
    expect(await seen('pause')).to.include({ state: 'paused' });
    expect(await seen('pause')).to.not.have.property('nextRunAt');
    expect((await google('GET', `/${schedulerJobs.cleanup}`))['state']).to.equal('PAUSED');
    const { stdout } = await plinth(operator, 'status');
    expect(stdout).to.contain('nothing is cleaned up until it is resumed');
    expect(await seen('resume')).to.include({ state: 'enabled' });
    expect(await seen('resume')).to.have.property('nextRunAt');
  });

  it('is now, if the operator says so; the call is told of afterwards', async () => {
    await seen('run');
    await scene.cloud.scheduledCalls.idle();
    const schedule = await seen('status');
    expect(schedule.lastResult).to.equal('ok');
    expect(Date.parse(schedule.lastRunAt ?? '')).to.be.within(Date.now() - 30_000, Date.now());
  });

  it('is nobody else’s business', async () => {
    for (const [method, path] of [
      ['GET', ''],
      ['POST', '/pause'],
      ['POST', '/resume'],
      ['POST', '/run'],
    ] as const) {
      const { status, body } = await http(method, path, people.alice);
      expect(status, path).to.equal(403);
      expect(body['detail']).to.contain('for operators');
    }
    const { exitCode, stderr } = await plinth(await scene.caller(), 'pause');
    expect(exitCode).to.not.equal(0);
    expect(stderr).to.contain('for operators');
    expect(await seen('status')).to.include({ state: 'enabled' });
  });

  it('knows three verbs', async () => {
    const { status } = await http('POST', '/delete', people.admin);
    expect(status).to.equal(400);
  });

  it('is steered with a role for that and nothing more', () => {
    const { policies } = scene.cloud.world;
    const bootstraps = { email: functionAccount(functionNames.bootstraps), kind: 'serviceAccount' } as const;
    const may = (verb: string) =>
      policies.allows(bootstraps, `cloudscheduler.jobs.${verb}`, `projects/${local.project}`);
    expect(['get', 'pause', 'enable', 'run'].filter((verb) => !may(verb))).to.deep.equal([]);
    expect(['create', 'update', 'delete', 'list'].filter(may)).to.deep.equal([]);
  });

  it('says so where the job is missing', async () => {
    await google('DELETE', `/${schedulerJobs.cleanup}`);
    const { status, body } = await http('GET', '', people.admin);
    expect(status).to.equal(404);
    expect(body['detail']).to.contain('nothing calls cleanup');
  });
});
