/**
 * A provider for the real terraform that has the schema of the provider google and does nothing: terraform itself checks
 * every block against it. Started by terraform from the mirror that workspace.ts makes, with the schema's file as argument.
 */
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import {
  loadPackageDefinition,
  Server,
  ServerCredentials,
  type ServiceClientConstructor,
  type UntypedServiceImplementation,
} from '@grpc/grpc-js';
import { loadSync } from '@grpc/proto-loader';
import type { Attribute, Block, NestedBlock } from './provider-schema.js';

export interface ProviderSchema {
  readonly provider: Block;
  readonly resources: Readonly<Record<string, Block>>;
  readonly dataSources: Readonly<Record<string, Block>>;
}

type Wire = Readonly<Record<string, unknown>>;

const attribute = ({ type, ...rest }: Attribute): Wire => ({ ...rest, type: Buffer.from(type) });
const nested = ({ block: inner, ...rest }: NestedBlock): Wire => ({ ...rest, block: block(inner) });
const block = ({ attributes, blockTypes }: Block): Wire => ({
  attributes: attributes.map(attribute),
  blockTypes: blockTypes.map(nested),
});
const schemas = (blocks: Readonly<Record<string, Block>>): Wire =>
  Object.fromEntries(Object.entries(blocks).map(([name, each]) => [name, { version: 0, block: block(each) }]));

const { provider, resources, dataSources } = JSON.parse(readFileSync(process.argv[2] ?? '', 'utf8')) as ProviderSchema;

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

const server = new Server({ 'grpc.max_send_message_length': 64 * 1024 * 1024 });
server.addService(definitions.tfplugin5.Provider.service, {
  GetSchema: answer(() => ({
    provider: { version: 0, block: block(provider) },
    resourceSchemas: schemas(resources),
    dataSourceSchemas: schemas(dataSources),
  })),
  PrepareProviderConfig: answer(({ config }) => ({ preparedConfig: config })),
  ValidateResourceTypeConfig: nothing,
  ValidateDataSourceConfig: nothing,
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
