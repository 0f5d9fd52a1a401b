/** Serves an API's description of itself to anybody: the OpenAPI document, and the page to try it. */
import type { descriptionRoutes } from '../../../shared/api.js';
import type { Handlers } from '../router.js';
import type { ApiDescription } from './openapi.js';
import { tryPage, tryPagePolicy } from './try-page.js';

const cacheable = { 'cache-control': 'public, max-age=300' };

/** Calls `load` on the first request for the document. Most instances never get one. */
export function documentHandlers(
  load: () => Promise<ApiDescription>,
): Pick<Handlers<typeof descriptionRoutes>, 'describeApi'> {
  let document: string | undefined;
  return {
    async describeApi() {
      if (document === undefined) {
        const [{ openApiDocument }, api] = await Promise.all([import('./openapi.js'), load()]);
        document = JSON.stringify(openApiDocument(api));
      }
      return { status: 200, headers: cacheable, body: document };
    },
  };
}

export const tryHandlers: Pick<Handlers<typeof descriptionRoutes>, 'tryApi'> = {
  tryApi: async () => ({
    status: 200,
    headers: {
      ...cacheable,
      'content-type': 'text/html; charset=utf-8',
      'content-security-policy': tryPagePolicy,
    },
    body: tryPage,
  }),
};
