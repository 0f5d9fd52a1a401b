/**
 * Google's clients of Compute Engine hash the schema of all of it whenever one is created: 30 ms each, and a function has twelve.
 * Importing this file keeps what the first one read, for all stacks of this process.
 */
import { createRequire } from 'node:module';

interface Gax {
  readonly fallback: {
    readonly GrpcClient: { protobufFromJSON(schema: object, isUncached?: boolean): unknown };
  };
}

const requireOfCompute = createRequire(import.meta.resolve('@google-cloud/compute'));
const { GrpcClient } = (requireOfCompute('google-gax') as Gax).fallback;
const read = GrpcClient.protobufFromJSON;
const schemas = new WeakMap<object, unknown>();

GrpcClient.protobufFromJSON = (schema, isUncached = false) => {
  if (isUncached) return read(schema, isUncached);
  const kept = schemas.get(schema) ?? read(schema);
  schemas.set(schema, kept);
  return kept;
};
