/** Makes the sample package: a real one, as small as it can be, for `npm run make-package`, the local package store and the tests. */
import { chmodSync, cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { type PackageManifest, packageHash, readPackageManifest } from '../../shared/package/manifest.js';
import { sha256 } from '../../shared/sha256.js';
import { filesIn, pack } from './archive.js';
import { writeImage } from './oci-image.js';

/** Beside the compiled code lie only the sources: the sample stays where it is in the checkout. */
const source = fileURLToPath(new URL('../../../local/packages/sample', import.meta.url));

export const sampleVersion = '1.0.0';

const titles: Readonly<Record<string, string>> = {
  'copy-dependencies': 'Programs',
  'extract-dependencies': 'Static files',
  'load-container-images': 'Container images',
  sops: 'Secrets that the service reads',
  docker: 'Registry of the container tools',
  postgres: 'PostgreSQL',
  ceph: 'Ceph specification',
  kubernetes: 'Kubernetes',
  'set-up-cluster': 'Cluster manifests',
  platform: 'Platform service',
  'ms-backends': 'Backends',
};

interface MadeArchive {
  readonly path: string;
  readonly sha256: string;
}

export interface MadePackage {
  readonly version: string;
  readonly hash: string;
  readonly full: MadeArchive;
  readonly lite: MadeArchive;
}

/** `installer.tar.gz` and `installer-lite.tar.gz` in a folder, each with its `.sha256`. The same sources give the same bytes. */
export async function makePackage(out: string, version: string = sampleVersion): Promise<MadePackage> {
  const temporary = mkdtempSync(join(tmpdir(), 'plinth-package-'));
  try {
    const folder = join(temporary, 'package');
    cpSync(source, folder, { recursive: true });
    await pack(join(folder, 'payload', 'site'), ['index.html'], join(folder, 'payload', 'site.tar.gz'));
    rmSync(join(folder, 'payload', 'site'), { recursive: true });
    const files = filesIn(folder).map((path) => {
      const executable = (statSync(join(folder, path)).mode & 0o100) !== 0;
      // Whatever mask the checkout was made under.
      chmodSync(join(folder, path), executable ? 0o755 : 0o644);
      return { path, sha256: sha256(readFileSync(join(folder, path))), executable };
    });
    const manifest: Omit<PackageManifest, 'hash'> = {
      schema: 1,
      name: 'plinth-sample',
      version,
      components: Object.entries(titles).map(([name, title]) => {
        const program = `components/${name}`;
        return { name, step: name, title, install: program, check: program, remove: program, timeoutSeconds: 600 };
      }),
      images: await makeImages(temporary, folder, version),
      hooks: { createUser: 'hooks/create-user' },
      files,
    };
    const hash = packageHash(manifest);
    const text = `${JSON.stringify({ ...manifest, hash }, null, 2)}\n`;
    readPackageManifest(text);
    writeFileSync(join(folder, 'package.json'), text);

    mkdirSync(out, { recursive: true });
    const all = filesIn(folder);
    const archive = async (name: string, paths: readonly string[]): Promise<MadeArchive> => {
      const path = join(out, name);
      await pack(folder, paths, path);
      const digest = sha256(readFileSync(path));
      writeFileSync(`${path}.sha256`, `${digest}  ${name}\n`);
      return { path, sha256: digest };
    };
    return {
      version,
      hash,
      full: await archive('installer.tar.gz', all),
      lite: await archive(
        'installer-lite.tar.gz',
        all.filter((path) => !path.startsWith('images/')),
      ),
    };
  } finally {
    rmSync(temporary, { recursive: true, force: true });
  }
}

/** Two images that share a layer, as images of one platform do. */
function makeImages(temporary: string, folder: string, version: string): Promise<PackageManifest['images']> {
  const layer = (name: string, path: string, content: string): string => {
    const at = join(temporary, 'layers', name, path);
    mkdirSync(join(at, '..'), { recursive: true });
    writeFileSync(at, content, { mode: 0o644 });
    return join(temporary, 'layers', name);
  };
  const base = layer('base', 'etc/plinth-sample/release', `plinth-sample ${version}\n`);
  return Promise.all(
    ['api', 'worker'].map(async (name) => {
      const path = `images/${name}`;
      const own = layer(name, `usr/share/plinth-sample/${name}.txt`, `${name} of plinth-sample ${version}\n`);
      const digest = await writeImage(join(folder, path), {
        tag: version,
        layers: [base, own],
        labels: {
          'org.opencontainers.image.title': `plinth-sample/${name}`,
          'org.opencontainers.image.version': version,
        },
      });
      return { name: `plinth-sample/${name}`, tag: version, digest, path };
    }),
  );
}
