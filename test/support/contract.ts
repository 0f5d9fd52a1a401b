/** Holds replies against the route table: what an operation may answer, and in which form. */
import { expect } from 'chai';
import { commonProblems, type Route, type RouteTable } from '../../shared/api.js';
import { type ProblemCode, problemKinds } from '../../shared/problems.js';

export interface Received {
  readonly status: number;
  readonly headers: Headers;
  readonly text: string;
}

/** Routes with more literal segments win, as they do in the router. */
export function routeOf(
  routes: RouteTable,
  method: string,
  path: string,
): [operation: string, route: Route] | undefined {
  const pathname = path.split('?')[0] as string;
  return Object.entries(routes).find(
    ([, route]) =>
      route.method === method && new RegExp(`^${route.path.replaceAll(/\{\w+\}/g, '[^/]+')}$`).test(pathname),
  );
}

const isTraceId = /^[0-9a-f]{32}$/;

function checkProblem({ status, headers, text }: Received, allowed: readonly ProblemCode[]): void {
  expect(headers.get('content-type')).to.equal('application/problem+json');
  const body = JSON.parse(text) as Readonly<Record<string, unknown>>;
  const code = body['code'] as ProblemCode;
  expect(allowed, `${status} ${text}`).to.include(code);
  const kind = problemKinds[code];
  expect(status).to.equal(kind.status);
  expect(body).to.include({ status, title: kind.title, type: `/problems/${code}` });
  expect(body['detail']).to.be.a('string').that.is.not.empty;
  expect(body['instance']).to.match(isTraceId);
  if (code === 'bad-input' && body['errors'] !== undefined) {
    for (const error of body['errors'] as object[]) {
      expect(error).to.have.all.keys('path', 'message');
    }
  }
  if (status === 401) expect(headers.get('www-authenticate')).to.match(/^Bearer /);
  if (status === 405) expect(headers.get('allow')).to.match(/^[A-Z]+(, [A-Z]+)*$/);
  if (status === 429 || status === 503) expect(headers.get('retry-after')).to.match(/^\d+$/);
}

/** Throws if the route does not say that it may answer so. `undefined`: no route, so only a problem of the router itself. */
export function checkReply(route: Route | undefined, received: Received): void {
  const { status, headers, text } = received;
  const described = route?.replies[status];
  expect(headers.get('x-content-type-options')).to.equal('nosniff');
  if (route === undefined || described === undefined) {
    expect(status, `${status} ${text} is no reply of ${route?.method} ${route?.path}`).to.be.at.least(400);
    checkProblem(received, [...commonProblems, ...(route?.problems ?? [])]);
    return;
  }
  if (status === 204) {
    expect(text).to.equal('');
    return;
  }
  expect(headers.get('content-type')).to.contain(described.type);
  if (described.type !== 'application/json') return;
  const body: unknown = JSON.parse(text);
  // Parsing drops what the schema does not know; nothing may be dropped.
  expect(described.schema.parse(body)).to.deep.equal(body);
}
