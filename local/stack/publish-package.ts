/** Puts a package into the bucket of a deployment, as whoever releases one does: the bucket if need be, both archives with their SHA-256. */
import { readFileSync } from 'node:fs';
import { basename } from 'node:path';
import type { SimulatedCloud } from '../cloud/index.js';
import type { MadePackage } from '../packages/make-package.js';
import { local, people } from './deployment.js';
import { makeBucket } from './resources.js';

export async function publishPackage(
  cloud: Pick<SimulatedCloud, 'endpoints' | 'identity'>,
  { version, hash, full, lite }: Pick<MadePackage, 'version' | 'hash' | 'full' | 'lite'>,
): Promise<void> {
  const ask = async (path: string, type: string, body: Buffer): Promise<void> => {
    const reply = await fetch(`${cloud.endpoints.storage}${path}`, {
      method: 'POST',
      headers: { authorization: `Bearer ${cloud.identity.accessToken(people.admin)}`, 'content-type': type },
      body: new Uint8Array(body),
    });
    const text = await reply.text();
    if (!reply.ok && reply.status !== 409) throw new Error(`The package cannot be stored: ${reply.status} ${text}`);
  };
  await makeBucket(cloud, local.packagesBucket);
  for (const { path, sha256 } of [full, lite]) {
    const name = `packages/${version}/${hash}/${basename(path)}`;
    const resource = JSON.stringify({ name, metadata: { sha256 } });
    const boundary = `package-${sha256}`;
    const body = Buffer.concat([
      Buffer.from(`--${boundary}\r\ncontent-type: application/json\r\n\r\n${resource}\r\n`),
      Buffer.from(`--${boundary}\r\ncontent-type: application/gzip\r\n\r\n`),
      readFileSync(path),
      Buffer.from(`\r\n--${boundary}--\r\n`),
    ]);
    const to = `/upload/storage/v1/b/${local.packagesBucket}/o?uploadType=multipart`;
    await ask(to, `multipart/related; boundary=${boundary}`, body);
  }
}
