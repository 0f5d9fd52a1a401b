/**
 * Stands in for the distribution's docker-registry 2 on simulated machines: `docker-registry serve <config.yml>`, with the
 * config of the step `registry`. Each can serve what the other stored.
 */
import { readFileSync } from 'node:fs';
import {
  createServer as createHttpServer,
  type IncomingMessage,
  type RequestListener,
  type ServerResponse,
} from 'node:http';
import { createServer as createHttpsServer } from 'node:https';
import { compare } from 'bcryptjs';
import { parse } from 'yaml';
import * as z from 'zod';
import type { Gate } from '../../registry/gate.js';
import { registryServer } from '../../registry/server.js';
import { runCommand } from '../k0s/command-line.js';
import { log } from './logrus.js';
import { storedImages } from './registry-storage.js';

/** Refuses settings that this stand-in does not support. */
const Config = z.strictObject({
  version: z.union([z.literal('0.1'), z.literal(0.1)]),
  log: z.strictObject({ level: z.string().optional(), formatter: z.literal('text').optional() }).optional(),
  storage: z.strictObject({
    filesystem: z.strictObject({ rootdirectory: z.string() }),
    // Nobody deletes anything here.
    delete: z.strictObject({ enabled: z.boolean() }).optional(),
  }),
  http: z.strictObject({
    addr: z.string().regex(/:\d+$/, 'host and port are needed'),
    // Ignored: the URLs of uploads are always paths.
    relativeurls: z.boolean().optional(),
    tls: z.strictObject({ certificate: z.string(), key: z.string() }).optional(),
  }),
  auth: z.strictObject({ htpasswd: z.strictObject({ realm: z.string(), path: z.string() }) }),
});
type Config = z.infer<typeof Config>;

function readConfig(path: string): Config {
  if (path === '') throw new Error('configuration path unspecified');
  const read = Config.safeParse(parse(readFileSync(path, 'utf8')));
  if (read.success) return read.data;
  const [issue] = read.error.issues;
  throw new Error(`error parsing ${path}: ${[...(issue?.path ?? []), issue?.message].join(': ')}`);
}

/** Reads the file at each login, so that a new password works at once. */
async function isUser(path: string, user: string, password: string): Promise<boolean> {
  const line = readFileSync(path, 'utf8')
    .split('\n')
    .find((each) => each.startsWith(`${user}:`));
  // Only bcrypt hashes are accepted.
  return line !== undefined && compare(password, line.slice(user.length + 1).trim()).catch(() => false);
}

const gateOf = ({ realm, path }: Config['auth']['htpasswd']): Gate<string> => ({
  realm,
  login: async (user, password) => ((await isUser(path, user, password)) ? user : undefined),
  may: () => undefined,
});

/** Logs in the form of web servers' logs, as docker-registry does. */
const logged =
  (listener: RequestListener) =>
  (request: IncomingMessage, response: ServerResponse): void => {
    response.once('finish', () => {
      const { socket, method, url, headers } = request;
      const asked = `"${method} ${url} HTTP/${request.httpVersion}" ${response.statusCode}`;
      const agent = headers['user-agent'] ?? '';
      process.stdout.write(`${socket.remoteAddress} - - [${new Date().toISOString()}] ${asked} - "" "${agent}"\n`);
    });
    listener(request, response);
  };

function serve(_: object, [path = '']: readonly string[]): Promise<number> | number {
  let config: Config;
  try {
    config = readConfig(path);
  } catch (error) {
    process.stderr.write(`configuration error: ${(error as Error).message}\n`);
    return 1;
  }
  const { http, storage, auth } = config;
  readFileSync(auth.htpasswd.path);
  const images = storedImages(storage.filesystem.rootdirectory);
  const listener = logged(registryServer({ gate: gateOf(auth.htpasswd), images }));
  const server =
    http.tls === undefined
      ? createHttpServer(listener)
      : createHttpsServer({ cert: readFileSync(http.tls.certificate), key: readFileSync(http.tls.key) }, listener);
  const [, host = '', port = ''] = /^(.*):(\d+)$/.exec(http.addr) ?? [];
  return new Promise((resolve) => {
    server.on('error', (error) => {
      log('fatal', error.message);
      resolve(1);
    });
    server.on('listening', () => log('info', `listening on ${http.addr}${http.tls === undefined ? '' : ', tls'}`));
    server.listen(Number(port), host === '' ? undefined : host);
  });
}

try {
  const root = {
    name: 'docker-registry',
    short: '`docker-registry`',
    commands: [{ name: 'serve', short: '`serve` stores and distributes Docker images', words: 1, run: serve }],
  };
  process.exitCode = await runCommand(root, process.argv.slice(2));
} catch (error) {
  process.stderr.write(`Error: ${(error as Error).message}\n`);
  process.exitCode = 1;
}
