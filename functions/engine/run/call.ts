/** What a step is called with: facts, needed outputs, secrets, files and request ids. */

import { createHash } from 'node:crypto';
import { collections } from '../../../shared/names.js';
import type { SecretRedactor } from '../../../shared/secret-redactor.js';
import type { Context } from '../../context.js';
import { keysUntil } from '../../host/keys.js';
import { type Instance, needOutputs } from '../plan.js';
import { type BootstrapRecord, fileId, liftFile, read } from '../record/documents.js';
import { fileWrite } from '../record/files.js';
import { createStepLog } from '../record/log.js';
import type { BootstrapFacts, StepCall, StepFiles } from '../step.js';
import { createStepSecrets } from './step-secrets.js';

type Parts = Pick<Context, 'store' | 'cloud' | 'clock' | 'config'>;

/** As long as events are kept. */
const logDays = 90;
const logExpiry = (deadlineAt: Date): string => new Date(deadlineAt.getTime() + logDays * 86_400_000).toISOString();

function createStepFiles(
  { store, clock }: Pick<Parts, 'store' | 'clock'>,
  { id: bootstrapId, projectId }: Pick<BootstrapFacts, 'id' | 'projectId'>,
  instance: string,
  lost: AbortSignal,
): StepFiles {
  return {
    async read(name) {
      return read(await store.get(collections.files, fileId(bootstrapId, name)), liftFile)?.data.content;
    },
    async write(name, content, outside) {
      const about = outside === undefined ? undefined : { outside, projectId, instance };
      // It has no precondition. Whoever has lost the lease would leave it behind a removal that somebody else has ended.
      lost.throwIfAborted();
      await store.commit([fileWrite(bootstrapId, name, content, clock.now(), about)], { once: true });
    },
  };
}

/**
 * The same UUID each time this instance asks for this purpose at this attempt. The generation is part of it. Otherwise an old
 * operation could answer an insert of a later generation, and nothing would be made.
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
  /** The lease is no longer ours. */
  readonly lost: AbortSignal;
  readonly redactor: SecretRedactor;
}

export function createCall({ context, facts, record, instance, attempt, signal, lost, redactor }: CallParts): StepCall {
  const { config, log, clock, random, cloud, keys, remote, osLogin } = context;
  const needs = record.state === 'removing' ? {} : needOutputs(instance, (id) => record.instances[id]?.output);
  return {
    context: { config, log, clock, random, cloud, keys: keysUntil(signal, keys), remote, osLogin },
    bootstrap: facts,
    key: instance.key,
    needs: needs as StepCall['needs'],
    secrets: createStepSecrets(context, facts.id, record.callerSecret, redactor.register),
    files: createStepFiles(context, facts, instance.id, lost),
    log: createStepLog(
      context,
      {
        bootstrapId: facts.id,
        instance: instance.id,
        generation: facts.generation,
        expireAt: logExpiry(facts.deadlineAt),
      },
      redactor,
    ),
    attempt,
    requestId: (purpose) => requestId(facts.id, facts.generation, instance.id, attempt, purpose),
    signal,
  };
}
