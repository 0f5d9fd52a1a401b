/** An executable in the bucket of releases, as a deployment has it. */
import { local, people } from '../../local/stack/deployment.js';
import { makeBucket } from '../../local/stack/resources.js';
import { releasePath } from '../../shared/release.js';
import type { Scene } from './scene.js';

export const releaseSha256 = 'a'.repeat(64);

export async function putRelease(cloud: Scene['cloud']): Promise<void> {
  await makeBucket(cloud, local.releaseBucket);
  const name = encodeURIComponent(`${local.releaseFolder}/${releasePath(releaseSha256)}`);
  const reply = await fetch(
    `${cloud.endpoints.storage}/upload/storage/v1/b/${local.releaseBucket}/o?uploadType=media&name=${name}`,
    {
      method: 'POST',
      headers: { authorization: `Bearer ${cloud.identity.accessToken(people.admin)}` },
      body: 'an executable',
    },
  );
  if (!reply.ok) throw new Error(`The release cannot be uploaded: ${reply.status} ${await reply.text()}`);
}
