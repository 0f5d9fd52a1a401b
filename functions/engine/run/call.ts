/** What a step is called with: facts, outputs it needs, secrets, files, request ids. Made by run.ts for one claim of one instance. */
import { createHash } from 'node:crypto';
import { iamMember } from '../../../shared/iam-member.js';
import { collections, labels } from '../../../shared/names.js';
import { Problem } from '../../../shared/problems.js';
import type { Context } from '../../context.js';
import { keysUntil } from '../../host/keys.js';
import { type Instance, needOutputs } from '../plan.js';
import { type BootstrapRecord, type FileRecord, fileId, liftFile, optionsOf, read } from '../record/documents.js';
import { createStepLog } from '../record/log.js';
import { deploymentOf, judgeProject } from '../record/removal-rule.js';
import type { BootstrapFacts, StepCall, StepFiles, StepSecrets } from '../step.js';

type Parts = Pick<Context, 'store' | 'cloud' | 'clock' | 'config'>;

/** The secret that holds what the caller gave, by option name. */
export const callerSecretName = 'caller';
/** By its prefix the functions' roles tell it from a secret of the deployment. Ids of bootstraps are made here, never given. */
export const secretId = (bootstrapId: string, name: string): string => `${bootstrapId}-${name}`;

export const secretLabels = (config: Parts['config'], bootstrapId: string): Record<string, string> => ({
  [labels.managed]: 'true',
  [labels.bootstrap]: bootstrapId,
  [labels.deployment]: config.deployment,
});

/** `heard` is told each secret value that passes through, so that logs and problems can be kept free of it. */
export function createStepSecrets(
  { cloud, config }: Pick<Parts, 'cloud' | 'config'>,
  bootstrapId: string,
  callerVersion: string | undefined,
  heard: (value: string) => void,
): StepSecrets {
  const { secretManager } = cloud;
  const idOf = (name: string) => secretId(bootstrapId, name);
  return {
    async caller() {
      if (callerVersion === undefined) return {};
      const values = JSON.parse(await secretManager.read(idOf(callerSecretName), callerVersion)) as Record<
        string,
        string
      >;
      for (const value of Object.values(values)) heard(value);
      return values;
    },
    find: (name) => secretManager.find(idOf(name)),
    write(name, payload) {
      hear(payload, heard);
      return secretManager.write(idOf(name), payload, secretLabels(config, bootstrapId));
    },
    async read(name, version) {
      const payload = await secretManager.read(idOf(name), version);
      hear(payload, heard);
      return payload;
    },
    remove: (name) => secretManager.remove(idOf(name)),
  };
}

/** What we make is longer; a shorter text within a payload is a name or a user, and stands in ordinary words too. */
const shortestMade = 16;

/** A payload may be JSON with many secrets in it: each text counts by itself. */
function hear(payload: string, heard: (value: string) => void): void {
  heard(payload);
  let parsed: unknown;
  try {
    parsed = JSON.parse(payload);
  } catch {
    return;
  }
  const walk = (value: unknown): void => {
    if (typeof value === 'string' && value.length >= shortestMade) heard(value);
    else if (typeof value === 'object' && value !== null) Object.values(value).forEach(walk);
  };
  walk(parsed);
}

/** As long as events are kept. */
const logDays = 90;
const logExpiry = (deadlineAt: Date): string => new Date(deadlineAt.getTime() + logDays * 86_400_000).toISOString();

/** A document holds 1 MiB. */
const maxFileBytes = 900 * 1024;

function createStepFiles({ store, clock }: Pick<Parts, 'store' | 'clock'>, bootstrapId: string): StepFiles {
  return {
    async read(name) {
      return read(await store.get(collections.files, fileId(bootstrapId, name)), liftFile)?.data.content;
    },
    async write(name, content) {
      await store.commit([fileWrite(bootstrapId, name, content, clock.now())]);
    },
  };
}

export function fileWrite(bootstrapId: string, name: string, content: string, now: Date) {
  if (Buffer.byteLength(content) > maxFileBytes) {
    throw new Problem('payload-too-large', `${name} is larger than ${maxFileBytes / 1024} KiB.`);
  }
  const data: FileRecord = { schema: 1, bootstrapId, name, content, writtenAt: now.toISOString() };
  return { kind: 'set', collection: collections.files, id: fileId(bootstrapId, name), data } as const;
}

/** What the caller had already, read once a generation by each function: most bootstraps have none. */
const bases = new Map<string, BootstrapFacts['base']>();
const basesKept = 8;

async function baseOf(store: Parts['store'], id: string, record: BootstrapRecord): Promise<BootstrapFacts['base']> {
  const entries = Object.entries(record.base);
  if (entries.length === 0) return {};
  const key = `${id}/${record.generation}`;
  const known = bases.get(key);
  if (known !== undefined) return known;
  const content = async (name: string | undefined): Promise<string | undefined> =>
    name === undefined ? undefined : read(await store.get(collections.files, fileId(id, name)), liftFile)?.data.content;
  const base: Record<string, { config?: string; secrets?: string }> = {};
  for (const [datacenter, names] of entries) {
    const [config, secrets] = await Promise.all([content(names.config), content(names.secrets)]);
    base[datacenter] = { ...(config === undefined ? {} : { config }), ...(secrets === undefined ? {} : { secrets }) };
  }
  bases.set(key, base);
  for (const oldest of bases.keys()) if (bases.size > basesKept) bases.delete(oldest);
  return base;
}

const orphanRule =
  (config: Parts['config'], clock: Parts['clock']): BootstrapFacts['orphan'] =>
  (project, proofKey) => {
    const verdict = judgeProject(project, deploymentOf(config, proofKey), clock.now());
    return verdict.remove ? undefined : verdict.why;
  };

export async function factsOf(
  { store, config, clock }: Pick<Parts, 'store' | 'config' | 'clock'>,
  id: string,
  record: BootstrapRecord,
): Promise<BootstrapFacts> {
  return {
    id,
    name: record.name,
    projectId: record.projectId,
    owner: record.owner,
    ownerMember: record.ownerMember,
    sharedMembers: (record.sharedWith ?? []).map(iamMember),
    formerMembers: (record.formerPeople ?? []).map(iamMember),
    options: optionsOf(record),
    sshPublicKey: record.sshPublicKey,
    base: await baseOf(store, id, record),
    createdAt: new Date(record.createdAt),
    deadlineAt: new Date(record.deadlineAt),
    ...(record.protection === undefined
      ? {}
      : { protection: { until: new Date(record.protection.until), reason: record.protection.reason } }),
    ...(record.orphan === true ? { orphan: orphanRule(config, clock) } : {}),
    ...(record.package === undefined ? {} : { package: record.package }),
    generation: record.generation,
  };
}

/**
 * The same UUID each time this instance at this attempt asks under this purpose. The generation is part of it: an insert
 * asked for in a generation long gone would else be answered by its old operation, with nothing made.
 */
export function requestId(...parts: readonly (string | number)[]): string {
  const hash = createHash('sha256').update(parts.join('\n')).digest();
  hash[6] = ((hash[6] ?? 0) & 0x0f) | 0x40;
  hash[8] = ((hash[8] ?? 0) & 0x3f) | 0x80;
  return hash.toString('hex', 0, 16).replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, '$1-$2-$3-$4-$5');
}

export interface CallParts {
  readonly context: Context;
  readonly facts: BootstrapFacts;
  readonly record: BootstrapRecord;
  readonly instance: Instance;
  readonly attempt: number;
  readonly signal: AbortSignal;
  readonly heard: (value: string) => void;
  /** All that were heard so far. */
  readonly secrets: () => readonly string[];
}

export function createCall({ context, facts, record, instance, attempt, signal, heard, secrets }: CallParts): StepCall {
  const { config, log, clock, cloud, keys, remote } = context;
  const needs = record.state === 'removing' ? {} : needOutputs(instance, (id) => record.instances[id]?.output);
  return {
    context: { config, log, clock, cloud, keys: keysUntil(signal, keys), remote },
    bootstrap: facts,
    key: instance.key,
    needs: needs as StepCall['needs'],
    secrets: createStepSecrets(context, facts.id, record.callerSecret, heard),
    files: createStepFiles(context, facts.id),
    log: createStepLog(
      context,
      {
        bootstrapId: facts.id,
        instance: instance.id,
        generation: facts.generation,
        expireAt: logExpiry(facts.deadlineAt),
      },
      secrets,
    ),
    attempt,
    requestId: (purpose) => requestId(facts.id, facts.generation, instance.id, attempt, purpose),
    signal,
  };
}
