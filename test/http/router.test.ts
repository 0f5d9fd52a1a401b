import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { request as httpRequest, type IncomingMessage, type Server } from 'node:http';
import { type AddressInfo, connect } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { gzipSync } from 'node:zlib';
import { http } from '@google-cloud/functions-framework';
import { getTestServer } from '@google-cloud/functions-framework/testing';
import { expect } from 'chai';
import * as z from 'zod';
import { onFirstRequest } from '../../functions/first-use.js';
import { type Clock, realClock } from '../../functions/host/clock.js';
import { createLog } from '../../functions/host/log.js';
import { takeFrameworkServers } from '../../functions/http/framework-server.js';
import { createRouter } from '../../functions/http/router.js';
import { noTracing } from '../../functions/tracing/tracing.js';
import { createMemoryStore } from '../../local/functions/memory-store.js';
import type { RouteTable } from '../../shared/api.js';
import { Problem } from '../../shared/problems.js';
import { until } from '../support/halves.js';

const echo = { description: 'What came', type: 'application/json', schema: z.unknown() } as const;

const routes = {
  putThing: {
    method: 'PUT',
    path: '/things/{id}',
    tag: '',
    summary: '',
    description: '',
    caller: 'known',
    params: z.strictObject({ id: z.string().regex(/^\d+$/, 'is no number') }),
    query: z.strictObject({ mode: z.enum(['a', 'b']).default('a') }),
    body: z.strictObject({ name: z.string(), size: z.int(), token: z.string().optional() }),
    replies: { 200: echo },
    problems: [],
  },
  getThing: {
    method: 'GET',
    path: '/things/{id}',
    tag: '',
    summary: '',
    description: '',
    caller: 'anyone',
    params: z.strictObject({ id: z.string() }),
    replies: { 200: echo },
    problems: [],
  },
  fail: {
    method: 'POST',
    path: '/failures',
    tag: '',
    summary: '',
    description: '',
    caller: 'anyone',
    body: z.object({ how: z.string(), token: z.string().optional() }),
    bodyLimitBytes: 2 * 1024 * 1024,
    replies: { 200: echo },
    problems: [],
  },
  stream: {
    method: 'GET',
    path: '/stream',
    tag: '',
    summary: '',
    description: '',
    caller: 'anyone',
    replies: { 200: { description: '', type: 'text/event-stream', schema: z.string() } },
    problems: [],
  },
} as const satisfies RouteTable;

describe('the router', () => {
  let server: Server;
  let origin: string;
  const logged: string[] = [];
  let [streamBegun, streamEnded] = [0, 0];
  let waitEnds: (() => void) | undefined;
  let waitBegins: () => void = () => undefined;
  /** The time limit of a body, while one is read. */
  let onLate: (() => void) | undefined;
  const clock: Clock = {
    ...realClock,
    after(seconds, work) {
      if (seconds !== 30) return realClock.after(seconds, work);
      onLate = work;
      return () => {
        onLate = undefined;
      };
    },
  };

  /** Waits until the client has gone, and fails with `how` waits do. */
  async function waitForClient(how: string, gone: AbortSignal): Promise<never> {
    waitBegins();
    try {
      if (how === 'bug') {
        await once(gone, 'abort');
        throw new Error('a bug of a request without a client');
      }
      return await sleep(60_000, undefined as never, { signal: gone }).catch((cause: unknown) => {
        throw how === 'cloud' ? new Problem('cloud-unavailable', 'Google did not answer.', { cause }) : cause;
      });
    } finally {
      // The router is told of it first.
      setImmediate(() => waitEnds?.());
    }
  }

  before(async () => {
    takeFrameworkServers();
    const handler = createRouter({
      context: {
        config: { project: 'plinth-test' } as never,
        clock,
        log: createLog({ write: (line) => logged.push(line) }),
        store: createMemoryStore(),
        tracing: noTracing,
      },
      routes,
      authenticate: async ({ authorization }) => {
        if (authorization === undefined) throw new Problem('unauthenticated', 'The request bears no token.');
        return {
          email: 'alice@example.com',
          identity: 'https://issuer.example 1',
          member: 'user:alice@example.com',
          operator: false,
        };
      },
      registerSecrets: ({ register }, body) => {
        const token = (body as { token?: unknown } | null)?.token;
        if (typeof token === 'string') register(token);
      },
      handlers: {
        putThing: async ({ params, query, body, caller }) => ({
          status: 200,
          body: { id: params.id, mode: query.mode, name: body.name, email: caller.email },
        }),
        getThing: async ({ params }) => ({ status: 200, body: { id: params.id } }),
        fail: async ({ body, gone }) => {
          if (body.how === 'wait') return waitForClient(body.token ?? '', gone);
          if (body.how === 'limit') throw new Problem('too-many', 'Ten live at once.', { retryAfterSeconds: 1.5 });
          if (body.how === 'cloud') throw new Problem('cloud-unavailable', `It refused ${body.token}`);
          throw new Error(`a bug near ${body.token}`, { cause: new Error(`deeper ${body.token}`) });
        },
        stream: async ({ gone }) => ({
          status: 200,
          headers: { 'content-type': 'text/event-stream' },
          body: (async function* () {
            streamBegun += 1;
            try {
              for (let n = 0; !gone.aborted; n += 1) {
                yield `data: ${n} ${'x'.repeat(20_000)}\n\n`;
                await new Promise((resolve) => setTimeout(resolve, 5));
              }
            } finally {
              streamEnded += 1;
            }
          })(),
        }),
      },
    });
    http('router-under-test', handler);
    server = getTestServer('router-under-test');
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  });
  after(() => {
    server.closeAllConnections();
    server.close();
  });

  const authorized = { authorization: 'Bearer x', 'content-type': 'application/json' };
  const put = (body: RequestInit['body'], headers: Record<string, string> = authorized, path = '/things/7') =>
    fetch(origin + path, { method: 'PUT', headers, body: body ?? null });
  const post = (body: unknown) =>
    fetch(`${origin}/failures`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(body),
    });

  async function expectProblem(reply: Response, status: number): Promise<Record<string, unknown>> {
    const text = await reply.text();
    expect(reply.status, text).to.equal(status);
    expect(reply.headers.get('content-type')).to.equal('application/problem+json');
    const body = JSON.parse(text);
    expect(body.type).to.equal(`/problems/${body.code}`);
    expect(body.status).to.equal(status);
    expect(body.title).to.be.a('string');
    expect(body.instance).to.match(/^[0-9a-f]{32}$/);
    expect(text).not.to.contain('.js:');
    return body;
  }

  it('gives a handler what its schemas made of path, query and body', async () => {
    const reply = await put(JSON.stringify({ name: 'é', size: 1 }), authorized, '/things/7?mode=b');
    expect(await reply.json()).to.deep.equal({ id: '7', mode: 'b', name: 'é', email: 'alice@example.com' });
    expect(reply.headers.get('cache-control')).to.equal('no-store');
  });

  it('decodes a parameter of the path', async () => {
    expect(await (await fetch(`${origin}/things/a%2Fb%20c`)).json()).to.deep.equal({ id: 'a/b c' });
  });

  it('names all faults of path, query and body at once', async () => {
    const reply = await put(JSON.stringify({ size: 'x', nmae: 'y', more: 1 }), authorized, '/things/x?mode=c&q=1');
    const { errors } = (await expectProblem(reply, 400)) as { errors: { path: string }[] };
    expect(errors.map(({ path }) => path).sort()).to.deep.equal(
      ['path.id', 'query.mode', 'query.q', 'name', 'size', 'nmae', 'more'].sort(),
    );
  });

  it('names each key that a body has more than once, with all other faults', async () => {
    const repeated = '{"name":"x","size":1,"n\\u0061me":"y","nmae":[1,{"a":1,"b":{"c":1,"c":1,"c":2}}],"size":2}';
    const { errors } = (await expectProblem(await put(repeated), 400)) as {
      errors: { path: string; message: string }[];
    };
    expect(errors).to.have.deep.members([
      { path: 'name', message: 'is given more than once' },
      { path: 'nmae.1.b.c', message: 'is given more than once' },
      { path: 'size', message: 'is given more than once' },
      { path: 'nmae', message: 'is not known here' },
    ]);
    const alike = '{"name":"\\",\\"name\\":","size":1}';
    expect((await put(alike)).status).to.equal(200);
  });

  for (const [what, body, message] of [
    ['more levels than any route takes', `${'['.repeat(33)}${']'.repeat(33)}`, 'has more than 32 levels'],
    ['more values than any route takes', `[${'[],'.repeat(20_000)}[]]`, 'has more than 20000 values'],
  ] as const) {
    it(`takes no body with ${what}`, async () => {
      const reply = await put(body);
      expect((await expectProblem(reply, 400))['errors']).to.deep.equal([{ path: 'body', message }]);
    });
  }

  it('refuses a query name given twice, and any query where none is taken', async () => {
    await expectProblem(await put('{"name":"x","size":1}', authorized, '/things/7?mode=a&mode=b'), 400);
    await expectProblem(await fetch(`${origin}/things/7?mode=a`), 400);
  });

  const badBodies: Record<string, [body: RequestInit['body'], status: number, headers?: Record<string, string>]> = {
    nothing: [null, 400],
    'malformed JSON': ['{"name":', 400],
    'JSON with a comma too many': ['{"name":"x","size":1,}', 400],
    'a bare word': ['name', 400],
    'a number': ['7', 400],
    null: ['null', 400],
    'an array': ['[]', 400],
    'bytes that are not UTF-8': [new Uint8Array([0x22, 0xff, 0x22]), 400],
    'very deep nesting': ['['.repeat(60_000), 400],
    'a field named __proto__': ['{"name":"x","size":1,"__proto__":{"a":1}}', 400],
    'a field named constructor': ['{"name":"x","size":1,"constructor":{"a":1}}', 400],
    'a form': ['name=x', 415, { 'content-type': 'application/x-www-form-urlencoded' }],
    'plain text': ['{"name":"x","size":1}', 415, { 'content-type': 'text/plain' }],
    'a media type that is none': ['{"name":"x","size":1}', 415, { 'content-type': ';;;' }],
    'another charset': ['{"name":"x","size":1}', 415, { 'content-type': 'application/json; charset=latin1' }],
    'an unknown charset': ['{"name":"x","size":1}', 415, { 'content-type': 'application/json; charset=zzz' }],
    'a compressed body': [new Uint8Array(gzipSync('{"name":"x","size":1}')), 415, { 'content-encoding': 'gzip' }],
    'an unknown coding': ['{"name":"x","size":1}', 415, { 'content-encoding': 'zzz' }],
    'one byte over 64 KiB': [`{"name":"${'x'.repeat(64 * 1024 - 20)}","size":1}`.padEnd(64 * 1024 + 1), 413],
    'three megabytes': [' '.repeat(3 * 1024 * 1024), 413],
  };
  for (const [name, [body, status, headers]] of Object.entries(badBodies)) {
    it(`answers ${status} to ${name}`, async () => {
      await expectProblem(await put(body, { ...authorized, ...headers }), status);
    });
  }

  it('takes a body of just 64 KiB, a charset in quotes, and more where the route says so', async () => {
    const json = '{"name":"x","size":1}';
    expect((await put(json.padEnd(64 * 1024))).status).to.equal(200);
    expect((await put(json, { ...authorized, 'content-type': 'Application/JSON; charset="UTF-8"' })).status).to.equal(
      200,
    );
    await expectProblem(await post({ how: 'limit', more: 'x'.repeat(1_900_000) }), 429);
  });

  for (const [how, what, lines] of [
    ['nothing', 'is waited for', []],
    ['cloud', 'is a call to the cloud', []],
    ['bug', 'is a bug', ['ERROR']],
  ] as const) {
    it(`logs ${lines.length === 0 ? 'no failure' : 'the failure'} of a request whose client has gone while it ${what}`, async () => {
      const before = logged.length;
      const client = new AbortController();
      const begun = new Promise<void>((resolve) => {
        waitBegins = resolve;
      });
      const ended = new Promise<void>((resolve) => {
        waitEnds = resolve;
      });
      const reply = fetch(`${origin}/failures`, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify({ how: 'wait', token: how }),
        signal: client.signal,
      }).catch(() => undefined);
      await begun;
      client.abort();
      await Promise.all([reply, ended]);
      expect(logged.slice(before).map((line) => JSON.parse(line).severity)).to.deep.equal(lines);
    });
  }

  it('takes a body for so long, and then says so', async () => {
    const { port } = server.address() as AddressInfo;
    const request = httpRequest({ host: '127.0.0.1', port, path: '/things/7', method: 'PUT', headers: authorized });
    const answered = once(request, 'response') as Promise<[IncomingMessage]>;
    request.write('{"name":');
    const late = await until('the body is read', () => onLate, 10);
    late();
    const [reply] = await answered;
    const text = (await reply.toArray()).join('');
    request.destroy();
    expect(reply.statusCode).to.equal(400);
    expect(JSON.parse(text).errors).to.deep.equal([{ path: 'body', message: 'did not end within 30 seconds' }]);
    expect(onLate).to.equal(undefined);
  });

  it('hangs up on a body that does not end', async () => {
    const socket = connect(Number(new URL(origin).port), '127.0.0.1');
    let answer = '';
    socket.on('data', (data) => {
      answer += data;
    });
    socket.write('POST /failures HTTP/1.1\r\nhost: x\r\ntransfer-encoding: chunked\r\n\r\n');
    const chunk = `${(1024 * 1024).toString(16)}\r\n${' '.repeat(1024 * 1024)}\r\n`;
    const closed = new Promise<void>((resolve) => {
      socket.on('close', () => resolve());
      socket.on('error', () => resolve());
    });
    // Node 24 tells of a write that failed before it closes the socket: whoever then writes again at once never lets it close.
    const feed = (error?: Error | null): void => {
      if (!error) socket.write(chunk, feed);
    };
    feed();
    await closed;
    expect(answer === '' || answer.startsWith('HTTP/1.1 413')).to.equal(true);
  });

  it('says 404 for paths that are none, however malformed', async () => {
    for (const path of [
      '/',
      '/nothing',
      '/things',
      '/things/',
      '/things/7/',
      '//things/7',
      '/favicon.ico',
      '/robots.txt',
    ]) {
      await expectProblem(await fetch(origin + path), 404);
    }
    for (const path of ['/things/%', '/things/%zz', '/%ff', '/things/%c0%af', 'http://x/things/7', '*']) {
      const reply = await raw(path);
      expect(reply.statusCode, path).to.equal(404);
      expect(reply.headers['content-type']).to.equal('application/problem+json');
    }
  });
  const raw = (path: string, method = path === '*' ? 'OPTIONS' : 'GET'): Promise<IncomingMessage> =>
    new Promise((resolve, reject) => {
      const { port } = server.address() as AddressInfo;
      httpRequest({ host: '127.0.0.1', port, path, method }, (reply) => resolve(reply.resume()))
        .on('error', reject)
        .end();
    });

  it('says 405 and what is allowed', async () => {
    const reply = await fetch(`${origin}/things/7`, { method: 'DELETE' });
    await expectProblem(reply, 405);
    expect(reply.headers.get('allow')).to.equal('PUT, GET, HEAD');
    await expectProblem(await fetch(`${origin}/things/7`, { method: 'OPTIONS' }), 405);
  });

  it('answers HEAD as it does GET, without the body', async () => {
    const got = await fetch(`${origin}/things/7`, { headers: authorized });
    const head = await fetch(`${origin}/things/7`, { method: 'HEAD', headers: authorized });
    expect(head.status).to.equal(200);
    for (const name of ['content-type', 'content-length', 'cache-control']) {
      expect(head.headers.get(name), name).to.equal(got.headers.get(name));
    }
    expect(await head.text()).to.equal('');
    expect((await fetch(`${origin}/nothing`, { method: 'HEAD' })).status).to.equal(404);
    expect((await fetch(`${origin}/failures`, { method: 'HEAD' })).status).to.equal(405);

    const begun = streamBegun;
    const stream = await fetch(`${origin}/stream`, { method: 'HEAD', headers: authorized });
    expect(stream.headers.get('content-type')).to.equal('text/event-stream');
    expect(await stream.text()).to.equal('');
    expect(streamBegun).to.equal(begun);
  });

  it('asks for a token before it looks at what was sent', async () => {
    const reply = await put('{', { 'content-type': 'application/json' });
    await expectProblem(reply, 401);
    expect(reply.headers.get('www-authenticate')).to.equal('Bearer realm="plinth"');
  });

  it('rounds Retry-After up', async () => {
    const reply = await post({ how: 'limit' });
    await expectProblem(reply, 429);
    expect(reply.headers.get('retry-after')).to.equal('2');
  });

  it('says nothing of its own faults but the trace id, under which the log has the rest, without secrets', async () => {
    const token = 'planted-secret';
    const traceId = randomBytes(16).toString('hex');
    const reply = await fetch(`${origin}/failures`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', traceparent: `00-${traceId}-${'1'.repeat(16)}-01` },
      body: JSON.stringify({ how: 'bug', token }),
    });
    const body = await expectProblem(reply, 500);
    expect(body['instance']).to.equal(traceId);
    expect(JSON.stringify(body)).not.to.contain('bug');
    const line = logged.find((each) => each.includes(traceId));
    expect(line).to.contain('a bug near').and.to.contain('deeper').and.not.to.contain(token);
    const cloud = await expectProblem(await post({ how: 'cloud', token }), 503);
    expect(cloud['detail']).to.equal('It refused <secret>');
  });

  it('says as little of a function that cannot be loaded, and tries again at the next call', async () => {
    let tries = 0;
    const lines: string[] = [];
    const load = async (): Promise<never> => {
      tries += 1;
      throw new Error('a setting is missing');
    };
    http(
      'broken-under-test',
      onFirstRequest(
        'broken-under-test',
        load,
        (_, message, fields) => void lines.push(`${message} ${fields?.['error']}`),
      ),
    );
    const broken = getTestServer('broken-under-test');
    await new Promise<void>((resolve) => broken.listen(0, '127.0.0.1', resolve));
    const url = `http://127.0.0.1:${(broken.address() as AddressInfo).port}`;
    for (const _ of [1, 2]) {
      const body = await expectProblem(await fetch(url), 500);
      expect(JSON.stringify(body)).not.to.contain('setting');
    }
    expect(tries).to.equal(2);
    expect(lines[0]).to.contain('a setting is missing');
    broken.closeAllConnections();
    broken.close();
  });

  it("takes the trace of Google's front ends", async () => {
    const traceId = randomBytes(16).toString('hex');
    const reply = await fetch(`${origin}/nothing`, { headers: { 'x-cloud-trace-context': `${traceId}/123;o=1` } });
    expect((await expectProblem(reply, 404))['instance']).to.equal(traceId);
  });

  it('lets go of a stream whose client has gone', async () => {
    const before = streamEnded;
    const client = new AbortController();
    const reply = await fetch(`${origin}/stream`, { signal: client.signal });
    const reader = (reply.body as ReadableStream<Uint8Array>).getReader();
    expect(new TextDecoder().decode((await reader.read()).value)).to.match(/^data: 0/);
    client.abort();
    await reader.cancel().catch(() => undefined);
    while (streamEnded === before) await new Promise((resolve) => setTimeout(resolve, 10));
    expect(streamEnded).to.equal(before + 1);
  });

  it('lets go of a stream whose client has stopped reading and then gone', async () => {
    const before = streamEnded;
    const socket = connect(Number(new URL(origin).port), '127.0.0.1');
    socket.pause();
    const begun = streamBegun;
    socket.write('GET /stream HTTP/1.1\r\nhost: x\r\n\r\n');
    while (streamBegun === begun) await new Promise((resolve) => setTimeout(resolve, 10));
    // Until nothing more fits between the two.
    await new Promise((resolve) => setTimeout(resolve, 300));
    socket.destroy();
    while (streamEnded === before) await new Promise((resolve) => setTimeout(resolve, 10));
    expect(streamEnded).to.equal(before + 1);
  });
});
