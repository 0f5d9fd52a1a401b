/**
 * A stand-in for k0s's releases, from which simulated machines fetch it. The layout is the same
 * (`<version>/k0s-<version>-amd64` and `sha256sums.txt`). The program itself is machines/k0s.
 */
import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';
import { sha256 } from '../../shared/sha256.js';
import { listenNear } from '../loopback.js';

export interface K0sReleases {
  /** The address for `k0s-releases` of PLINTH_ENDPOINTS. */
  readonly url: string;
  readonly port: number;
  close(): Promise<void>;
}

/** The versions that exist. Any other is not found. */
const versions = ['v1.31.9+k0s.0', 'v1.31.14+k0s.0', 'v1.32.10+k0s.0'];

const program = fileURLToPath(new URL('../machines/k0s/main.js', import.meta.url));

/** One script with a first line that starts Node. Node reads files without an extension as CommonJS. */
async function makeK0s(version: string): Promise<Buffer> {
  const { outputFiles } = await build({
    entryPoints: [program],
    bundle: true,
    platform: 'node',
    format: 'cjs',
    target: 'node22',
    minifySyntax: true,
    minifyWhitespace: true,
    define: { K0S_VERSION: JSON.stringify(version) },
    banner: { js: '#!/usr/bin/env node' },
    write: false,
    logLevel: 'warning',
  });
  return Buffer.from(outputFiles[0]?.contents ?? []);
}

/** Takes `preferredPort` if it is free. */
export async function startK0sReleases(preferredPort = 0): Promise<K0sReleases> {
  const made = new Map<string, Promise<Buffer>>();
  const programOf = (version: string): Promise<Buffer> => {
    const known = made.get(version) ?? makeK0s(version);
    made.set(version, known);
    return known;
  };
  const answer = async (path: string): Promise<Buffer | undefined> => {
    const [version = '', file] = path.split('/').slice(1).map(decodeURIComponent);
    const name = `k0s-${version}-amd64`;
    if (!versions.includes(version)) return undefined;
    if (file === name) return programOf(version);
    if (file !== 'sha256sums.txt') return undefined;
    const sum = sha256(await programOf(version));
    return Buffer.from(`${sum} *${name}\n`);
  };
  const server = await listenNear((request, response) => {
    const found = ['GET', 'HEAD'].includes(request.method ?? '')
      ? answer(request.url ?? '/')
      : Promise.resolve(undefined);
    found.then(
      (bytes) => {
        if (bytes === undefined) return void response.writeHead(404).end('Not Found\n');
        response.writeHead(200, { 'content-type': 'application/octet-stream', 'content-length': bytes.length });
        response.end(request.method === 'HEAD' ? undefined : bytes);
      },
      (error: Error) => void response.writeHead(500).end(`${error.message}\n`),
    );
  }, preferredPort);
  return { url: server.url, port: server.port, close: server.close };
}
