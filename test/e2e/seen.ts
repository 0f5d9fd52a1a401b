/** What stands when a bootstrap has succeeded, as anybody sees it from outside. For the tests of flags. */
import { basename } from 'node:path';
import { findSecret } from '../../shared/install-config/secrets.js';
import { type Caller, type Outcome, type Scene, succeeded } from '../support/scene.js';

export interface Seen {
  /** By path: `platform.domain`. */
  config(path: string): unknown;
  /** Of the secrets file: `password`, or `username/password`. */
  secret(name: string): string | undefined;
  /** Of a VM in the cloud, as Compute has it. */
  vm(name: string): Record<string, unknown> | undefined;
  /** A table of the cloud, by names that hold the project's id. */
  named(table: string): readonly string[];
  project: Record<string, unknown>;
  /** Files that the command names as its own, by their names in the caller's folder. */
  written: readonly string[];
  /** What the command said. */
  told: Outcome;
  /** Hours between the beginning and the deadline. */
  hours: number;
}

/** The files: of the config, and of the secrets. */
export async function see(
  { cloud }: Pick<Scene, 'cloud'>,
  caller: Caller,
  outcome: Outcome,
  files: readonly [string, string] = ['config.yaml', 'prod.vault.yaml'],
): Promise<Seen> {
  const { projectId, createdAt, deadlineAt } = succeeded(outcome);
  const { tables } = cloud.state() as unknown as { tables: Record<string, Record<string, object>> };
  const config: unknown = caller.has(files[0]) ? caller.config(files[0]) : undefined;
  const secrets = caller.has(files[1]) ? await caller.secrets(files[1]) : undefined;
  const written = (outcome.result['files'] ?? []) as readonly { readonly path: string }[];
  return {
    config: (path) => path.split('.').reduce((at, key) => (at as Record<string, unknown> | undefined)?.[key], config),
    secret(name) {
      const fields = findSecret(secrets, name)?.fields;
      return fields?.username === undefined ? fields?.password : `${fields.username}/${fields.password}`;
    },
    vm(name) {
      const instances = Object.entries(tables['compute.instances'] ?? {});
      const [, vm] = instances.find(([path]) => path.includes(`/${projectId}/`) && path.endsWith(`/${name}`)) ?? [];
      return (vm as { resource?: Record<string, unknown> } | undefined)?.resource;
    },
    named: (table) => Object.keys(tables[table] ?? {}).filter((name) => name.includes(`/${projectId}/`)),
    project: (tables['projects']?.[projectId] ?? {}) as Record<string, unknown>,
    written: written.map(({ path }) => basename(path)),
    told: outcome,
    hours: (Date.parse(deadlineAt) - Date.parse(createdAt)) / 3_600_000,
  };
}
