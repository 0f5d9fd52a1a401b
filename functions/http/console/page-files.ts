/** The files of the console, as the build made them: its page, the reference of the APIs, and the files that they name by their content. */
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { dirname, extname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { gzipSync } from 'node:zlib';

export interface PageFile {
  readonly type: string;
  readonly plain: Uint8Array;
  readonly zipped: Uint8Array;
}

export interface PageFiles {
  readonly page: PageFile;
  readonly reference: PageFile;
  /** By name. */
  readonly files: ReadonlyMap<string, PageFile>;
}

const types: Readonly<Record<string, string>> = {
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.svg': 'image/svg+xml',
};

/** Beside the bundle of the function, or at the top of what the build made. */
function folder(): string {
  let at = dirname(fileURLToPath(import.meta.url));
  while (!existsSync(join(at, 'console', 'index.html'))) {
    if (at === dirname(at)) throw new Error('The page of the console is not beside this function: npm run build.');
    at = dirname(at);
  }
  return join(at, 'console');
}

const read = (file: string): PageFile => {
  const plain = readFileSync(file);
  return { type: types[extname(file)] ?? 'application/octet-stream', plain, zipped: gzipSync(plain, { level: 9 }) };
};

let kept: PageFiles | undefined;

/** Reads them on first use. They do not change while the function runs. */
export function pageFiles(): PageFiles {
  if (kept === undefined) {
    const top = folder();
    const names = readdirSync(join(top, 'files'));
    kept = {
      page: read(join(top, 'index.html')),
      reference: read(join(top, 'reference.html')),
      files: new Map(names.map((name) => [name, read(join(top, 'files', name))])),
    };
  }
  return kept;
}
