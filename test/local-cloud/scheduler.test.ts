import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, type IncomingHttpHeaders, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { expect } from 'chai';
import { createRemoteJWKSet, jwtVerify } from 'jose';
import { createSimulatedCloud, type SimulatedCloudOptions } from '../../local/cloud/index.js';
import type { JsonObject } from '../../local/cloud/kernel/api.js';
import { project, type ReadyCloud, readyCloud } from './ready-cloud.js';

const root = `/v1/projects/${project}/locations/europe-west4/jobs`;
const path = root.slice('/v1/'.length);
const account = `caller-one@${project}.iam.gserviceaccount.com`;

interface Heard {
  readonly method: string;
  readonly headers: IncomingHttpHeaders;
  readonly body: string;
}

describe('Cloud Scheduler', () => {
  let cloud: ReadyCloud;
  let server: Server;
  let uri: string;
  let heard: Heard[];
  /** Statuses to answer with, one a call; then 200. */
  let answers: number[];
  let delayMs: number;
  let failures: string[];

  const start = async (options: SimulatedCloudOptions = {}): Promise<void> => {
    cloud = await readyCloud({
      ...options,
      initial: { serviceAccounts: [account] },
      scheduled: { ...options.scheduled, onFailure: (_job, why) => failures.push(why) },
    });
  };
  const make = async (name: string, more: JsonObject = {}): Promise<JsonObject> => {
    const { status, body, message } = await cloud.call('cloudscheduler', `POST ${root}`, {
      name: `${path}/${name}`,
      schedule: '* * * * *',
      httpTarget: { uri },
      ...more,
    });
    expect(status, message).to.equal(200);
    return body;
  };
  const look = async (name: string): Promise<JsonObject> =>
    (await cloud.call('cloudscheduler', `GET ${root}/${name}`)).body;
  const ask = (name: string, verb: string) => cloud.call('cloudscheduler', `POST ${root}/${name}:${verb}`, {});
  async function until(what: () => boolean, ms = 5000): Promise<void> {
    for (let waited = 0; !what(); waited += 5) {
      if (waited > ms) throw new Error(`not within ${ms} ms; ${heard.length} calls, ${failures.join('; ')}`);
      await sleep(5);
    }
  }

  beforeEach(async () => {
    heard = [];
    answers = [];
    failures = [];
    delayMs = 0;
    server = createServer((request, response) => {
      let body = '';
      request.on('data', (chunk) => {
        body += chunk;
      });
      request.on('end', () => {
        heard.push({ method: request.method ?? '', headers: request.headers, body });
        setTimeout(() => response.writeHead(answers.shift() ?? 200).end(), delayMs);
      });
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    uri = `http://127.0.0.1:${(server.address() as AddressInfo).port}/work?a=b`;
  });
  afterEach(async () => {
    await cloud.close();
    server.closeAllConnections();
    server.close();
  });

  it('calls what a job aims at on its schedule, as Google does', async () => {
    await start();
    const asked = Date.now();
    const made = await make('plain', { description: 'each minute' });
    expect(made).to.include({ state: 'ENABLED', timeZone: 'UTC', attemptDeadline: '180s', name: `${path}/plain` });
    expect(Date.parse(String(made['scheduleTime']))).to.be.within(asked, Date.now() + 300);
    await until(() => heard.length >= 2);
    const [{ method, headers } = {} as Heard] = heard;
    expect(method).to.equal('POST');
    expect(headers['user-agent']).to.equal('Google-Cloud-Scheduler');
    expect(headers['x-cloudscheduler']).to.equal('true');
    expect(headers['x-cloudscheduler-jobname']).to.equal('plain');
    expect(Date.parse(String(headers['x-cloudscheduler-scheduletime']))).to.equal(
      Date.parse(String(made['scheduleTime'])),
    );
    expect(headers['authorization']).to.equal(undefined);
    await cloud.scheduledCalls.idle();
    const after = await look('plain');
    expect(after['status']).to.deep.equal({});
    expect(after['lastAttemptTime']).to.be.a('string');
  });

  it('is paused once, and resumed', async () => {
    await start();
    await make('plain', { schedule: '0 0 1 1 *' });
    const turn = (verb: string) => cloud.call('cloudscheduler', `POST ${root}/plain:${verb}`, {});
    expect((await turn('pause')).body['state']).to.equal('PAUSED');
    const again = await turn('pause');
    expect([again.status, again.reason]).to.deep.equal([400, 'FAILED_PRECONDITION']);
    expect((await look('plain'))['state']).to.equal('PAUSED');
    expect((await turn('resume')).body['state']).to.equal('ENABLED');
  });

  it('sends a token of the job’s account for the audience that is set, or else for the whole address', async () => {
    await start();
    await make('default', { httpTarget: { uri, oidcToken: { serviceAccountEmail: account } } });
    await make('own', {
      httpTarget: { uri, oidcToken: { serviceAccountEmail: account, audience: 'https://plinth.example.com' } },
    });
    await until(() => heard.length >= 2);
    const keys = createRemoteJWKSet(new URL(cloud.identity.jwksUrl));
    const audiences = new Map<string, unknown>();
    for (const { headers } of heard) {
      const token = String(headers['authorization']).replace(/^Bearer /, '');
      const { payload } = await jwtVerify(token, keys, { issuer: cloud.issuerUrl });
      expect(payload['email']).to.equal(account);
      expect(payload['email_verified']).to.equal(true);
      audiences.set(String(headers['x-cloudscheduler-jobname']), payload.aud);
    }
    expect(Object.fromEntries(audiences)).to.deep.equal({ default: uri, own: 'https://plinth.example.com' });
  });

  it('sends the body, method and headers of the job, and none of its own headers from outside', async () => {
    await start();
    await make('full', {
      httpTarget: {
        uri,
        httpMethod: 'PUT',
        body: Buffer.from('{"a":1}').toString('base64'),
        headers: { 'Content-Type': 'application/json', 'X-CloudScheduler-JobName': 'forged', 'X-Own': 'yes' },
      },
    });
    await until(() => heard.length >= 1);
    const [{ method, headers, body } = {} as Heard] = heard;
    expect({ method, body }).to.deep.equal({ method: 'PUT', body: '{"a":1}' });
    expect(headers).to.include({
      'content-type': 'application/json',
      'x-own': 'yes',
      'x-cloudscheduler-jobname': 'full',
    });
  });

  it('tries nothing again unless asked to, and says how the last call ended', async () => {
    await start({ timeFactor: 0.01 });
    answers = [503];
    await make('once', { schedule: '0 0 1 1 *' });
    await ask('once', 'run');
    await until(() => failures.length === 1);
    await cloud.scheduledCalls.idle();
    expect(heard.length).to.equal(1);
    expect((await look('once'))['status']).to.deep.equal({ code: 14 });
  });

  it('tries again as often as the job says, later each time', async () => {
    await start();
    answers = [500, 429, 200];
    await make('again', { schedule: '0 0 1 1 *', retryConfig: { retryCount: 3 } });
    await ask('again', 'run');
    await until(() => heard.length === 3);
    await cloud.scheduledCalls.idle();
    expect(heard.length).to.equal(3);
    expect((await look('again'))['status']).to.deep.equal({});
  });

  it('stops at a pause, and goes on at a resume', async () => {
    await start();
    await make('job');
    await until(() => heard.length >= 1);
    const { body } = await ask('job', 'pause');
    expect(body['state']).to.equal('PAUSED');
    await cloud.scheduledCalls.idle();
    const before = heard.length;
    await sleep(700);
    expect(heard.length).to.equal(before);
    expect((await ask('job', 'resume')).body['state']).to.equal('ENABLED');
    await until(() => heard.length > before);
  });

  it("makes the job of Terraform's provider, which resumes each new job", async () => {
    await start();
    await make('job', {
      schedule: '0 0 1 1 *',
      timeZone: 'Etc/UTC',
      attemptDeadline: '320s',
      retryConfig: { retryCount: 1 },
      httpTarget: {
        uri,
        httpMethod: 'POST',
        body: Buffer.from('{}').toString('base64'),
        headers: { 'Content-Type': 'application/json' },
        oidcToken: { serviceAccountEmail: account, audience: uri },
      },
    });
    // The provider reads the headers of every job, and ends itself where there are none.
    const headersOf = async (name: string) => ((await look(name))['httpTarget'] as JsonObject)['headers'];
    const agent = { 'User-Agent': 'Google-Cloud-Scheduler' };
    expect(await headersOf('job')).to.deep.equal({ ...agent, 'Content-Type': 'application/json' });
    await make('bare', { schedule: '0 0 1 1 *' });
    expect(await headersOf('bare')).to.deep.equal(agent);
    await make('bytes', { schedule: '0 0 1 1 *', httpTarget: { uri, body: 'AAAA', headers: { 'user-agent': 'x' } } });
    expect(await headersOf('bytes')).to.deep.equal({ ...agent, 'Content-Type': 'application/octet-stream' });
    for (const [verb, state] of [
      ['resume', 'ENABLED'],
      ['pause', 'PAUSED'],
      ['resume', 'ENABLED'],
    ] as const) {
      const { status, body, message } = await ask('job', verb);
      expect([status, body['state']], message).to.deep.equal([200, state]);
    }
    expect(await look('job')).to.deep.include({ state: 'ENABLED', timeZone: 'Etc/UTC', attemptDeadline: '320s' });
  });

  it('runs a job when it is asked to, also a paused one', async () => {
    await start();
    await make('job', { schedule: '0 0 1 1 *' });
    await ask('job', 'pause');
    await ask('job', 'run');
    await until(() => heard.length === 1);
    expect((await look('job'))['state']).to.equal('PAUSED');
  });

  it('never runs a job beside itself: what comes due meanwhile is left out', async () => {
    await start();
    delayMs = 600;
    await make('slow');
    await sleep(1500);
    expect(heard.length).to.be.within(1, 3);
  });

  it('begins after a restart what was asked for before it', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'plinth-scheduler-'));
    const snapshotFile = join(folder, 'cloud.json');
    try {
      await start({ snapshotFile });
      await make('asked', { schedule: '0 0 1 1 *' });
      await cloud.close();
      // As a kill between the order and its call leaves it.
      const kept = JSON.parse(readFileSync(snapshotFile, 'utf8'));
      kept.tables['cloudscheduler.jobs'][`${path}/asked`].forced = 1;
      writeFileSync(snapshotFile, JSON.stringify(kept));
      cloud = Object.assign(await createSimulatedCloud({ snapshotFile }), { call: cloud.call });
      await until(() => heard.length === 1);
    } finally {
      rmSync(folder, { recursive: true, force: true });
    }
  });

  it('calls more than once now and then, if it is told to', async () => {
    await start({ scheduled: { duplicates: 1 } });
    await make('twice', { schedule: '0 0 1 1 *' });
    await ask('twice', 'run');
    await until(() => heard.length === 2);
  });

  it('follows a changed job, and leaves a paused one paused', async () => {
    await start();
    await make('job', { schedule: '0 0 1 1 *' });
    await ask('job', 'pause');
    const { body } = await cloud.call('cloudscheduler', `PATCH ${root}/job?updateMask=schedule,httpTarget.httpMethod`, {
      schedule: '*/5 * * * *',
      httpTarget: { uri, httpMethod: 'PUT' },
    });
    expect(body).to.include({ state: 'PAUSED', schedule: '*/5 * * * *' });
    expect(body['httpTarget']).to.deep.include({ uri, httpMethod: 'PUT' });
  });

  it('forgets a job that is deleted, and calls nothing for a project that is', async () => {
    await start();
    await make('gone');
    await make('other');
    expect((await cloud.call('cloudscheduler', `DELETE ${root}/gone`)).body).to.deep.equal({});
    expect((await look('gone'))['error']).to.include({ code: 404 });
    await cloud.call('cloudresourcemanager', `DELETE /v3/projects/${project}`);
    await cloud.scheduledCalls.idle();
    const before = heard.length;
    await sleep(600);
    expect(heard.length).to.equal(before);
  });

  it('lists by page', async () => {
    await start();
    for (const name of ['a', 'b', 'c']) await make(name, { schedule: '0 0 1 1 *' });
    const names = ({ body }: { body: JsonObject }) =>
      (body['jobs'] as JsonObject[]).map(({ name }) => String(name).slice(-1));
    const first = await cloud.call('cloudscheduler', `GET ${root}?pageSize=2`);
    expect(names(first)).to.deep.equal(['a', 'b']);
    const next = await cloud.call('cloudscheduler', `GET ${root}?pageSize=2&pageToken=${first.body['nextPageToken']}`);
    expect(names(next)).to.deep.equal(['c']);
  });

  it('reads schedules in their time zone, and tells when they are due', async () => {
    await start({ timeFactor: 1 });
    const made = await make('daily', { schedule: '30 6 * * mon-fri', timeZone: 'Europe/Berlin' });
    const due = new Date(String(made['scheduleTime']));
    const there = new Intl.DateTimeFormat('en-GB', {
      timeZone: 'Europe/Berlin',
      hour: '2-digit',
      minute: '2-digit',
      weekday: 'short',
    }).format(due);
    expect(there).to.match(/^(?:Mon|Tue|Wed|Thu|Fri)\W+06:30$/);
    expect(due.getTime()).to.be.greaterThan(Date.now());
  });

  it('calls nothing beyond this machine', async () => {
    await start();
    await make('far', { schedule: '0 0 1 1 *', httpTarget: { uri: 'https://plinth.example.com/' } });
    await ask('far', 'run');
    await until(() => failures.length === 1);
    expect(failures[0]).to.contain('not on this machine');
  });
});
