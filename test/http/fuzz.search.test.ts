import { request as httpRequest } from 'node:http';
import { expect } from 'chai';
import { optionNames } from '../../shared/bootstrap/options.js';
import { bySeed, createRounds, searchMs, seed } from '../support/search.js';
import { type BootstrapsServer, createBootstrapsServer, makeRequest } from './bootstraps-server.js';
import { createIssuer, type Issuer } from './issuer.js';

/** So many find each of the replies that are waited for. */
const fewest = 500;

/** mulberry32: the same seed, the same requests. */
function createRandom(from: number): () => number {
  let state = from;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let t = Math.imul(state ^ (state >>> 15), 1 | state);
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
    return ((t ^ (t >>> 14)) >>> 0) / 4294967296;
  };
}

interface Sent {
  readonly method: string;
  readonly path: string;
  readonly headers: Record<string, string>;
  readonly body: Buffer | undefined;
}

function createFuzzer(random: () => number, id: string, token: string) {
  const pick = <T>(from: readonly T[]): T => from[Math.floor(random() * from.length)] as T;
  const maybe = (chance: number): boolean => random() < chance;
  const text = (most: number, from = 0x21, to = 0x7e): string =>
    String.fromCharCode(
      ...Array.from({ length: Math.floor(random() * most) }, () => from + Math.floor(random() * (to - from))),
    );

  const segment = (): string =>
    pick([
      'bootstraps',
      'events',
      'config',
      'secrets',
      'cancel',
      'age-identity',
      'problems',
      'bad-input',
      id,
      '',
      '.',
      '..',
      '%2e%2e',
      '%00',
      '%',
      '%zz',
      '%ff%fe',
      '__proto__',
      'constructor',
      text(300).replaceAll(/[\s#]/g, ''),
    ]);
  const query = (): string =>
    pick([
      '',
      '',
      '?dryRun=true',
      '?dryRun=1',
      '?all=true',
      `?name=${'x'.repeat(200)}`,
      '?cursor=MS4x',
      '?cursor=%',
      '?datacenter=dc2',
      '?datacenter=__proto__',
      '?__proto__=1&constructor=2',
      '?a=1&a=2',
      `?${text(60).replaceAll('#', '')}`,
    ]);
  const path = (): string =>
    (maybe(0.6)
      ? pick(['/bootstraps', `/bootstraps/${id}`, `/bootstraps/${id}/${segment()}`, `/problems/${segment()}`])
      : `/${Array.from({ length: Math.floor(random() * 5) }, segment).join('/')}`) + query();

  const value = (depth = 0): unknown =>
    pick<() => unknown>([
      () => null,
      () => random() * 1e9,
      () => -1,
      () => maybe(0.5),
      () => text(50, 0x20, 0xd7ff),
      () => 'x'.repeat(5000),
      () => (depth > 3 ? [] : [value(depth + 1)]),
      () => (depth > 3 ? {} : { [pick(['__proto__', 'toString', 'a', 'dc1', 'options'])]: value(depth + 1) }),
    ])();
  const json = (): string => {
    const body = makeRequest('fuzzed') as unknown as Record<string, unknown>;
    const options = { ...(body['options'] as object) } as Record<string, unknown>;
    for (let i = Math.floor(random() * 4); i > 0; i -= 1) options[pick([...optionNames, text(10)])] = value();
    if (maybe(0.3)) delete options[pick(Object.keys(options))];
    const whole: Record<string, unknown> = { ...body, options };
    if (maybe(0.3)) whole[pick(['options', 'sshPublicKey', 'base', 'strict', 'x'])] = value();
    const written = JSON.stringify(maybe(0.1) ? value() : whole) ?? '';
    if (!maybe(0.2)) return written;
    const at = Math.floor(random() * written.length);
    return written.slice(0, at) + text(5) + written.slice(at + Math.floor(random() * 5));
  };
  const body = (): Buffer | undefined => {
    if (maybe(0.2)) return undefined;
    if (maybe(0.1)) return Buffer.from(Array.from({ length: 200 }, () => Math.floor(random() * 256)));
    return Buffer.from(json());
  };

  const headers = (): Record<string, string> => {
    const all: Record<string, string> = {};
    if (maybe(0.8)) all['authorization'] = `Bearer ${token}`;
    else if (maybe(0.5)) all['authorization'] = pick(['Bearer', 'Bearer a.b.c', 'Basic eA==', text(100)]);
    if (maybe(0.8)) all['content-type'] = 'application/json';
    else
      all['content-type'] = pick([
        'text/plain',
        'application/json; charset=x',
        ';;',
        'application/cloudevents+json',
        text(30),
      ]);
    if (maybe(0.1)) all['content-encoding'] = pick(['gzip', 'br', 'deflate', 'zstd', text(10)]);
    if (maybe(0.1)) all['last-event-id'] = pick(['MS4x', text(50), '']);
    if (maybe(0.1)) all['traceparent'] = pick([`00-${'0'.repeat(32)}-${'0'.repeat(16)}-00`, text(60)]);
    if (maybe(0.1)) all['x-cloud-trace-context'] = text(60);
    if (maybe(0.05)) all['ce-id'] = '1';
    if (maybe(0.05)) all['expect'] = '100-continue';
    if (maybe(0.05)) all['accept'] = text(40);
    return all;
  };

  /** Among all the malformed ones some that are well formed: they show that the server still does its work. */
  const sound = (): Sent => ({
    method: 'GET',
    path: pick(['/bootstraps', `/bootstraps/${id}`]),
    headers: { authorization: `Bearer ${token}` },
    body: undefined,
  });

  const malformed = (): Sent => ({
    method: maybe(0.85)
      ? pick(['GET', 'POST', 'POST', 'POST'])
      : pick(['PUT', 'DELETE', 'HEAD', 'OPTIONS', 'PATCH', 'TRACE', 'PROPFIND']),
    path: path(),
    headers: headers(),
    body: body(),
  });

  return () => (maybe(0.05) ? sound() : malformed());
}

/** Status, type and the first of the body; a stream is left after its first words. */
function send(
  origin: string,
  { method, path, headers, body }: Sent,
): Promise<{ status: number; type: string; text: string }> {
  const { hostname, port } = new URL(origin);
  return new Promise((resolve, reject) => {
    // Node says the length of a body of its own accord with some methods only.
    const length = body === undefined ? {} : { 'content-length': String(body.length) };
    const outgoing = httpRequest({ hostname, port, method, path, headers: { ...headers, ...length } }, (reply) => {
      const type = reply.headers['content-type'] ?? '';
      const chunks: Buffer[] = [];
      const finish = (): void => {
        resolve({ status: reply.statusCode ?? 0, type, text: Buffer.concat(chunks).toString() });
        if (type === 'text/event-stream') outgoing.destroy();
      };
      reply.on('data', (chunk: Buffer) => {
        chunks.push(chunk);
        if (type === 'text/event-stream') finish();
      });
      reply.on('end', finish).on('error', () => undefined);
    });
    outgoing.setTimeout(60_000, () => outgoing.destroy(new Error('no answer within a minute')));
    outgoing.on('error', reject);
    outgoing.end(body);
  });
}

describe('whatever is sent', () => {
  let issuer: Issuer;
  let server: BootstrapsServer;
  before(async () => {
    issuer = await createIssuer();
    server = await createBootstrapsServer(issuer, {
      env: {
        PLINTH_ENDPOINTS: `issuer-keys=${issuer.jwksUrl},forge1-api=${issuer.url}`,
        PLINTH_LIVING_PER_OWNER: '10000',
        PLINTH_LIVING_IN_ALL: '10000',
      },
    });
  });
  after(async () => {
    await server.settle();
    server.close();
    issuer.close();
  });

  it(`is answered, and by no fault of ours ${bySeed}`, async function () {
    this.timeout(searchMs + 240_000);
    const reply = await server.fetch('POST', '/bootstraps', { body: makeRequest('to be fuzzed') });
    const { bootstrap } = (await reply.json()) as { bootstrap: { id: string } };
    const token = await issuer.token('alice@example.com', { claims: { hd: 'example.com' } });
    const next = createFuzzer(createRandom(seed), bootstrap.id, token);
    const statuses = new Map<number, number>();
    const goesOn = createRounds(fewest);
    for (let round = 0; goesOn(); round += 1) {
      const sent = next();
      const shown = `${sent.method} ${sent.path} ${JSON.stringify(sent.headers)} ${sent.body?.toString().slice(0, 2000)}`;
      const { status, type, text } = await send(server.origin, sent).catch((error: Error) => {
        throw new Error(`${error.message} (round ${round}): ${shown}`);
      });
      statuses.set(status, (statuses.get(status) ?? 0) + 1);
      expect(status, `round ${round}: ${shown}\n${server.logged.at(-1)}`).to.be.lessThan(500);
      if (status < 400) continue;
      expect(type, `round ${round}: ${shown}`).to.equal('application/problem+json');
      expect(text).not.to.match(/\.[jt]s:\d|<pre>|planted-/);
    }
    // The requests are neither all refused at the first door nor all let through.
    expect([...statuses.keys()]).to.include.members([200, 400, 401, 404, 405, 415]);
  });
});
