/** The images in an installer package, read by skopeo. */
import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import { extract } from 'tar';
import { makePackage } from '../../local/packages/make-package.js';
import { readPackageManifest } from '../../shared/package/manifest.js';

describe('an installer package', () => {
  let folder: string;
  let unpacked: string;
  before(async () => {
    folder = mkdtempSync(join(tmpdir(), 'plinth-format-'));
    const made = await makePackage(join(folder, 'one'));
    unpacked = join(folder, 'unpacked');
    mkdirSync(unpacked);
    await extract({ file: made.full.path, cwd: unpacked });
  });
  after(() => rmSync(folder, { recursive: true, force: true }));

  it('holds images that skopeo reads, with the digests that it names', () => {
    const { images } = readPackageManifest(readFileSync(join(unpacked, 'package.json'), 'utf8'));
    expect(images).to.have.length(2);
    for (const { path, tag, digest } of images) {
      const said = execFileSync('skopeo', ['inspect', `oci:${join(unpacked, path)}:${tag}`], { encoding: 'utf8' });
      const { Digest, Layers } = JSON.parse(said) as { Digest: string; Layers: string[] };
      expect(Digest).to.equal(digest);
      expect(Layers).to.have.length(2);
      // Copied, each layer is unpacked and held against the config.
      execFileSync('skopeo', [
        'copy',
        '--quiet',
        `oci:${join(unpacked, path)}:${tag}`,
        `docker-archive:${join(folder, `${digest.slice(7)}.tar`)}`,
      ]);
    }
  });
});
