/** An API's description of itself: the OpenAPI document, and the page to try it. Served for anybody by the API that it describes. */
import type { descriptionRoutes, RouteTable } from '../../shared/api.js';
import { openApiDocument } from './openapi.js';
import type { Handlers } from './router.js';
import { tryPage, tryPagePolicy } from './try-page.js';

export const organizationsInfo = { title: 'plinth organizations', version: '1' } as const;

export function descriptionHandlers(
  info: { readonly title: string; readonly version: string },
  routes: RouteTable,
): Handlers<typeof descriptionRoutes> {
  let document: string | undefined;
  const cacheable = { 'cache-control': 'public, max-age=300' };
  return {
    async describeApi() {
      document ??= JSON.stringify(openApiDocument(info, routes));
      return { status: 200, headers: cacheable, body: document };
    },
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
}
