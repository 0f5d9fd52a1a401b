/** Requests that try to be more, or something else, than one request: smuggled ones, and ids that lead out of their collection. */
import { once } from 'node:events';
import { connect } from 'node:net';
import { expect } from 'chai';
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
