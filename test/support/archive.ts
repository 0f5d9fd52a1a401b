/** Gzipped tar archives: of one file, which can be told from a package, and the smallest package. */
import { gzipSync } from 'node:zlib';
import { Header } from 'tar';
import { packageHash } from '../../shared/package/manifest.js';
import { sha256 } from '../../shared/sha256.js';

export const archiveOf = (path: string, content: string): Buffer =>
  gzipSync(Buffer.concat([fileOf(path, content), end]));

const program = '#!/bin/sh\n';
const files = [{ path: 'run', sha256: sha256(program), executable: true }];
const actions = { install: 'run', check: 'run', remove: 'run' };

/** Of one component that does nothing. `changes` are those of its manifest. */
export function smallPackage(changes: object = {}): { readonly hash: string; readonly archive: Buffer } {
  const manifest = {
    ...{ schema: 1, name: 'small', version: '1.0.0', images: [], hooks: {}, files },
    components: [{ name: 'only', step: 'only', title: 'Only', ...actions, timeoutSeconds: 60 }],
    ...changes,
  };
  const hash = packageHash(manifest as unknown as Parameters<typeof packageHash>[0]);
  const text = JSON.stringify({ ...manifest, hash });
  return { hash, archive: gzipSync(Buffer.concat([fileOf('package.json', text), fileOf('run', program), end])) };
}

/** Two empty blocks. */
const end = Buffer.alloc(1024);

function fileOf(path: string, content: string): Buffer {
  const body = Buffer.from(content);
  const header = new Header({ path, size: body.length, type: 'File', mode: 0o755, mtime: new Date(0) });
  header.encode();
  const blocks = Buffer.alloc(Math.ceil(body.length / 512) * 512);
  body.copy(blocks);
  return Buffer.concat([header.block ?? Buffer.alloc(0), blocks]);
}
