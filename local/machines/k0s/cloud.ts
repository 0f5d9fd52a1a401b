/** Compute Engine as a program on a node asks it: with a token of the metadata server, in the node's own project and region. */
import { request } from 'node:http';
import { text } from 'node:stream/consumers';

export interface CloudUrls {
  /** `http://…/compute/v1/` */
  readonly compute: string;
  readonly metadata: string;
  /** The way out of the machine, which Compute and the metadata server are reached by. */
  readonly proxy?: string | undefined;
}

export type Resource = Readonly<Record<string, unknown>>;

export interface Cloud {
  readonly project: string;
  readonly region: string;
  readonly zone: string;
  /** The name of the machine that asks. */
  readonly machine: string;
  /** `zones/z/instances/i`. Undefined if it is not found. */
  find(path: string): Promise<Resource | undefined>;
  /** Resolves when the operation is done. Throws a refusal in the words of Google's client for Go. */
  insert(path: string, body: Resource): Promise<void>;
  /** Like `insert`. A resource that is already gone is no error. */
  delete(path: string): Promise<void>;
}

interface Reply {
  readonly status: number;
  readonly body: string;
}

interface Operation {
  readonly name: string;
  readonly status: string;
  readonly httpErrorStatusCode?: number;
  readonly error?: { readonly errors: readonly { readonly code: string; readonly message: string }[] };
}

export async function reachCloud(urls: CloudUrls): Promise<Cloud> {
  const fact = async (path: string): Promise<string> => {
    const headers = { 'metadata-flavor': 'Google' };
    const { status, body } = await ask(urls, 'GET', `${urls.metadata}/computeMetadata/v1/${path}`, headers);
    if (status !== 200) throw new Error(`the metadata server answers ${status} for ${path}`);
    return body;
  };
  const [project, zonePath, machine, token] = await Promise.all(
    ['project/project-id', 'instance/zone', 'instance/name', 'instance/service-accounts/default/token'].map(fact),
  );
  const { access_token: bearer } = JSON.parse(token ?? '{}') as { access_token: string };
  const zone = lastOf(zonePath ?? '');
  const region = zone.slice(0, zone.lastIndexOf('-'));
  const call = async (method: string, path: string, body?: Resource): Promise<Reply> => {
    const headers = { authorization: `Bearer ${bearer}`, 'content-type': 'application/json' };
    return ask(urls, method, `${urls.compute}projects/${project}/${path}`, headers, body);
  };
  const change = async (method: string, path: string, body?: Resource): Promise<void> => {
    const first = await call(method, path, body);
    if (first.status === 404 && method === 'DELETE') return;
    let operation = JSON.parse(accepted(first)) as Operation;
    while (operation.status !== 'DONE') {
      const wait = `regions/${region}/operations/${operation.name}/wait`;
      operation = JSON.parse(accepted(await call('POST', wait))) as Operation;
    }
    const [error] = operation.error?.errors ?? [];
    if (error !== undefined) throw refused(operation.httpErrorStatusCode ?? 400, error.message, error.code);
  };
  return {
    project: project ?? '',
    region,
    zone,
    machine: machine ?? '',
    async find(path) {
      const reply = await call('GET', path);
      return reply.status === 404 ? undefined : (JSON.parse(accepted(reply)) as Resource);
    },
    insert: (path, body) => change('POST', path, body),
    delete: (path) => change('DELETE', path),
  };
}

export const lastOf = (path: string): string => path.slice(path.lastIndexOf('/') + 1);

const refused = (code: number, message: string, reason: string): Error =>
  new Error(`googleapi: Error ${code}: ${message}${reason === '' ? '' : `, ${reason}`}`);

function accepted({ status, body }: Reply): string {
  if (status < 300) return body;
  let said: { message: string; errors?: readonly { reason: string }[] };
  try {
    said = (JSON.parse(body) as { error: typeof said }).error;
  } catch {
    throw refused(status, body.slice(0, 200), '');
  }
  throw refused(status, said.message, said.errors?.[0]?.reason ?? '');
}

/** Unlike Go programs, it uses the proxy for loopback addresses, because in a machine they mean what stands for Google. */
function ask(
  { proxy }: CloudUrls,
  method: string,
  url: string,
  headers: Readonly<Record<string, string>>,
  body?: Resource,
): Promise<Reply> {
  const target = new URL(url);
  const { hostname, port } = proxy === undefined ? target : new URL(proxy);
  const path = proxy === undefined ? target.pathname + target.search : target.href;
  return new Promise((resolve, reject) => {
    const asked = request({ hostname, port, method, path, headers: { ...headers, host: target.host } });
    asked.setTimeout(150_000, () => asked.destroy(new Error(`${method} "${url}": i/o timeout`)));
    asked.once('error', reject);
    asked.once('response', (response) => {
      text(response).then((said) => resolve({ status: response.statusCode ?? 0, body: said }), reject);
    });
    asked.end(body === undefined ? undefined : JSON.stringify(body));
  });
}
