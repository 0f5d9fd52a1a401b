/** Lets the console's page, which another function serves, call this one. No other origin may, as browsers see to. */
import { httpsAlone } from './reply.js';
import type { HttpFunction } from './router.js';

const allowed = {
  'access-control-allow-methods': 'GET, POST, PUT, DELETE',
  'access-control-allow-headers': 'authorization, content-type, idempotency-key, if-match, last-event-id',
  // Browsers ask again after at most two hours.
  'access-control-max-age': '7200',
};

/** Headers of replies that the page reads. */
const exposed = 'etag, link, location, retry-after, plinth-version';

/** Undefined: no page of any other origin may call. */
export function withCors(origin: string | undefined, inner: HttpFunction): HttpFunction {
  if (origin === undefined) return inner;
  return async (request, response) => {
    response.setHeader('vary', 'origin');
    if (request.headers.origin !== origin) return inner(request, response);
    response.setHeader('access-control-allow-origin', origin);
    response.setHeader('access-control-expose-headers', exposed);
    if (request.method !== 'OPTIONS' || request.headers['access-control-request-method'] === undefined) {
      return inner(request, response);
    }
    response.writeHead(204, { ...httpsAlone, ...allowed }).end();
  };
}
