/** Reads and writes an image in a registry, `docker://host/name:tag`. */
import { createHash } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import { Readable } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import { mediaTypeOf } from '../../registry/images.js';
import { during, Failure } from './failure.js';
import type { Destination, Source } from './image-copy.js';
import { complaintOf, type RegistryClient } from './registry-client.js';

export interface RegistryPlace {
  readonly host: string;
  readonly image: string;
  /** Tag or digest. */
  readonly reference: string;
}

const accepted = [
  'application/vnd.oci.image.index.v1+json',
  'application/vnd.oci.image.manifest.v1+json',
  'application/vnd.docker.distribution.manifest.list.v2+json',
  'application/vnd.docker.distribution.manifest.v2+json',
].join(', ');

/** Throws the registry's complaint, after what was being done. */
async function mustBe(what: string, response: IncomingMessage): Promise<IncomingMessage> {
  if ((response.statusCode ?? 0) < 300) return response;
  return during(
    what,
    complaintOf(response).then((complaint) => Promise.reject(complaint)),
  );
}

const digestIn = (reference: string): string | undefined => (reference.includes(':') ? reference : undefined);

export const sourceAt = ({ host, image, reference }: RegistryPlace, registry: RegistryClient): Source => ({
  name: `docker://${host}/${image}${digestIn(reference) === undefined ? ':' : '@'}${reference}`,
  pinned: digestIn(reference),
  async manifest(digest = reference) {
    const response = await registry.ask('GET', `manifests/${digest}`, { headers: { accept: accepted } });
    return buffer(await mustBe(`reading manifest ${digest} in ${host}/${image}`, response));
  },
  blob: async (digest) => mustBe('fetching blob', await registry.ask('GET', `blobs/${digest}`)),
});

export function destinationAt({ host, image, reference }: RegistryPlace, registry: RegistryClient): Destination {
  /** Returns the location for the next request of the upload. */
  async function upload(what: string, method: string, path: string, body?: Readable): Promise<string> {
    const headers = {
      'content-type': 'application/octet-stream',
      ...(body === undefined ? { 'content-length': '0' } : {}),
    };
    const response = await mustBe(what, await registry.ask(method, path, { headers, body }));
    response.resume();
    return response.headers.location ?? '';
  }
  return {
    async hasBlob(digest) {
      const response = await registry.ask('HEAD', `blobs/${digest}`);
      const { statusCode, statusMessage } = response;
      const what = `checking whether a blob ${digest} exists in ${host}/${image}`;
      if (statusCode === 401) await mustBe(what, response);
      response.resume();
      if (statusCode === 200 || statusCode === 404) return statusCode === 200;
      throw new Failure(`failed to read from destination repository ${image}: ${statusCode} (${statusMessage})`);
    },
    async putBlob(digest, content) {
      const hash = createHash('sha256');
      async function* hashed() {
        for await (const chunk of content) {
          hash.update(chunk);
          yield chunk;
        }
      }
      const begun = await upload(`initiating layer upload in ${host}`, 'POST', 'blobs/uploads/');
      const sent = await upload('uploading layer chunked', 'PATCH', begun, Readable.from(hashed()));
      const got = `sha256:${hash.digest('hex')}`;
      if (got !== digest) throw new Failure(`Digest did not match, expected ${digest}, got ${got}`);
      await upload('uploading layer', 'PUT', `${sent}${sent.includes('?') ? '&' : '?'}digest=${digest}`);
    },
    async putManifest(bytes, digest = reference) {
      const headers = { 'content-type': mediaTypeOf(bytes), 'content-length': String(bytes.length) };
      const response = await registry.ask('PUT', `manifests/${digest}`, { headers, body: bytes });
      (await mustBe(`uploading manifest ${digest} to ${host}/${image}`, response)).resume();
    },
  };
}
