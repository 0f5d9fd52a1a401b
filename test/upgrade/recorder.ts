/** Hears all that functions write: their commits, their messages, and their calls of the cloud by a proxy in front of each API. */
import type { SimulatedCloud } from '../../local/cloud/index.js';
import { listen, type RunningServer } from '../../local/cloud/kernel/server.js';
import type { EngineLabOptions } from '../laws/engine-lab.js';
import { type Entry, textsIn } from './recording.js';

interface HeardCall extends Omit<Extract<Entry, { kind: 'call' }>, 'used'> {
  readonly reply: unknown;
}
type Heard = HeardCall | Exclude<Entry, { kind: 'call' }>;

export function createRecorder() {
  const heard: Heard[] = [];
  const servers: RunningServer[] = [];

  const proxy = (cloud: SimulatedCloud, api: string, url: string): Promise<RunningServer> =>
    listen(0, async (request, response, body) => {
      const { method = 'GET', url: path = '/', headers } = request;
      const { authorization = '', 'content-type': type = '' } = headers;
      const reason = headers['x-goog-request-reason']?.toString();
      const reply = await fetch(url + path, {
        method,
        headers: {
          authorization,
          ...(type && { 'content-type': type }),
          ...(reason && { 'x-goog-request-reason': reason }),
        },
        ...(body.length > 0 && { body: new Uint8Array(body) }),
      });
      const text = await reply.text();
      if (reply.ok) {
        const caller = cloud.identity.callerOf(authorization.replace(/^bearer +/i, ''))?.email ?? '';
        heard.push({ kind: 'call', api, method, path, caller, body: body.toString('utf8'), type, reply: parsed(text) });
      }
      response.writeHead(reply.status, { 'content-type': reply.headers.get('content-type') ?? 'application/json' });
      response.end(text);
    });

  const tap: NonNullable<EngineLabOptions['tap']> = {
    async endpoints(cloud) {
      const urls = await Promise.all(
        Object.entries(cloud.endpoints).map(async ([api, url]) => {
          const server = await proxy(cloud, api, url);
          servers.push(server);
          return [api, server.url];
        }),
      );
      return Object.fromEntries(urls) as SimulatedCloud['endpoints'];
    },
    store: (store) => ({
      async commit(writes) {
        const committing = store.commit(writes);
        // A commit in memory has been made by now, and nothing else since.
        const dump = store.dump();
        const documents = writes.map(({ collection, id }) => {
          const data = dump[collection]?.[id];
          return { collection, id, ...(data && { data }) };
        });
        const entry: Heard = { kind: 'commit', at: Date.now(), documents };
        heard.push(entry);
        return committing.catch((error: unknown) => {
          heard.splice(heard.indexOf(entry), 1);
          throw error;
        });
      },
    }),
    published: (messages) => heard.push(...messages.map((message) => ({ kind: 'message', message }) as const)),
  };

  return {
    tap,
    entries: () => entriesOf(heard),
    close: () => Promise.all(servers.map((server) => server.close())),
  };
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** What the cloud chose, such as numbers and addresses; shorter ones would stand in ordinary words, too. */
const looksChosen = (text: string): boolean => /^[^\s"\\]{6,300}$/.test(text) && /\d/.test(text);

/** With no more of each reply than what is used later, and without reads of which nothing is. */
function entriesOf(heard: readonly Heard[]): Entry[] {
  const texts = heard.map((each) => {
    if (each.kind !== 'call') return JSON.stringify(each);
    const { reply: _reply, ...asked } = each;
    return JSON.stringify(asked);
  });
  const all = texts.join('\n');
  const known = new Set<string>();
  let at = 0;
  return heard.flatMap((each, i): Entry[] => {
    at += (texts[i]?.length ?? 0) + 1;
    if (each.kind !== 'call') return [each];
    const { reply, ...asked } = each;
    const used = textsIn(reply).filter(([, text]) => {
      if (known.has(text) || !looksChosen(text)) return false;
      known.add(text);
      // Nobody could have said it before the cloud did.
      return all.indexOf(text) >= at;
    });
    const isRead = asked.method === 'GET' || /:(?:getIamPolicy|testIamPermissions)$/.test(asked.path);
    return isRead && used.length === 0 ? [] : [{ ...asked, used: Object.fromEntries(used) }];
  });
}
