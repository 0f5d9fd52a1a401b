import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { expect } from 'chai';
import { functionNames } from '../../shared/names.js';
import { version } from '../../shared/version.js';
import { startFramework } from '../support/framework.js';
import { until } from '../support/halves.js';
import { createIssuer, type Issuer } from './issuer.js';

/** As Eventarc sends a message; to the others they say nothing. */
const messageHeaders = {
  'content-type': 'application/json',
  'ce-specversion': '1.0',
  'ce-id': '1',
  'ce-source': '//pubsub.googleapis.com/projects/plinth-test/topics/t',
  'ce-type': 'google.cloud.pubsub.topic.v1.messagePublished',
};

describe('the function bootstraps in the framework as it is deployed', function () {
  this.timeout(240_000);
  let issuer: Issuer;
  let child: ChildProcess | undefined;
  before(async () => {
    issuer = await createIssuer();
  });
  afterEach(() => child?.kill('SIGKILL'));
  after(() => issuer.close());

  const settings = () => ({
    PLINTH_PROJECT: 'plinth-test',
    PLINTH_DEPLOYMENT: 'test',
    PLINTH_MACHINE_ACCESS: 'direct',
    PLINTH_SSH_SOURCE_RANGES: '127.0.0.0/8',
    PLINTH_ISSUER: issuer.url,
    PLINTH_ENDPOINTS: `issuer-keys=${issuer.jwksUrl}`,
    PLINTH_AUDIENCES: issuer.audience,
  });

  async function expectProblem(reply: Response, status: number): Promise<string> {
    const text = await reply.text();
    expect(reply.status, text).to.equal(status);
    expect(reply.headers.get('content-type')).to.equal('application/problem+json');
    return text;
  }

  it('answers malformed JSON and malformed paths itself, from the first request on', async () => {
    const framework = await startFramework(settings());
    child = framework.process;
    const authorization = `Bearer ${await issuer.token('alice@example.com')}`;
    const post = () =>
      fetch(`${framework.url}/bootstraps`, {
        method: 'POST',
        headers: { authorization, 'content-type': 'application/json' },
        body: '{"options":',
      });
    expect(await expectProblem(await post(), 400)).to.contain('not valid JSON');
    await expectProblem(await fetch(`${framework.url}/bootstraps/%zz`), 404);
    await expectProblem(await fetch(`${framework.url}/favicon.ico`), 404);
    await expectProblem(await fetch(`${framework.url}/bootstraps`), 401);
    expect((await fetch(`${framework.url}/problems/not-found`)).status).to.equal(200);
  });
});

describe('a function in a framework that is not the one that was tested', function () {
  this.timeout(240_000);

  it('does not start where the framework would read the bodies', async () => {
    const source = fileURLToPath(new URL('unlike-framework.js', import.meta.url));
    // It may end before anybody can connect, or just afterwards.
    const ended = await startFramework({}, functionNames.api, source).then(
      async ({ process }) => {
        const patience = setTimeout(() => process.kill('SIGKILL'), 10_000);
        const [code] = await once(process, 'exit');
        clearTimeout(patience);
        return `the framework ended with ${code}`;
      },
      ({ message }: Error) => message,
    );
    expect(ended).to.equal('the framework ended with 1');
  });
});

describe('a function that cannot be loaded', function () {
  this.timeout(240_000);
  let child: ChildProcess | undefined;
  afterEach(() => child?.kill('SIGKILL'));

  // One for requests and one for messages: each kind loads its functions in one way.
  for (const name of [functionNames.bootstraps, functionNames.runCloudStep]) {
    it(`is told of under the name ${name}, with each call, and each fails and tells nobody which settings it lacks`, async () => {
      const { url, process, logged } = await startFramework({}, name);
      child = process;
      const call = async () => {
        const reply = await fetch(url, { method: 'POST', headers: messageHeaders, body: '{"message":{}}' });
        expect(await reply.text()).not.to.contain('PLINTH_');
        return reply.status;
      };
      expect([await call(), await call()]).to.deep.equal([500, 500]);
      const told = () => logged().filter(({ severity }) => severity === 'CRITICAL');
      await until('both are told of', async () => (told().length > 1 ? true : undefined));
      for (const line of told()) {
        expect(line).to.deep.include({
          message: 'The function cannot be loaded',
          serviceContext: { service: name, version },
        });
        expect(line['stack_trace']).to.match(/PLINTH_PROJECT is not set/);
      }
      expect(told()).to.have.length(2);
    });
  }
});

describe('a rejection that nobody handles', function () {
  this.timeout(240_000);
  let child: ChildProcess | undefined;
  afterEach(() => child?.kill('SIGKILL'));

  it('ends the process, and its text reaches no request, neither its own nor the latest', async () => {
    const source = fileURLToPath(new URL('stray-rejection.js', import.meta.url));
    const { url, process, logged } = await startFramework({}, functionNames.api, source);
    child = process;
    const ended = once(process, 'exit');
    const ask = (path: string) =>
      fetch(`${url}${path}`)
        .then((reply) => reply.text())
        .catch(String);
    const first = ask('/first');
    const hasCome = () => logged().some(({ message }) => message === 'The first has come');
    await until('the first has come', () => hasCome() || undefined, 60);
    const texts = await Promise.all([first, ask('/second')]);
    expect(texts.join('\n')).not.to.contain('secret');
    expect(await ended).to.deep.equal([16, null]);
  });
});
