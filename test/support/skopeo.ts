/** skopeo as tests use it on registries of loopback: a client that none of us wrote. */
import { spawn } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { writeImage } from '../../local/packages/oci-image.js';

export interface Skopeo {
  readonly folder: string;
  /** An image of one layer as a layout in the folder; its digest. */
  image(name: string, tag?: string): Promise<string>;
  /** As somebody at a registry; undefined: as nobody. */
  run(login: Login | undefined, ...args: string[]): Promise<{ code: number | null; stdout: string; stderr: string }>;
  remove(): void;
}

interface Login {
  readonly host: string;
  readonly user: string;
  readonly password: string;
}

export function makeSkopeo(): Skopeo {
  const folder = mkdtempSync(join(tmpdir(), 'plinth-skopeo-'));
  let last = 0;
  return {
    folder,
    image(name, tag = 'latest') {
      const layer = mkdtempSync(join(folder, 'layer-'));
      writeFileSync(join(layer, 'file'), `of ${name}\n`);
      return writeImage(join(folder, name), { tag, layers: [layer], labels: { title: name } });
    },
    async run(login, ...args) {
      const auths: Record<string, object> = {};
      if (login !== undefined) {
        auths[login.host] = { auth: Buffer.from(`${login.user}:${login.password}`).toString('base64') };
      }
      const file = join(folder, `auth-${++last}.json`);
      writeFileSync(file, JSON.stringify({ auths }), { mode: 0o600 });
      const child = spawn('skopeo', args, { env: { ...process.env, REGISTRY_AUTH_FILE: file } });
      const [stdout, stderr, code] = await Promise.all([
        text(child.stdout),
        text(child.stderr),
        new Promise<number | null>((resolve, reject) => child.once('error', reject).once('close', resolve)),
      ]);
      return { code, stdout, stderr };
    },
    remove: () => rmSync(folder, { recursive: true, force: true }),
  };
}
