/**
 * What bundles leave out of Google's clients: parts that come with them and that nothing in plinth asks for, as all of them is
 * read and run at every cold start.
 */
import { readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import type { Plugin } from 'esbuild';
import { type ProtoNode, trimProtos } from './trim-protos.js';

/** Modules that nothing asks, by the end of their path, and what stands in their place. */
const unasked: readonly { readonly of: string; readonly files: RegExp; readonly contents: string }[] = [
  {
    of: "the client of Firestore's administration",
    files: /@google-cloud\/firestore-api\/build\/src\/v1\/firestore_admin_client\.js$/,
    contents: 'exports.FirestoreAdminClient = undefined;',
  },
  {
    of: "Firestore's messages as classes: the client makes them of protos.json, and pipelines alone ask for one",
    files: /@google-cloud\/firestore\/build\/protos\/firestore_v1_proto_api\.js$/,
    contents: 'exports.google = { firestore: { v1: {} } };',
  },
  {
    of: 'the same once more, which its generated client hands on',
    files: /@google-cloud\/firestore-api\/build\/protos\/protos\.js$/,
    contents: '',
  },
  {
    of: 'the pipelines of Firestore, another language for queries',
    files: /@google-cloud\/firestore\/build\/src\/pipelines\/(index|pipeline-util)\.js$/,
    contents: `
      exports.Pipeline = exports.PipelineSource = class {
        constructor() { throw new Error('Bundles leave out the pipelines of Firestore: see tools/bundle/lean-clients.ts.'); }
      };
      exports.isString = (value) => typeof value === 'string';`,
  },
  {
    of: "Pub/Sub's package, but for the generated client that publishes: its subscriber, schemas and traces",
    files: /@google-cloud\/pubsub\/build\/src\/index\.js$/,
    contents: `
      import { PublisherClient } from '@google-cloud/pubsub-api/build/src/v1/publisher_client.js';
      export const v1 = { PublisherClient };`,
  },
  {
    of: "gRPC's own server",
    files: /@grpc\/grpc-js\/build\/src\/server(-interceptors)?\.js$/,
    contents: '',
  },
  {
    of: "credentials of other clouds and of other people's: a function has those of the machine that it runs on",
    files:
      /google-auth-library\/build\/src\/auth\/(aws(client|requestsigner)|(baseexternal|external|downscoped|gdch|identitypool|pluggable-auth-|externalAccountAuthorizedUser)[cC]lient)\.js$/,
    contents: `
      const left = class {
        constructor() { left.fromJSON(); }
        static fromJSON() { throw new Error('Bundles leave out this kind of credentials: see tools/bundle/lean-clients.ts.'); }
      };
      exports.BaseExternalAccountClient = exports.ExternalAccountClient = left;
      exports.ExternalAccountAuthorizedUserClient = exports.GdchClient = left;
      exports.EXTERNAL_ACCOUNT_TYPE = 'external_account';
      exports.EXTERNAL_ACCOUNT_AUTHORIZED_USER_TYPE = 'external_account_authorized_user';
      exports.GDCH_SERVICE_ACCOUNT_TYPE = 'gdch_service_account';`,
  },
  {
    of: 'the messages of IAM policies, locations and long-running operations as classes',
    files: /google-gax\/build\/protos\/(iam_service|locations|operations)\.js$/,
    contents: 'module.exports = {};',
  },
  {
    of: 'the clients of IAM policies and of locations, which each client makes when it is made',
    files: /google-gax\/build\/src\/(iamService|locationService)\.js$/,
    contents: 'exports.IamClient = exports.LocationsClient = class { async close() {} };',
  },
  {
    of: "streams of the web for a Node that has none: fetch-blob, beneath google-auth-library's requests, asks first",
    files: /web-streams-polyfill\/dist\/ponyfill\.es2018\.js$/,
    contents: '',
  },
  {
    of: 'uploads that can be resumed',
    files: /google-gax\/build\/src\/resumable(Upload|SourceFromFile)\.js$/,
    contents: '',
  },
  {
    of: 'the descriptors that gRPC makes of all messages beforehand, for servers that tell what they speak',
    files: /protobufjs\/ext\/descriptor(\/index)?\.js$/,
    contents: `
      const { Enum, Root, Type } = require('protobufjs');
      Root.prototype.toDescriptor = () => ({ file: [] });
      Enum.prototype.toDescriptor = Type.prototype.toDescriptor = () => ({ $type: { toObject: () => ({}) } });`,
  },
];

const withoutUnasked: Plugin = {
  name: "without what nothing asks of Google's clients",
  setup({ onLoad }) {
    for (const { files, contents } of unasked)
      onLoad({ filter: files }, ({ path }) => ({ contents, resolveDir: dirname(path) }));
  },
};

/** Compute's clients are loaded one by one, by the names of their files. */
const computeServices = (): string[] =>
  [
    ...readFileSync(join('functions', 'cloud', 'compute', 'clients.ts'), 'utf8').matchAll(
      /\b(\w+)Client\s*[,;]?\s*$/gm,
    ),
  ].map(([, service]) => `google.cloud.compute.v1.${service}`);

/** The services that plinth calls, by the packages whose JSON describes them. */
const calledServices: Readonly<Record<string, () => string[]>> = {
  'firestore-api/build/protos/protos.json': () => ['google.firestore.v1.Firestore'],
  'compute/build/protos/protos.json': computeServices,
  'pubsub-api/build/protos/protos.json': () => ['google.pubsub.v1.Publisher'],
  'scheduler/build/protos/protos.json': () => ['google.cloud.scheduler.v1.CloudScheduler'],
};

const calledServicesAlone: Plugin = {
  name: 'the protos of the services that are called',
  setup({ onLoad }) {
    for (const [file, services] of Object.entries(calledServices)) {
      onLoad({ filter: new RegExp(`@google-cloud/${file}$`) }, ({ path }) => {
        const root = JSON.parse(readFileSync(path, 'utf8')) as ProtoNode;
        return { contents: JSON.stringify(trimProtos(root, services())), loader: 'json' };
      });
    }
  },
};

export const lean: readonly Plugin[] = [withoutUnasked, calledServicesAlone];
