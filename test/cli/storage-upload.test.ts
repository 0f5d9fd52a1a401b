/** The sending of a file to Cloud Storage in a session, through a network that cuts it, and what its answers mean. */
import { randomBytes } from 'node:crypto';
import { mkdirSync, mkdtempSync, readdirSync, rmSync, utimesSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import { keptSession } from '../../cli/machines/kept-session.js';
import { sendToStorage } from '../../cli/machines/storage-upload.js';
import type { FileSource } from '../../functions/remote/remote.js';
import { Problem } from '../../shared/problems.js';
import { createSecretRedactor } from '../../shared/secret-redactor.js';
import { sha256 } from '../../shared/sha256.js';
import { owner, project, type ReadyCloud, readyCloud } from '../local-cloud/ready-cloud.js';
import { startRoughRelay } from '../support/rough-relay.js';

const bytes = randomBytes(20 * 1024 * 1024 + 7);
const source: FileSource = {
  size: bytes.length,
  sha256: sha256(bytes),
  async *read(offset) {
    for (let at = offset; at < bytes.length; at += 65_536) yield bytes.subarray(at, at + 65_536);
  },
};
const signal = new AbortController().signal;

describe('a file on its way to Cloud Storage', function () {
  this.timeout(60_000);

  describe('in the simulated cloud', () => {
    let cloud: ReadyCloud;
    beforeEach(async () => {
      cloud = await readyCloud();
    });
    afterEach(() => cloud.close());

    async function beginAt(origin: string): Promise<string> {
      await cloud.call('storage', `POST /storage/v1/b?project=${project}`, {
        name: 'uploads',
        iamConfiguration: { uniformBucketLevelAccess: { enabled: true } },
      });
      const begun = await fetch(`${origin}/upload/storage/v1/b/uploads/o?uploadType=resumable&name=file`, {
        method: 'POST',
        headers: { authorization: `Bearer ${cloud.identity.accessToken(owner)}` },
        body: '{}',
      });
      return begun.headers.get('location') ?? expect.fail('no session');
    }

    it('goes on where a cut left it, and arrives whole', async () => {
      const relay = await startRoughRelay(Number(new URL(cloud.endpoints.storage).port), {
        seed: 3,
        cutWithin: 12 * 1024 * 1024,
        mostCuts: 4,
      });
      try {
        const session = await beginAt(`http://127.0.0.1:${relay.port}`);
        const seen: number[] = [];
        let end: string | undefined;
        for (let tries = 0; end === undefined && tries < 10; tries++) {
          end = await sendToStorage(session, source, { onProgress: (at) => void seen.push(at), signal, env: {} }).catch(
            (error: unknown) => {
              expect(error).to.be.instanceOf(Problem).and.have.property('code', 'cloud-unavailable');
              expect((error as Problem).detail).to.not.include('upload_id');
              return undefined;
            },
          );
        }
        expect(end).to.equal('sent');
        expect(relay.cuts()).to.be.above(0);
        expect(seen).to.deep.equal([...seen].sort((a, b) => a - b));
        const reply = await fetch(`${cloud.endpoints.storage}/storage/v1/b/uploads/o/file?alt=media`, {
          headers: { authorization: `Bearer ${cloud.identity.accessToken(owner)}` },
        });
        expect(Buffer.from(await reply.arrayBuffer()).equals(bytes)).to.equal(true);
        expect(await sendToStorage(session, source, { signal, env: {} })).to.equal('sent');
      } finally {
        await relay.close();
      }
    });
  });

  it('leaves no session on the caller’s disk that Google has ended by now', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'plinth-sessions-'));
    try {
      const nameOf = (id: string) => `${id}-${source.sha256}`;
      for (const [id, days] of [
        ['b-of-yesterday', 1],
        ['b-ended-by-its-time', 8],
      ] as const) {
        mkdirSync(join(folder, 'uploads'), { recursive: true });
        const path = join(folder, 'uploads', nameOf(id));
        writeFileSync(path, 'http://127.0.0.1:9/session\n');
        const at = new Date(Date.now() - days * 86_400_000);
        utimesSync(path, at, at);
      }
      keptSession({ configFolder: folder, redactor: createSecretRedactor() }, 'b-new', source).write(
        'http://127.0.0.1:9/session',
      );
      const left = [nameOf('b-new'), nameOf('b-of-yesterday')];
      expect(readdirSync(join(folder, 'uploads')).sort()).to.deep.equal(left);
    } finally {
      rmSync(folder, { recursive: true, force: true });
    }
  });

  for (const [status, end] of [
    [200, 'sent'],
    [201, 'sent'],
    [403, 'over'],
    [404, 'over'],
    [410, 'over'],
    [412, 'over'],
    [499, 'over'],
    [400, 'cloud-input'],
    [429, 'cloud-unavailable'],
    [503, 'cloud-unavailable'],
  ] as const) {
    it(`is ${end} where Cloud Storage answers ${status}`, async () => {
      const server = createServer((_, response) => response.writeHead(status).end('said so'));
      await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
      try {
        const session = `http://127.0.0.1:${(server.address() as AddressInfo).port}/?upload_id=secret`;
        const found = await sendToStorage(session, source, { signal, env: {} }).catch(
          (error: unknown) => (error as Problem).code,
        );
        expect(found).to.equal(end);
      } finally {
        server.close();
      }
    });
  }
});
