/**
 * Reads the package store in Cloud Storage: `packages/<version>/<hash>/installer[-lite].tar.gz`. An archive's SHA-256 is in
 * its metadata `sha256`, or in an object beside it whose name ends in `.sha256`.
 */
import * as z from 'zod';
import { Problem } from '../../shared/problems.js';
import { orUndefined } from './errors.js';
import { createRest, type Rest, type Transport } from './rest.js';
import { signUrl } from './signed-url.js';

const archives = { full: 'installer.tar.gz', lite: 'installer-lite.tar.gz' } as const;
export type ArchiveKind = keyof typeof archives;

export interface PackageBuild {
  readonly version: string;
  readonly hash: string;
  /** ISO time of its archive. */
  readonly madeAt: string;
}

export interface PackageArchive {
  readonly bucket: string;
  readonly object: string;
  readonly bytes: number;
  readonly sha256: string;
}

interface Listed {
  readonly items?: readonly { readonly name: string; readonly timeCreated: string }[];
  readonly nextPageToken?: string;
}

const Sha256 = z.string().regex(/^[0-9a-f]{64}$/);

const object = (bucket: string, name: string): string => `/storage/v1/b/${bucket}/o/${encodeURIComponent(name)}`;

export function createStorage(transport: Transport) {
  const rest = createRest(transport, 'storage');

  return {
    ...createRights(rest),

    /**
     * The builds of one version or of all, newest first. One archive of either kind makes a build, even without its SHA-256.
     */
    async builds(bucket: string, version?: string): Promise<PackageBuild[]> {
      const found = new Map<string, PackageBuild>();
      let pageToken: string | undefined;
      do {
        const page = await rest<Listed>('GET', `/storage/v1/b/${bucket}/o`, {
          doing: `list the packages in the bucket ${bucket}`,
          query: {
            prefix: version === undefined ? 'packages/' : `packages/${version}/`,
            fields: 'items(name,timeCreated),nextPageToken',
            pageToken,
          },
        });
        for (const { name, timeCreated } of page.items ?? []) {
          const [, of, hash] = /^packages\/([^/]+)\/([^/]+)\/installer(?:-lite)?\.tar\.gz$/.exec(name) ?? [];
          if (of === undefined || hash === undefined) continue;
          const known = found.get(`${of}/${hash}`);
          if (known === undefined || known.madeAt < timeCreated) {
            found.set(`${of}/${hash}`, { version: of, hash, madeAt: timeCreated });
          }
        }
        pageToken = page.nextPageToken;
      } while (pageToken !== undefined && pageToken !== '');
      return [...found.values()].sort((a, b) =>
        a.madeAt < b.madeAt ? 1 : a.madeAt > b.madeAt ? -1 : a.hash < b.hash ? -1 : 1,
      );
    },

    /** Undefined if the build has no such archive. Throws a `Problem` if its SHA-256 is missing. */
    async archive(bucket: string, { version, hash }: Pick<PackageBuild, 'version' | 'hash'>, kind: ArchiveKind) {
      const name = `packages/${version}/${hash}/${archives[kind]}`;
      const found = await orUndefined(
        rest<{ size: string; metadata?: Record<string, string> }>('GET', object(bucket, name), {
          doing: `look at the package ${name}`,
        }),
      );
      if (found === undefined) return undefined;
      const sha256 = found.metadata?.['sha256'] ?? (await beside(bucket, `${name}.sha256`));
      if (!Sha256.safeParse(sha256).success || sha256 === undefined) {
        throw new Problem('cloud-input', `Nobody says what the SHA-256 of gs://${bucket}/${name} is.`, {
          advice: `Upload it again with its metadata sha256, or put ${name}.sha256 beside it.`,
        });
      }
      return { bucket, object: name, bytes: Number(found.size), sha256 } satisfies PackageArchive;
    },

    /** A V4 signed URL for GET. Anybody who has it may read until it expires. Never store or log it. */
    signedUrl: (archive: Pick<PackageArchive, 'bucket' | 'object'>, seconds: number, now: Date) =>
      signUrl(transport, archive, seconds, now),
  };

  /** `<hex>  <name>`, as sha256sum writes it. */
  async function beside(bucket: string, name: string): Promise<string | undefined> {
    const text = await orUndefined(
      rest<string>('GET', object(bucket, name), { doing: `read ${name}`, query: { alt: 'media' }, as: 'text' }),
    );
    return text?.trim().split(/\s+/)[0];
  }
}

const createRights = (rest: Rest) => ({
  /** Those of these permissions that plinth has on the bucket. Undefined if it is not there. */
  async held(bucket: string, permissions: readonly string[]): Promise<readonly string[] | undefined> {
    const found = await orUndefined(
      rest<{ permissions?: readonly string[] }>('GET', `/storage/v1/b/${bucket}/iam/testPermissions`, {
        doing: `ask what plinth may do in the bucket ${bucket}`,
        query: { permissions },
      }),
    );
    return found && (found.permissions ?? []);
  },

  /** Throws if the object is not there, or may not be read. */
  async look(bucket: string, name: string): Promise<void> {
    await rest('GET', object(bucket, name), { doing: `look at gs://${bucket}/${name}`, query: { fields: 'name' } });
  },
});
