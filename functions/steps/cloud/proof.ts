/** The labels of a project, among them the proof that this deployment made it: a keyed hash that nobody else can write. */
import { createHmac, randomBytes, timingSafeEqual } from 'node:crypto';
import { deploymentSecrets, labels } from '../../../shared/names.js';
import { Problem } from '../../../shared/problems.js';
import type { BootstrapFacts, StepCall } from '../../engine/step.js';

/** The key of the deployment; made with the first project, and then the same for ever. */
export async function proofKey({ cloud: { secretManager } }: StepCall['context']): Promise<string> {
  const id = deploymentSecrets.proofKey;
  let version = await secretManager.find(id);
  if (version === undefined) {
    await secretManager.write(id, randomBytes(32).toString('base64'));
    // Whoever wrote at the same time: the lowest version counts.
    version = await secretManager.find(id);
  }
  if (version === undefined)
    throw new Problem('cloud-propagation', `The secret ${id} was written and cannot be found yet.`);
  return secretManager.read(id, version);
}

export interface Proven {
  readonly projectNumber: string;
  readonly bootstrapId: string;
  readonly owner: string;
  readonly expiry: string;
}

/** A label's value: at most 63 characters, beginning with a letter. */
export const proofOf = (key: string, { projectNumber, bootstrapId, owner, expiry }: Proven): string =>
  `p${createHmac('sha256', key)
    .update(JSON.stringify([projectNumber, bootstrapId, owner, expiry]))
    .digest('hex')
    .slice(0, 60)}`;

export const isProof = (key: string, label: string | undefined, proven: Proven): boolean => {
  const [given, wanted] = [Buffer.from(label ?? ''), Buffer.from(proofOf(key, proven))];
  return given.length === wanted.length && timingSafeEqual(given, wanted);
};

/** What a label's value forbids becomes `_`. */
export const labelValue = (text: string): string =>
  text
    .toLowerCase()
    .replace(/[^a-z0-9_-]/g, '_')
    .slice(0, 63);

const expiryLabel = (deadlineAt: Date): string => `t${Math.floor(deadlineAt.getTime() / 1000)}`;

/** All but the proof, which needs the project's number. */
export function labelsOf(bootstrap: BootstrapFacts, deployment: string): Readonly<Record<string, string>> {
  const { installVersion, installHash } = bootstrap.options;
  return {
    [labels.managed]: 'true',
    [labels.bootstrap]: labelValue(bootstrap.id),
    [labels.deleteAfter]: expiryLabel(bootstrap.deadlineAt),
    [labels.deployment]: labelValue(deployment),
    ...(installVersion === undefined
      ? {}
      : { [labels.installVersion]: labelValue(`v${installVersion.replace(/^v/, '')}`) }),
    ...(installHash === undefined ? {} : { [labels.installHash]: labelValue(`h${installHash}`) }),
  };
}
