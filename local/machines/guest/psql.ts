/**
 * Stands in for psql on a simulated VM, as far as programs call it:
 * `psql -X -q -A -t [-F SEPARATOR] [-v ON_ERROR_STOP=1] [-p PORT] -d DATABASE|CONNINFO -f -`,
 * with PGPASSWORD or PGPASSFILE. It refuses everything else, and writes rows as psql does.
 */
import { readFileSync } from 'node:fs';
import { connect, createServer, type Server } from 'node:net';
import { userInfo } from 'node:os';
import { text } from 'node:stream/consumers';
import { parseArgs } from 'node:util';
import pg from 'pg';
import { outboundPort } from '../network/outbound-port.js';

class Refusal extends Error {
  constructor(
    message: string,
    readonly exitCode: number,
  ) {
    super(message);
  }
}
const exits = { usage: 1, connection: 2, script: 3 } as const;

const parameters = ['host', 'hostaddr', 'port', 'user', 'dbname', 'sslmode', 'sslrootcert', 'connect_timeout'] as const;
type Parameters = Partial<Record<(typeof parameters)[number], string>>;

/** Reads `key=value` and `key='it''s value'` with backslashes, as libpq does. A text without `=` is the name of a database. */
function readConnection(given: string): Parameters {
  if (!given.includes('=')) return { dbname: given };
  const found: Record<string, string> = {};
  for (const [, key = '', quoted, plain] of given.matchAll(/(\w+)\s*=\s*(?:'((?:[^'\\]|\\.)*)'|(\S*))/g)) {
    if (!parameters.some((name) => name === key))
      throw new Refusal(`psql: error: invalid connection option "${key}"`, exits.connection);
    found[key] = (quoted ?? plain ?? '').replaceAll(/\\(.)/g, '$1');
  }
  return found;
}

/** Reads lines `host:port:database:user:password`. `*` matches anything, and a backslash escapes a separator. */
function storedPassword(path: string, wanted: readonly string[]): string | undefined {
  for (const line of readFileSync(path, 'utf8').split('\n')) {
    const fields = (line.match(/(?:[^:\\]|\\.)*(?::|$)/g) ?? []).map((each) =>
      each.replace(/:$/, '').replaceAll(/\\(.)/g, '$1'),
    );
    if (fields.length >= 5 && wanted.every((each, i) => fields[i] === '*' || fields[i] === each)) return fields[4];
  }
  return undefined;
}

/** Other machines are reached only through the VM's proxy. The client connects to a local port that leads there. */
function tunnelTo(address: string, port: number): Promise<Server> {
  const server = createServer((client) => {
    const proxy = connect(outboundPort, '127.0.0.1', () =>
      proxy.write(`CONNECT ${address}:${port} HTTP/1.1\r\nHost: ${address}\r\n\r\n`),
    );
    const end = (): void => {
      client.destroy();
      proxy.destroy();
    };
    for (const socket of [client, proxy]) socket.on('error', end).on('close', end);
    proxy.once('data', (reply: Buffer) => {
      if (!/^HTTP\/1\.1 200 /.test(reply.toString('latin1'))) return end();
      proxy.pipe(client);
      client.pipe(proxy);
    });
  });
  return new Promise((resolve) => server.listen(0, '127.0.0.1', () => resolve(server)));
}

const isHere = (host: string): boolean => host.startsWith('/') || host === 'localhost' || host.startsWith('127.');

type Security = pg.ClientConfig['ssl'];

/** In the order of the attempts. */
function securitiesOf({ sslmode = 'prefer', sslrootcert, host = '' }: Parameters): Security[] {
  if (host.startsWith('/')) return [false];
  const unverified = { rejectUnauthorized: false };
  const trusted = sslrootcert === undefined ? {} : { ca: readFileSync(sslrootcert, 'utf8') };
  switch (sslmode) {
    case 'disable':
      return [false];
    case 'prefer':
      return [unverified, false];
    case 'require':
      return [unverified];
    case 'verify-ca':
      return [{ ...trusted, checkServerIdentity: () => undefined }];
    case 'verify-full':
      return [{ ...trusted, servername: host }];
    default:
      throw new Refusal(`psql: error: invalid sslmode value: "${sslmode}"`, exits.connection);
  }
}

async function connected(given: Parameters): Promise<{ client: pg.Client; close: () => Promise<void> }> {
  const { hostaddr, port = '5432', user = userInfo().username, dbname: database = user } = given;
  const host = given.host ?? hostaddr ?? '/var/run/postgresql';
  const address = hostaddr ?? host;
  const { PGPASSWORD, PGPASSFILE } = process.env;
  const password =
    PGPASSWORD ?? (PGPASSFILE === undefined ? undefined : storedPassword(PGPASSFILE, [host, port, database, user]));
  const tunnel = isHere(address) ? undefined : await tunnelTo(address, Number(port));
  const bound = tunnel?.address();
  const place =
    typeof bound === 'object' && bound !== null
      ? { host: '127.0.0.1', port: bound.port }
      : { host: address, port: Number(port) };
  let why = '';
  for (const ssl of securitiesOf({ ...given, host })) {
    const client = new pg.Client({
      ...place,
      user,
      database,
      password: password ?? '',
      ssl,
      connectionTimeoutMillis: Number(given.connect_timeout ?? 0) * 1000,
      // Leave values as they came over the wire.
      types: { getTypeParser: () => (value: unknown) => value },
    });
    client.on('error', () => undefined);
    try {
      await client.connect();
      const close = async (): Promise<void> => {
        await client.end();
        tunnel?.close();
      };
      return { client, close };
    } catch (error) {
      why = (error as Error).message || String((error as NodeJS.ErrnoException).code);
      await client.end().catch(() => undefined);
    }
  }
  tunnel?.close();
  const where = host.startsWith('/')
    ? `on socket "${host}/.s.PGSQL.${port}"`
    : `at "${host}" (${address}), port ${port}`;
  throw new Refusal(`psql: error: connection to server ${where} failed: ${why}`, exits.connection);
}

function readOptions(args: string[]) {
  try {
    const flag = (short: string) => ({ type: 'boolean', short }) as const;
    const value = (short: string) => ({ type: 'string', short }) as const;
    const { values, positionals } = parseArgs({
      args,
      options: {
        'no-psqlrc': flag('X'),
        quiet: flag('q'),
        'no-align': flag('A'),
        'tuples-only': flag('t'),
        'field-separator': value('F'),
        variable: { type: 'string', short: 'v', multiple: true },
        port: value('p'),
        dbname: value('d'),
        file: value('f'),
      },
    });
    const isKnown = values.variable?.every((each) => each === 'ON_ERROR_STOP=1') ?? true;
    if (values.quiet !== true || values.file !== '-' || !isKnown || positionals.length > 0)
      throw new Error(
        'without -q, with other variables than ON_ERROR_STOP=1 or other files than - it is not stood for',
      );
    return values;
  } catch (error) {
    throw new Refusal(`psql: error: ${(error as Error).message}`, exits.usage);
  }
}

async function main(args: string[]): Promise<void> {
  const options = readOptions(args);
  const given = readConnection(options.dbname ?? '');
  const sql = await text(process.stdin);
  const { client, close } = await connected({
    ...(options.port === undefined ? {} : { port: options.port }),
    ...given,
  });
  try {
    const answer = await client.query({ text: sql, rowMode: 'array' }).catch((error: pg.DatabaseError) => {
      const line = sql.slice(0, Number(error.position ?? 1) - 1).split('\n').length;
      throw new Refusal(`psql:<stdin>:${line}: ${error.severity ?? 'ERROR'}:  ${error.message}`, exits.script);
    });
    const separator = options['field-separator'] ?? '|';
    const isPlain = options['no-align'] === true && options['tuples-only'] === true;
    for (const { rows } of [answer].flat()) {
      if (rows.length > 0 && !isPlain)
        throw new Refusal('psql: error: rows are stood for with -A -t alone', exits.usage);
      for (const row of rows as (string | null)[][])
        process.stdout.write(`${row.map((each) => each ?? '').join(separator)}\n`);
    }
  } finally {
    await close();
  }
}

main(process.argv.slice(2)).catch((error: Error) => {
  process.stderr.write(`${error.message}\n`);
  process.exitCode = error instanceof Refusal ? error.exitCode : exits.usage;
});
