/**
 * A provider for the real terraform that has the schema of the provider which its argument names, and makes nothing:
 * terraform itself checks every block against it. Started by terraform from the mirror that workspace.ts makes.
 */
import { fileURLToPath } from 'node:url';
import {
  loadPackageDefinition,
  Server,
  ServerCredentials,
  type ServiceClientConstructor,
  type UntypedServiceImplementation,
} from '@grpc/grpc-js';
import { loadSync } from '@grpc/proto-loader';
import { type Attribute, type Block, type NestedBlock, type ProviderName, schemaOf } from './provider-schema.js';

type Wire = Readonly<Record<string, unknown>>;

const attribute = ({ type, ...rest }: Attribute): Wire => ({ ...rest, type: Buffer.from(type) });
const nested = ({ block: inner, ...rest }: NestedBlock): Wire => ({ ...rest, block: block(inner) });
const block = ({ attributes, blockTypes }: Block): Wire => ({
  attributes: attributes.map(attribute),
  blockTypes: blockTypes.map(nested),
});
const schemas = (blocks: Readonly<Record<string, Block>>): Wire =>
  Object.fromEntries(Object.entries(blocks).map(([name, each]) => [name, { version: 0, block: block(each) }]));

const { provider, resources, dataSources } = schemaOf(process.argv[2] as ProviderName);

/** The definitions lie beside the source. */
const protos = ['tfplugin5', 'go-plugin', 'health'].map((name) =>
  fileURLToPath(new URL(`../../../test/terraform/${name}.proto`, import.meta.url)),
);
const definitions = loadPackageDefinition(loadSync(protos, { defaults: true })) as unknown as {
  tfplugin5: { Provider: ServiceClientConstructor };
  plugin: { GRPCController: ServiceClientConstructor };
  grpc: { health: { v1: { Health: ServiceClientConstructor } } };
};

const answer =
  (reply: (request: Wire) => Wire): UntypedServiceImplementation[string] =>
  (call: { request: Wire }, done: (error: null, value: Wire) => void) =>
    done(null, reply(call.request));
const nothing = answer(() => ({}));

/** What the provider asks of a value beyond its type, where mocked values met it once. */
const patterns: Readonly<Record<string, RegExp>> = {
  service_account_id:
    /^projects\/[^/]+\/serviceAccounts\/[a-z]([-a-z0-9]{4,28}[a-z0-9])@[a-z0-9.-]+\.iam\.gserviceaccount\.com$/,
};

/** The text of an attribute in MessagePack; `undefined` where it is unknown or none. */
function textIn(config: Buffer, name: string): string | undefined {
  const key = Buffer.concat([Buffer.from([0xa0 | name.length]), Buffer.from(name)]);
  const at = config.indexOf(key);
  if (at < 0) return undefined;
  const start = at + key.length;
  const kind = config[start] ?? 0;
  if (kind >> 5 === 0b101) return config.toString('utf8', start + 1, start + 1 + (kind & 0x1f));
  return kind === 0xd9 ? config.toString('utf8', start + 2, start + 2 + (config[start + 1] ?? 0)) : undefined;
}

const judge = answer(({ config }) => {
  const { msgpack } = config as { msgpack: Buffer };
  const diagnostics = Object.entries(patterns).flatMap(([name, pattern]) => {
    const value = textIn(msgpack, name);
    if (value === undefined || pattern.test(value)) return [];
    return [{ severity: 'ERROR', summary: `"${name}" ("${value}") doesn't match ${pattern}` }];
  });
  return { diagnostics };
});

const server = new Server({ 'grpc.max_send_message_length': 64 * 1024 * 1024 });
server.addService(definitions.tfplugin5.Provider.service, {
  GetSchema: answer(() => ({
    provider: { version: 0, block: block(provider) },
    resourceSchemas: schemas(resources),
    dataSourceSchemas: schemas(dataSources),
  })),
  PrepareProviderConfig: answer(({ config }) => ({ preparedConfig: config })),
  ValidateResourceTypeConfig: judge,
  ValidateDataSourceConfig: nothing,
  // A test of a whole deployment mocks the provider that it configures; the other one is asked.
  PlanResourceChange: answer(({ proposedNewState }) => ({ plannedState: proposedNewState })),
  Configure: nothing,
  Stop: nothing,
});
server.addService(definitions.plugin.GRPCController.service, {
  Shutdown: (_: unknown, done: (error: null, value: Wire) => void) => {
    done(null, {});
    server.tryShutdown(() => process.exit());
  },
});
server.addService(definitions.grpc.health.v1.Health.service, { Check: answer(() => ({ status: 'SERVING' })) });
server.bindAsync('127.0.0.1:0', ServerCredentials.createInsecure(), (error, port) => {
  if (error !== null) throw error;
  process.stdout.write(`1|5|tcp|127.0.0.1:${port}|grpc\n`);
});
