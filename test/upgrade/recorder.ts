/** Hears all that functions write: their commits, their messages, what they ask of machines, and their calls of the cloud by a proxy in front of each API. */

import type { Host, HostRequest, Job } from '../../functions/remote/remote.js';
import type { SimulatedCloud } from '../../local/cloud/index.js';
import { listen, type RunningServer } from '../../local/cloud/kernel/server.js';
import type { EngineLabOptions } from '../laws/engine-lab.js';
import { type CloudCallEntry, type Entry, type Exchange, type MachineEntry, textsIn, textsSaid } from './recording.js';

/** What was asked and answered: what of the answer is used shows later. */
interface Answered {
  readonly kind: 'answered';
  readonly asked: Omit<CloudCallEntry, 'used'> | Omit<MachineEntry, 'used'>;
  /** Candidates, by their place. */
  readonly texts: readonly (readonly [place: string, text: string])[];
  readonly isRead: boolean;
}
type Heard = Answered | Exclude<Entry, CloudCallEntry | MachineEntry>;

export function createRecorder() {
  const heard: Heard[] = [];
  const servers: RunningServer[] = [];
  /** One call after the other, so that they take effect in the order in which they are heard. */
  let last: Promise<unknown> = Promise.resolve();
  const inTurn = <T>(work: () => Promise<T>): Promise<T> => {
    const mine = last.then(work);
    last = mine.catch(() => undefined);
    return mine;
  };

  const proxy = (cloud: SimulatedCloud, api: string, url: string): Promise<RunningServer> =>
    listen(0, async (request, response, body) => {
      const { method = 'GET', url: path = '/', headers } = request;
      const { authorization = '', 'content-type': type = '' } = headers;
      const reason = headers['x-goog-request-reason']?.toString();
      const hear = (text: string): void => {
        const caller = cloud.identity.callerOf(authorization.replace(/^bearer +/i, ''))?.email ?? '';
        heard.push({
          kind: 'answered',
          asked: { kind: 'call', api, method, path, caller, body: body.toString('utf8'), type },
          texts: textsIn(parsed(text)).filter(looksChosen),
          isRead: method === 'GET' || /:(?:getIamPolicy|testIamPermissions)$/.test(path),
        });
      };
      const { reply, text } = await inTurn(async () => {
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
        if (reply.ok) hear(text);
        return { reply, text };
      });
      response.writeHead(reply.status, { 'content-type': reply.headers.get('content-type') ?? 'application/json' });
      response.end(text);
    });

  const tap: NonNullable<EngineLabOptions['tap']> = {
    async endpoints(cloud) {
      const urls = await Promise.all(
        Object.entries(cloud.endpoints).map(async ([api, url]) => {
          // Machines go there themselves, by URLs that are signed for this host.
          if (api === 'storage') return [api, url];
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
    remote: (remote) => ({
      host: async (request, signal) => heardHost(heard, await remote.host(request, signal), request),
      close: () => remote.close(),
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
const looksChosen = ([place, text]: readonly [string, string]): boolean =>
  /^[^\s"\\]{6,300}$/.test(text) && (/\d/.test(text) || place.endsWith('/etag'));

/** With no more of each answer than what is used later, and without reads of which nothing is. */
function entriesOf(heard: readonly Heard[]): Entry[] {
  const texts = heard.map((each) => JSON.stringify(each.kind === 'answered' ? each.asked : each));
  const all = texts.join('\n');
  const known = new Set<string>();
  let at = 0;
  return heard.flatMap((each, i): Entry[] => {
    at += (texts[i]?.length ?? 0) + 1;
    if (each.kind !== 'answered') return [each];
    const used = each.texts.filter(([, text]) => {
      if (known.has(text)) return false;
      known.add(text);
      // Nobody could have said it before the answer did.
      return all.indexOf(text) >= at;
    });
    if (each.isRead && used.length === 0) return [];
    return [{ ...each.asked, used: Object.fromEntries(used) }];
  });
}

const textOf = (content: string | Uint8Array): string => {
  const text = typeof content === 'string' ? content : Buffer.from(content).toString('utf8');
  if (!Buffer.from(text).equals(Buffer.from(content))) throw new Error('a recording holds texts alone');
  return text;
};

/** What fails is no part of it: an undisturbed bootstrap only finds out so what is missing. */
function heardHost(heard: Heard[], host: Host, request: HostRequest, asRoot = false): Host {
  const hear = (asked: Exchange, said: string | Buffer = '', isRead = false): void =>
    void heard.push({
      kind: 'answered',
      asked: { kind: 'machine', request, asRoot, asked },
      texts: textsSaid(said),
      isRead,
    });
  const ended = new Set<string>();
  const job = (id: string): Job => {
    const real = host.job(id);
    return {
      id,
      async start(script) {
        await real.start(script);
        hear({ op: 'start', job: id, script });
      },
      async poll(offset, options) {
        const look = await real.poll(offset, options);
        if (look.state === 'exited' && !ended.has(id)) {
          ended.add(id);
          hear({ op: 'ended', job: id, exitCode: look.exitCode ?? 0 });
        }
        return look;
      },
      async claim(token) {
        const has = await real.claim(token);
        hear({ op: 'claim', job: id, token });
        return has;
      },
      async kill() {
        await real.kill();
        hear({ op: 'kill', job: id });
      },
    };
  };
  return {
    name: host.name,
    async exec(command, options = {}) {
      const ran = await host.exec(command, options);
      const { stdin, timeoutSeconds } = options;
      const asked = {
        op: 'exec',
        command,
        ...(stdin !== undefined && { stdin: textOf(stdin) }),
        ...(timeoutSeconds !== undefined && { timeoutSeconds }),
      } as const;
      if (ran.exitCode === 0) hear(asked, ran.stdout);
      return ran;
    },
    async upload(path, content, options) {
      await host.upload(path, content, options);
      hear({ op: 'upload', path, content: textOf(content), mode: options.mode });
    },
    send: () => Promise.reject(new Error('functions send no files')),
    async install(from, path, options) {
      await host.install(from, path, options);
      hear({ op: 'install', from, path, mode: options.mode, sha256: options.sha256 });
    },
    async read(path, options) {
      const content = await host.read(path, options);
      if (content !== undefined) hear({ op: 'read', path }, content, true);
      return content;
    },
    job,
    asRoot: () => heardHost(heard, host.asRoot(), request, true),
  };
}
