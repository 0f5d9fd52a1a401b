/**
 * A stand-in for forge1's registry (ghcr.io). It admits callers with a token of forge1's that has `read:packages`. It serves
 * the images of all packages in the package store, and unpacks a package on first use.
 */
import { Parser } from 'tar';
import { type PackageManifest, readPackageManifest } from '../../shared/package/manifest.js';
import type { World } from '../cloud/kernel/api.js';
import { bytesOf } from '../cloud/storage/contents.js';
import { type ObjectRecord, objects } from '../cloud/storage/objects.js';
import { listenNear } from '../loopback.js';
import { outsideNames } from '../machines/network/outside-names.js';
import type { Gate } from '../registry/gate.js';
import type { Images, Manifest } from '../registry/images.js';
import { registryServer, type Served } from '../registry/server.js';
import type { Forge1 } from './forge1.js';

export interface Forge1Registry {
  /** The address for `forge1-registry` of PLINTH_ENDPOINTS, as machines reach it. */
  readonly url: string;
  readonly port: number;
  /** Everything copied from here, in order: one manifest and its blobs per image. */
  readonly served: readonly Served[];
  close(): Promise<void>;
}

const neededScope = 'read:packages';

function gateOf({ world: { tokens } }: Pick<Forge1, 'world'>): Gate<readonly string[]> {
  // Only the token counts, but the user name must not be empty.
  const login = (user: string, password: string) => (user === '' ? undefined : tokens[password]);
  return {
    tokenPath: '/token',
    login,
    bearer: (token) => tokens[Buffer.from(token, 'base64').toString('utf8')],
    tokenFor: (_user, password) => Buffer.from(password).toString('base64'),
    may(scopes, _image, action) {
      if (action === 'pull' && scopes.includes(neededScope)) return undefined;
      const message = 'permission_denied: The token provided does not match expected scopes.';
      return { status: 403, code: 'DENIED', message };
    },
  };
}

interface PackageImages {
  readonly named: PackageManifest['images'];
  /** Manifests, configs and layers by digest. */
  readonly contents: ReadonlyMap<string, Buffer>;
}

const blobPath = /^images\/.+\/blobs\/(sha256)\/([0-9a-f]{64})$/;
const manifestType = 'application/vnd.oci.image.manifest.v1+json';

async function readPackage(world: World, object: ObjectRecord): Promise<PackageImages> {
  const contents = new Map<string, Buffer>();
  let manifest = '';
  await new Promise<void>((resolve, reject) => {
    const parser = new Parser({ strict: true });
    parser.on('entry', (entry) => {
      const [, kind, hex] = blobPath.exec(entry.path) ?? [];
      if (kind === undefined && entry.path !== 'package.json') return void entry.resume();
      const chunks: Buffer[] = [];
      entry.on('data', (chunk: Buffer) => void chunks.push(chunk));
      entry.on('end', () => {
        const bytes = Buffer.concat(chunks);
        if (kind === undefined) manifest = bytes.toString('utf8');
        else contents.set(`${kind}:${hex}`, bytes);
      });
    });
    parser.once('end', () => resolve());
    parser.once('error', reject);
    parser.end(bytesOf(world, object));
  });
  return { named: readPackageManifest(manifest).images, contents };
}

function imagesOf(world: World, packagesBucket: string): Images {
  const read = new Map<string, Promise<PackageImages>>();
  /** The newest package comes first, so that it wins a tag. */
  const packages = (): Promise<PackageImages[]> => {
    const stored = Object.values(objects(world))
      .filter(({ bucket, name }) => bucket === packagesBucket && /\/installer\.tar\.gz$/.test(name))
      .sort((a, b) => Number(b.generation) - Number(a.generation));
    return Promise.all(
      stored.map((object) => {
        const key = `${object.name}#${object.generation}`;
        const known = read.get(key) ?? readPackage(world, object);
        read.set(key, known);
        return known;
      }),
    );
  };
  /** The packages that have the image. */
  const having = async (image: string): Promise<PackageImages[]> =>
    (await packages()).filter(({ named }) => named.some(({ name }) => name === image));
  const denied = (): never => {
    throw new Error('nothing is pushed here');
  };

  return {
    async manifest(image, reference): Promise<Manifest | undefined> {
      for (const { named, contents } of await having(image)) {
        const found = named.find(
          ({ name, tag, digest }) => name === image && (tag === reference || digest === reference),
        );
        const bytes = found === undefined ? undefined : contents.get(found.digest);
        if (found !== undefined && bytes !== undefined) return { digest: found.digest, type: manifestType, bytes };
      }
      return undefined;
    },
    async blob(image, digest) {
      for (const { contents } of await having(image)) {
        const found = contents.get(digest);
        if (found !== undefined) return found;
      }
      return undefined;
    },
    async tags(image) {
      const found = (await having(image)).flatMap(({ named }) =>
        named.filter(({ name }) => name === image).map(({ tag }) => tag),
      );
      return found.length === 0 ? undefined : [...new Set(found)].sort();
    },
    putBlob: denied,
    putManifest: denied,
  };
}

export async function startForge1Registry(
  world: World,
  forge1: Pick<Forge1, 'world'>,
  packagesBucket: string,
): Promise<Forge1Registry> {
  const served: Served[] = [];
  const images = imagesOf(world, packagesBucket);
  const options = { gate: gateOf(forge1), images, onServed: (one: Served) => void served.push(one) };
  // A restarted cloud keeps its address.
  const ports = world.table<number>('ports');
  const { port, close } = await listenNear(registryServer(options), ports['forge1Registry'] ?? 0);
  ports['forge1Registry'] = port;
  return { url: `http://${outsideNames.forge1Registry}:${port}`, port, served, close };
}
