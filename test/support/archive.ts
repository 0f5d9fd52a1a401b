/** A gzipped tar archive of one file: the least that can be told from a package, or is one to the command line. */
import { gzipSync } from 'node:zlib';
import { Header } from 'tar';

export function archiveOf(path: string, content: string): Buffer {
  const body = Buffer.from(content);
  const header = new Header({ path, size: body.length, type: 'File', mode: 0o644, mtime: new Date(0) });
  header.encode();
  // Whole blocks, and two empty ones at the end.
  const blocks = Buffer.alloc(Math.ceil(body.length / 512) * 512 + 1024);
  body.copy(blocks);
  return gzipSync(Buffer.concat([header.block ?? Buffer.alloc(0), blocks]));
}
