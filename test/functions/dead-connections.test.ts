/** A connection whose other side is gone without a word costs the calls that are under way on it, and no later ones. */
import { once } from 'node:events';
import { createServer } from 'node:http';
import { createServer as createHttp2Server } from 'node:http2';
import { type AddressInfo, connect, createServer as createTcpServer, type Socket } from 'node:net';
import { expect } from 'chai';
import { createTokenSource } from '../../functions/host/access-token.js';
import { createFirestoreStore } from '../../functions/store/firestore.js';

/** Everything between two sides, on one connection each. From `freeze` on, the connections of that moment carry nothing. */
async function createRelay(to: number) {
  const open = new Set<Socket>();
  const frozen = new Set<Socket>();
  let connections = 0;
  const relay = createTcpServer((near) => {
    connections += 1;
    const far = connect(to, '127.0.0.1');
    open.add(near);
    near.on('data', (data) => frozen.has(near) || far.write(data)).on('close', () => far.destroy());
    far
      .on('data', (data) => frozen.has(near) || near.write(data))
      .on('close', () => frozen.has(near) || near.destroy());
    for (const socket of [near, far]) socket.on('error', () => undefined);
  }).listen(0, '127.0.0.1');
  await once(relay, 'listening');
  return {
    port: (relay.address() as AddressInfo).port,
    connections: () => connections,
    freeze: () => open.forEach((near) => void frozen.add(near)),
    close() {
      relay.close();
      for (const near of open) near.destroy();
    },
  };
}

describe('a connection that is dead without a word', function () {
  this.timeout(20_000);
  it('to the metadata server holds up no later call for a token', async () => {
    let asked = 0;
    const metadata = createServer((_, reply) => {
      asked += 1;
      if (asked === 1) return;
      reply.setHeader('content-type', 'application/json').setHeader('metadata-flavor', 'Google');
      reply.end(JSON.stringify({ access_token: 'second', expires_in: 3600, token_type: 'Bearer' }));
    }).listen(0, '127.0.0.1');
    await once(metadata, 'listening');
    const names = ['GCE_METADATA_HOST', 'K_SERVICE'] as const;
    const before = names.map((name) => [name, process.env[name]] as const);
    process.env['GCE_METADATA_HOST'] = `127.0.0.1:${(metadata.address() as AddressInfo).port}`;
    // As on Cloud Run, where Google's library sets no limit.
    process.env['K_SERVICE'] = 'test';
    try {
      const token = createTokenSource({ serviceAccount: 'default' }, 0.2);
      const [first, waiting] = await Promise.allSettled([token(false), token(false)]);
      expect([first.status, waiting.status]).to.deep.equal(['rejected', 'rejected']);
      expect(await token(false)).to.equal('second');
      expect(asked).to.equal(2);
    } finally {
      for (const [name, value] of before) {
        if (value === undefined) delete process.env[name];
        else process.env[name] = value;
      }
      metadata.closeAllConnections();
      metadata.close();
    }
  });

  it('to Firestore is replaced by another one', async () => {
    // Refuses every call, which is an answer, too.
    const firestore = createHttp2Server().listen(0, '127.0.0.1');
    firestore.on('stream', (stream) => {
      const refusal = { 'grpc-status': '3', 'grpc-message': 'refused' };
      stream.respond({ ':status': 200, 'content-type': 'application/grpc', ...refusal }, { endStream: true });
    });
    await once(firestore, 'listening');
    const relay = await createRelay((firestore.address() as AddressInfo).port);
    const store = createFirestoreStore(
      {
        project: 'p',
        serviceAccount: 'default',
        firestore: { database: '(default)', emulatorHost: `127.0.0.1:${relay.port}` },
      },
      { silentSeconds: 0.2, answerSeconds: 0.2 },
    );
    const commit = () =>
      store
        .commit([{ kind: 'delete', collection: 'bootstraps', id: 'b1' }])
        .catch((error: { readonly code?: unknown }) => error.code);
    try {
      expect(await commit()).to.equal(3);
      expect(relay.connections()).to.equal(1);
      relay.freeze();
      await commit();
      expect(await commit()).to.equal(3);
      expect(relay.connections()).to.equal(2);
    } finally {
      relay.close();
      firestore.close();
    }
  });
});
