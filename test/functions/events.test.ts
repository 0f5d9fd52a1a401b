import type { AddressInfo } from 'node:net';
import { getTestServer } from '@google-cloud/functions-framework/testing';
import { expect } from 'chai';
import type { Context } from '../../functions/context.js';
import { deployables, register } from '../../functions/index.js';
import { runStep } from '../../functions/triggers/run-step.js';
import { functionNames } from '../../shared/names.js';
import { toy } from '../engine/toys.js';
import { createWorld, type World } from '../engine/world.js';
import { createIssuer, type Issuer } from '../http/issuer.js';

const scheduler = 'plinth-scheduler@plinth-test.iam.gserviceaccount.com';
const audience = 'https://plinth.example.com';

describe('the functions that events call', () => {
  let issuer: Issuer;
  let world: World;
  let context: Context;
  before(async () => {
    issuer = await createIssuer();
  });
  after(() => issuer.close());
  beforeEach(() => {
    world = createWorld({
      PLINTH_ISSUER: issuer.url,
      PLINTH_ENDPOINTS: `issuer-keys=${issuer.jwksUrl}`,
      PLINTH_AUDIENCES: audience,
    });
    context = world.context;
    register(Object.values(deployables), () => context);
  });

  async function post(name: string, headers: Record<string, string>, body: string): Promise<Response> {
    const server = getTestServer(name).listen(0, '127.0.0.1');
    try {
      await new Promise((resolve) => server.once('listening', resolve));
      const { port } = server.address() as AddressInfo;
      return await fetch(`http://127.0.0.1:${port}/`, { method: 'POST', headers, body });
    } finally {
      server.close();
      server.closeAllConnections();
    }
  }

  /** As Eventarc sends it: a CloudEvent in binary mode. */
  const deliver = (name: string, data: string, spaces = 0) =>
    post(
      name,
      {
        'content-type': 'application/json',
        'ce-specversion': '1.0',
        'ce-id': '1',
        'ce-source': '//pubsub.googleapis.com/projects/plinth-test/topics/t',
        'ce-type': 'google.cloud.pubsub.topic.v1.messagePublished',
      },
      JSON.stringify({ message: { data, messageId: '1' }, subscription: 's' }) + ' '.repeat(spaces),
    );
  /** This world has no Google to ask what a function holds. */
  const told = () => world.logs.filter(({ severity }) => severity !== 'DEBUG');
  const encoded = (message: unknown): string => Buffer.from(JSON.stringify(message)).toString('base64');

  for (const [title, data] of [
    ['no JSON', Buffer.from('{').toString('base64')],
    ['no message of ours', encoded({ hello: 'world' })],
    ['one of a newer release', encoded({ schema: 99, bootstrapId: 'b1', instance: 'a', generation: 1 })],
    ['nothing', ''],
  ] as const) {
    it(`drop, and log as an error, ${title}`, async () => {
      const reply = await deliver(functionNames.runCloudStep, data);
      expect(reply.status).to.equal(204);
      expect(told().map(({ severity }) => severity)).to.deep.equal(['ERROR']);
    });
  }

  it('take a message for a bootstrap that is no more', async () => {
    const message = { schema: 1, bootstrapId: 'b1', instance: 'project', generation: 1 };
    expect((await deliver(functionNames.runHostStep, encoded(message))).status).to.equal(204);
    expect(told().map(({ message: text }) => text)).to.deep.equal(['project: ignored']);
  });

  it('drop, and log as an error, what is longer than any message of ours', async () => {
    const message = encoded({ schema: 1, bootstrapId: 'b1', instance: 'project', generation: 1 });
    expect((await deliver(functionNames.runHostStep, message, 64 * 1024)).status).to.equal(204);
    expect(told().map(({ severity }) => severity)).to.deep.equal(['ERROR']);
  });

  it('answer with an error what a redelivery may heal', async () => {
    world.kill({ call: 1, when: 'before' });
    const message = { schema: 1, bootstrapId: 'b1', instance: 'project', generation: 1 };
    expect((await deliver(functionNames.runCloudStep, encoded(message))).status).to.equal(500);
  });

  it('carry the trace of the request that began it', async () => {
    const step = toy(world, 'a');
    await world.begin([step]);
    const traceparent = `00-${'1'.repeat(32)}-${'2'.repeat(16)}-01`;
    await runStep(context, [step], { data: { message: { data: encoded(world.take()), attributes: { traceparent } } } });
    expect(world.logs.at(-1)?.fields).to.deep.include({
      'logging.googleapis.com/trace': `projects/plinth-test/traces/${'1'.repeat(32)}`,
      result: 'done',
    });
  });

  describe('sweep', () => {
    const sweep = async (email: string | undefined, claims: Record<string, unknown> = {}) =>
      post(
        functionNames.sweep,
        email === undefined
          ? {}
          : { authorization: `Bearer ${await issuer.token(email, { claims: { aud: audience, ...claims } })}` },
        '',
      );

    it('sends again what is due, called by the scheduler', async () => {
      await world.begin([toy(world, 'a')]);
      world.queue.length = 0;
      world.pass(61);
      const reply = await sweep(scheduler, { exp: Math.floor(Date.now() / 1000) + 3600 });
      expect(reply.status).to.equal(200);
      expect(await reply.json()).to.deep.include({ published: 1, more: false, warned: { warned: 0, more: false } });
      expect(world.queue).to.have.length(1);
    });

    it('is closed to everybody else', async () => {
      expect((await sweep(undefined)).status).to.equal(401);
      expect((await sweep('alice@example.com')).status).to.equal(403);
      expect((await sweep(scheduler, { aud: 'https://other.example.com' })).status).to.equal(401);
    });
  });
});
