/**
 * What each resource of Terraform's providers google and time takes: the parts of their schemas that concern plinth, and its
 * neighbours. They lie in google-schema.json and time-schema.json (MPL-2.0, see the NOTICE of each). It is what the real
 * terraform judges ours by.
 */
import { readFileSync } from 'node:fs';

/** As in `tfplugin5.proto`, with types as text. */
export interface Attribute {
  readonly name: string;
  /** A type of cty in JSON: `"string"`, `["list","string"]`. */
  readonly type: string;
  readonly required: boolean;
  readonly optional: boolean;
  readonly computed: boolean;
  readonly sensitive: boolean;
}
export interface NestedBlock {
  readonly typeName: string;
  readonly block: Block;
  readonly nesting: 'SINGLE' | 'LIST' | 'SET';
  readonly minItems: number;
  /** 0: any number. */
  readonly maxItems: number;
}
export interface Block {
  readonly attributes: readonly Attribute[];
  readonly blockTypes: readonly NestedBlock[];
}
export interface ProviderSchema {
  readonly provider: Block;
  readonly resources: Readonly<Record<string, Block>>;
  readonly dataSources: Readonly<Record<string, Block>>;
}

/** As the file has it: like `terraform providers schema -json`, with what is false or 0 left out. */
interface PublishedAttribute {
  readonly type: unknown;
  readonly required?: true;
  readonly optional?: true;
  readonly computed?: true;
  readonly sensitive?: true;
}
interface PublishedBlock {
  readonly attributes?: Readonly<Record<string, PublishedAttribute>>;
  readonly block_types?: Readonly<Record<string, PublishedNesting>>;
}
interface PublishedNesting {
  readonly nesting_mode: 'single' | 'list' | 'set';
  readonly min_items?: number;
  readonly max_items?: number;
  readonly block: PublishedBlock;
}
interface Published {
  readonly version: string;
  readonly provider_block: PublishedBlock;
  readonly resources: Readonly<Record<string, PublishedBlock>>;
  readonly data_sources: Readonly<Record<string, PublishedBlock>>;
}

/** Which providers the deployment has. */
export const providers = ['google', 'time'] as const;
export type ProviderName = (typeof providers)[number];

/** The file lies beside the source. */
const published = (name: ProviderName): Published =>
  JSON.parse(
    readFileSync(new URL(`../../../test/terraform/${name}-schema.json`, import.meta.url), 'utf8'),
  ) as Published;

/** The provider's version that its schema is of. */
export const versionOf = (name: ProviderName): string => `${/^\d+\.\d+/.exec(published(name).version)?.[0]}.0`;

const blocks = (all: Readonly<Record<string, PublishedBlock>>): Readonly<Record<string, Block>> =>
  Object.fromEntries(Object.entries(all).map(([type, block]) => [type, readBlock(block)]));

export function schemaOf(name: ProviderName): ProviderSchema {
  const { provider_block, resources, data_sources } = published(name);
  return { provider: readBlock(provider_block), resources: blocks(resources), dataSources: blocks(data_sources) };
}

function readBlock({ attributes = {}, block_types = {} }: PublishedBlock): Block {
  return {
    attributes: Object.entries(attributes).map(([name, { type, required, optional, computed, sensitive }]) => ({
      name,
      type: JSON.stringify(type),
      required: required ?? false,
      optional: optional ?? false,
      computed: computed ?? false,
      sensitive: sensitive ?? false,
    })),
    blockTypes: Object.entries(block_types).map(([typeName, { nesting_mode, min_items, max_items, block }]) => ({
      typeName,
      block: readBlock(block),
      nesting: nesting_mode.toUpperCase() as NestedBlock['nesting'],
      minItems: min_items ?? 0,
      maxItems: max_items ?? 0,
    })),
  };
}
