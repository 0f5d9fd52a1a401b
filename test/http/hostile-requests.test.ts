/** Requests that try to be more, or something else, than one request: smuggled ones, and ids that lead out of their collection. */
import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { expect } from 'chai';
import { until } from '../support/halves.js';
import { type BootstrapsServer, createBootstrapsServer, makeRequest } from './bootstraps-server.js';
import { createIssuer, type Issuer } from './issuer.js';

const alice = 'alice@example.com';
const bob = 'bob@example.com';

describe('hostile requests', () => {
  let issuer: Issuer;
  let server: BootstrapsServer;
  let id: string;
  before(async () => {
    issuer = await createIssuer();
    server = await createBootstrapsServer(issuer);
    const { bootstrap } = await server.json<{ bootstrap: { id: string } }>(201, 'POST', '/bootstraps', {
      as: alice,
      body: makeRequest('hers'),
    });
    ({ id } = bootstrap);
  });
  after(() => {
    server.close();
    issuer.close();
  });

  describe('with an id that is none', () => {
    const ids: Readonly<Record<string, (id: string) => string>> = {
      'the folder above': () => '..',
      'the folder above, encoded': () => '%2e%2e',
      'the folder above, encoded twice': () => '%252e%252e',
      'another document behind a slash': (own) => `${own}%2Fleases%2Fx`,
      'a way back to the same document': (own) => `x%2F..%2F${own}`,
      'a backslash': (own) => `..%5C${own}`,
      'an end within': (own) => `${own}%00`,
      'a line more': (own) => `${own}%0d%0aset-cookie:%20a=b`,
      'a name that Firestore keeps for itself': () => '__all__',
      'letters that are folded': (own) => own.toUpperCase(),
      'more than a document’s name may hold': () => 'b'.repeat(2000),
    };
    for (const [title, of] of Object.entries(ids)) {
      it(`reach nothing: ${title}`, async () => {
        for (const [method, rest] of [
          ['GET', ''],
          ['GET', '/config'],
        ] as const) {
          // fetch would resolve the dots itself.
          const { status, body } = await raw(`${method} /bootstraps/${of(id)}${rest} HTTP/1.1`, await authorized(bob));
          expect(status, `${method} ${rest}`).to.equal(400);
          expect(body).to.include('is no id of a bootstrap');
          expect(body).not.to.include('hers').and.not.to.include('set-cookie: a=b');
        }
      });
    }
  });

  const authorized = async (email: string): Promise<string[]> => [`authorization: Bearer ${await issuer.token(email)}`];

  /** One connection, with these bytes. `answers`: how many status lines came. */
  async function raw(line: string, headers: readonly string[], body = '') {
    const { port, hostname } = new URL(server.origin);
    const socket = connect(Number(port), hostname);
    let text = '';
    socket.on('data', (chunk) => {
      text += String(chunk);
    });
    socket.on('error', () => undefined);
    socket.write([line, 'host: x', ...headers, 'connection: close', '', body].join('\r\n'));
    await once(socket, 'close');
    const statuses = [...text.matchAll(/^HTTP\/1\.1 (\d{3})/gm)].map(([, status]) => Number(status));
    return { status: statuses[0] ?? 0, statuses, body: text.slice(text.indexOf('\r\n\r\n')) };
  }

  /** A request whose body has begun and does not end. */
  async function unfinished(email: string, path = '/bootstraps'): Promise<{ socket: Socket; answer: Promise<string> }> {
    const { port, hostname } = new URL(server.origin);
    const socket = connect(Number(port), hostname);
    socket.on('error', () => undefined);
    const headers = ['host: x', ...(await authorized(email)), 'content-type: application/json', 'content-length: 1000'];
    socket.write(`POST ${path} HTTP/1.1\r\n${headers.join('\r\n')}\r\n\r\n{"options":`);
    const answer = once(socket, 'data').then(([data]) => String(data));
    answer.catch(() => undefined);
    return { socket, answer };
  }

  for (const [title, headers] of Object.entries({
    'as any other': [],
    'with the id of an event': ['ce-id: 1', 'content-type: application/json'],
    'as an event in JSON': ['content-type: application/cloudevents+json'],
    'that is compressed': ['content-encoding: gzip', 'content-type: application/json'],
  })) {
    it(`without a token are refused before a body comes: one ${title}`, async () => {
      const { status } = await raw('POST /bootstraps HTTP/1.1', [...headers, 'content-length: 16777216']);
      expect(status).to.equal(401);
    });
  }

  it('with many bodies that do not end are refused, and leave room for others', async () => {
    const open = await Promise.all(Array.from({ length: 8 }, () => unfinished(alice)));
    const one = await unfinished(alice);
    expect(await one.answer)
      .to.match(/^HTTP\/1\.1 429 /)
      .and.to.contain('"limit":"unfinishedBodies","value":8');
    await server.json(201, 'POST', '/bootstraps', { as: bob, body: makeRequest('his own') });
    for (const { socket } of [...open, one]) socket.destroy();
  });

  it('for more streams than one caller may have are refused, and leave room for others', async () => {
    server.world.closed = true;
    const { bootstrap } = await server.json<{ bootstrap: { id: string } }>(201, 'POST', '/bootstraps', {
      as: alice,
      body: makeRequest('followed'),
    });
    const path = `/bootstraps/${bootstrap.id}/events`;
    await server.json(200, 'POST', `/bootstraps/${bootstrap.id}/share`, { as: alice, body: { with: bob } });
    const clients = Array.from({ length: 20 }, () => new AbortController());
    // A response that nobody holds is collected as garbage, which closes its connection.
    const held: Response[] = [];
    const follow = async (as: string, { signal } = new AbortController()) => {
      const response = await server.fetch('GET', path, { as, signal });
      held.push(response);
      return response.status;
    };
    expect(await Promise.all(clients.map((each) => follow(alice, each)))).to.deep.equal(clients.map(() => 200));
    const problem = await server.problem(429, 'GET', path, { as: alice });
    expect(problem).to.include({ code: 'too-many', limit: 'streams', value: 20 });
    const other = new AbortController();
    expect(await follow(bob, other)).to.equal(200);
    for (const each of clients) each.abort();
    await until('the streams have ended', () => (server.watched() === 1 ? true : undefined), 10);
    const again = new AbortController();
    expect(await follow(alice, again)).to.equal(200);
    expect(held).to.have.lengthOf(22);
    for (const each of [other, again]) each.abort();
    server.world.closed = false;
  });

  it('that hide a second request behind two lengths, or a length and chunks, are refused whole', async () => {
    const hidden = `GET /bootstraps/${id} HTTP/1.1\r\nhost: x\r\n\r\n`;
    const both: readonly (readonly [headers: readonly string[], body: string])[] = [
      [['content-length: 4', 'transfer-encoding: chunked'], `0\r\n\r\n${hidden}`],
      [['content-length: 2', `content-length: ${2 + hidden.length}`], `{}${hidden}`],
      [['transfer-encoding: chunked, identity'], `0\r\n\r\n${hidden}`],
      [['transfer-encoding : chunked'], `0\r\n\r\n${hidden}`],
      [[`content-length: +2`], `{}${hidden}`],
    ];
    for (const [headers, body] of both) {
      const { statuses } = await raw('POST /bootstraps HTTP/1.1', [...headers, ...(await authorized(alice))], body);
      expect(statuses, headers.join()).to.deep.equal([400]);
    }
  });
});
