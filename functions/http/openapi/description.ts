/** Serves an API's description of itself to anybody: the OpenAPI document. */
import type { descriptionRoutes } from '../../../shared/api.js';
import type { Handlers } from '../router.js';
import type { ApiDescription } from './openapi.js';

const cacheable = { 'cache-control': 'public, max-age=300' };

/**
 * Makes the document on the first request for it, and once, however many come at the same time: it takes a second or so. Most
 * instances never get one.
 */
export function documentHandlers(load: () => Promise<ApiDescription>): Handlers<typeof descriptionRoutes> {
  let document: Promise<Buffer> | undefined;
  const make = async (): Promise<Buffer> => {
    const [{ openApiDocument }, api] = await Promise.all([import('./openapi.js'), load()]);
    // Text would be copied for each reply that waits to be read.
    return Buffer.from(JSON.stringify(openApiDocument(api)));
  };
  return {
    async describeApi() {
      document ??= make().catch((error: unknown) => {
        document = undefined;
        throw error;
      });
      return { status: 200, headers: cacheable, body: await document };
    },
  };
}
