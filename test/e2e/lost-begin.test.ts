/** The request that begins or resumes a bootstrap is lost on its way, or its answer is: the command goes on by itself, and makes nothing twice. */
import { mkdirSync, writeFileSync } from 'node:fs';
import { createServer, request, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { expect } from 'chai';
import { stringify } from 'yaml';
import { callerEnvironment } from '../../local/demo/plinth-process.js';
import { local } from '../../local/stack/deployment.js';
import { lifeOf } from '../support/life.js';
import { runAt } from '../support/plinth-here.js';
import {
  type Caller,
  domainOf,
  historyOf,
  madeTwice,
  makeScene,
  type Outcome,
  outcomeOf,
  type Scene,
  succeeded,
} from '../support/scene.js';

/**
 * What becomes of the request: it does not arrive, it arrives just before the next one, its answer is lost, or a front end
 * answers for a function that died. A function: this happens, and then the request does not arrive.
 */
type Loss = 'on its way' | 'late' | 'with its answer' | 'behind a front end' | (() => Promise<unknown>);

const cut = (response: ServerResponse): void => void response.socket?.destroy();

/** Carries calls to the functions. The first ones that begin a bootstrap are lost. */
async function startFront(url: string, losses: Loss[]): Promise<{ server: Server; url: string; begun(): number }> {
  let begun = 0;
  let late: (() => Promise<unknown>) | undefined;
  const server = createServer(async (asked, response) => {
    const begins = asked.method === 'POST' && asked.url === '/bootstraps';
    if (begins) begun += 1;
    const loss = begins ? losses.shift() : undefined;
    if (typeof loss === 'function') await loss();
    if (loss === 'on its way' || typeof loss === 'function') return cut(response);
    if (loss === 'late') {
      const body = await text(asked);
      const { authorization = '' } = asked.headers;
      const headers = { authorization, 'content-type': 'application/json' };
      late = async () => expect((await fetch(url + asked.url, { method: 'POST', headers, body })).status).to.equal(201);
      return cut(response);
    }
    if (begins) await late?.();
    const { method, headers } = asked;
    const carried = request(url + asked.url, { method, headers }, (reply) => {
      if (loss === undefined) {
        response.writeHead(reply.statusCode ?? 0, reply.headers);
        response.flushHeaders();
        reply.pipe(response);
        return;
      }
      reply.resume().once('end', () => {
        if (loss === 'with its answer') cut(response);
        else response.writeHead(503, { 'content-type': 'text/plain' }).end('The request failed.');
      });
    });
    carried.on('error', () => cut(response));
    response.on('close', () => carried.destroy());
    asked.pipe(carried);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return { server, url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, begun: () => begun };
}

describe('a request that begins a bootstrap', function () {
  this.timeout(120_000);
  let scene: Scene;
  let alice: Caller;
  before(async () => {
    scene = await makeScene();
    alice = await scene.caller();
  });
  after(() => scene?.close());
  afterEach(() => scene.cloud.faults.clear());

  /** What begins fails at its first step: that it began is all there is to see. */
  const endEarly = () =>
    scene.cloud.faults.add({
      method: 'cloudresourcemanager.projects.create',
      times: 0,
      code: 403,
      message: "Permission 'resourcemanager.projects.create' denied",
    });

  /** Runs it with these losses. Returns how often the request was made, too. */
  async function through(losses: Loss[], run: (at: Pick<Caller, 'folder' | 'env'>) => Promise<Outcome>, exitCode = 0) {
    const front = await startFront(scene.stack.url, losses);
    try {
      const outcome = await run({ folder: alice.folder, env: { ...alice.env, PLINTH_ENDPOINT: front.url } });
      expect(outcome.exitCode, `${JSON.stringify(outcome.result.problem)}\n${outcome.stderr}`).to.equal(exitCode);
      if (exitCode !== 5) expect(madeTwice(historyOf(scene.cloud))).to.deep.equal([]);
      return { outcome, begun: front.begun() };
    } finally {
      front.server.closeAllConnections();
      front.server.close();
    }
  }
  const flagsOf = (name: string, ...more: string[]) => [
    ...['beta', 'bootstrap-cloud', '--json', '--project-name', name, '--billing-account', local.billingAccount],
    ...['--base-domain', domainOf(name), '--forge1-app-client-id', 'client-id', '--registry-user', 'somebody', ...more],
  ];
  const living = async (name: string): Promise<number> => {
    const { stdout } = await alice.plinth('list', '--json');
    const { bootstraps } = JSON.parse(stdout.trim()) as { bootstraps: { name: string }[] };
    return bootstraps.filter((each) => each.name === name).length;
  };

  /** `plinth up`, with this loss after it was agreed to. */
  async function agreed(name: string, loss: Loss, requests: number): Promise<void> {
    endEarly();
    const folder = join(alice.folder, name);
    mkdirSync(folder);
    const keys = {
      'project-name': name,
      'billing-account': local.billingAccount,
      'base-domain': domainOf(name),
      'forge1-app-client-id': 'client-id',
      'forge1-app-client-secret': { env: 'PLINTH_FORGE1_APP_CLIENT_SECRET' },
      'registry-user': 'somebody',
    };
    writeFileSync(join(folder, 'plinth.yaml'), stringify(keys));
    const up = async ({ env }: Pick<Caller, 'env'>) =>
      runAt(['up', '--yes', '--json'], { folder, env: callerEnvironment({ folder: alice.folder, env }) });
    const { outcome, begun } = await through([loss], async (at) => outcomeOf(await up(at)), 7);
    expect([outcome.result.created, begun, await living(name)]).to.deep.equal([true, requests, 1]);
  }

  for (const [n, loss, requests, exitCode] of [
    [1, 'on its way', 2, 7],
    [2, 'with its answer', 1, 0],
    [3, 'behind a front end', 1, 7],
  ] as const) {
    it(`lost ${loss}, is made again only if nothing began; lost so where a bootstrap goes on, is made again, and changes what it should`, async () => {
      const name = `lost-${n}`;
      if (exitCode === 7) endEarly();
      const run = (...more: string[]) =>
        through([loss], async (at) => outcomeOf(await runAt(flagsOf(name, ...more), at)), exitCode);
      const first = await run();
      expect([first.outcome.result.created, first.begun, await living(name)]).to.deep.equal([true, requests, 1]);
      expect(first.outcome.stderr).to.include('It is tried for half a minute');

      const again = await run('--project-ttl', '5h');
      expect([again.outcome.result.created, again.begun, await living(name)]).to.deep.equal([false, 2, 1]);
      const { createdAt, deadlineAt } = await scene.view(again.outcome.result.bootstrap?.id ?? '');
      expect(Date.parse(deadlineAt) - Date.parse(createdAt)).to.equal(5 * 3_600_000);
    });

    it(`lost ${loss} after plinth up was agreed to, goes on with what was agreed`, async () => {
      await agreed(`agreed-${n}`, loss, requests);
    });
  }

  it('that arrives after all, just before it is made again, has begun what was agreed', async () => {
    await agreed('agreed-late', 'late', 2);
  });

  it('takes nobody else’s bootstrap for what it began, though that has its name and is shared', async () => {
    const bob = await scene.caller('bob@example.com');
    const meanwhile = async () => {
      succeeded(await bob.bootstrap('taken'));
      expect(
        (await runAt(['beta', 'bootstrap-cloud', 'share', 'taken', '--with', alice.email], bob)).exitCode,
      ).to.equal(0);
    };
    const { outcome } = await through([meanwhile], async (at) => outcomeOf(await runAt(flagsOf('taken'), at)), 5);
    expect(outcome.result.problem?.detail).to.include('taken is in use by somebody else');
  });

  it('takes none that is being removed for what it began', async () => {
    const life = lifeOf(scene);
    await life.pause();
    endEarly();
    const removal = { requestedAt: new Date().toISOString(), by: alice.email, why: 'asked', failures: 0 };
    const meanwhile = async () => {
      const { bootstrap } = (await alice.bootstrap('going')).result;
      await life.change(bootstrap?.id ?? '', { state: 'removing', removal });
    };
    const { outcome } = await through([meanwhile], async (at) => outcomeOf(await runAt(flagsOf('going'), at)), 5);
    expect(outcome.result.problem?.detail).to.include('going is being removed');
  });
});
