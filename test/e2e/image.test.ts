/** The image of the VMs: the deployment's own where it names one. */
import { expect } from 'chai';
import type { JsonObject } from '../../local/cloud/kernel/api.js';
import { functionNames } from '../../shared/names.js';
import { makeScene, type Scene, succeeded } from '../support/scene.js';

const own = 'projects/ubuntu-os-cloud/global/images/family/ubuntu-2404-lts-amd64';

describe('the image of the VMs', function () {
  this.timeout(120_000);
  let scene: Scene | undefined;
  after(() => scene?.close());

  it('that is not there fails the VMs, and is named; the one that the deployment names next is that of each boot disk', async () => {
    const missing = 'projects/acme-images/global/images/family/hardened';
    scene = await makeScene({ settings: { PLINTH_VM_IMAGE: missing } });
    const alice = await scene.caller();
    const { result } = await alice.bootstrap('own-image');
    const [failed] = (result.bootstrap?.instances ?? []).filter(({ state }) => state === 'failed');
    expect(failed?.step).to.equal('vm');
    expect(failed?.problem?.detail).to.contain(missing);

    // As an operator who deploys another setting.
    for (const name of Object.values(functionNames)) {
      Object.assign(scene.stack.functionsHalf?.contextOf(name).config ?? {}, { vmImage: own });
    }
    const { projectId, zone } = succeeded(await alice.bootstrap('own-image'));
    const { accessToken } = await scene.stack.tokens('admin@example.com');
    const url = `${scene.cloud.endpoints.compute}/compute/v1/projects/${projectId}/zones/${zone}/disks`;
    const reply = await fetch(url, { headers: { authorization: `Bearer ${accessToken}` } });
    const { items } = (await reply.json()) as { items: JsonObject[] };
    const images = items.flatMap(({ sourceImage }) => (typeof sourceImage === 'string' ? [sourceImage] : []));
    expect(images).to.have.length(8);
    for (const image of images) expect(image).to.match(/\/projects\/ubuntu-os-cloud\/global\/images\/ubuntu-2404-/);
  });
});
