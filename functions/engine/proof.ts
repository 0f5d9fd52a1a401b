/** The labels of a project. One of them is the proof that this deployment made it: a keyed hash that nobody else can write. */
import { createHmac, timingSafeEqual } from 'node:crypto';
import { labels } from '../../shared/names.js';
import { sha256 } from '../../shared/sha256.js';
import { findOwnKey, ownKey } from '../host/deployment-keys.js';
import type { BootstrapFacts, StepCall } from './step.js';

type Context = StepCall['context'];

/** The key of the deployment. Undefined until the first project is made. */
export const findProofKey = ({ cloud }: Context): Promise<string | undefined> => findOwnKey(cloud, 'proofKey');
export const proofKey = ({ cloud }: Context): Promise<string> => ownKey(cloud, 'proofKey');

export interface Proven {
  readonly projectNumber: string;
  readonly bootstrapId: string;
  /** In the form of `ownerLabel`. */
  readonly owner: string;
  /** In the form of the label `delete-after`. */
  readonly expiry: string;
}

/** A label's value has at most 63 characters and begins with a letter. */
export const proofOf = (key: string, { projectNumber, bootstrapId, owner, expiry }: Proven): string =>
  `p${createHmac('sha256', key)
    .update(JSON.stringify([projectNumber, bootstrapId, owner, expiry]))
    .digest('hex')
    .slice(0, 60)}`;

export const isProof = (key: string, label: string | undefined, proven: Proven): boolean => {
  const [given, wanted] = [Buffer.from(label ?? ''), Buffer.from(proofOf(key, proven))];
  return given.length === wanted.length && timingSafeEqual(given, wanted);
};

/** Characters that a label's value may not contain become `_`. */
export const labelValue = (text: string): string =>
  text
    .toLowerCase()
    .replace(/[^a-z0-9_-]/g, '_')
    .slice(0, 63);

/** The search for active projects with the labels of a deployment. */
export const projectsOf = (deployment: string): string =>
  `labels.${labels.managed}:true labels.${labels.deployment}:${labelValue(deployment)} state:ACTIVE`;

const timeLabel = (time: Date): string => `t${Math.floor(time.getTime() / 1000)}`;

/** Hashed, because a label cannot hold an e-mail. */
export const ownerLabel = (owner: string): string => `o${sha256(owner).slice(0, 40)}`;

/** Our labels that must be absent while the bootstrap is not protected. */
export const protectionLabels: readonly string[] = [labels.protectedUntil, labels.protectedReason];

/** All labels but the proof, which needs the project's number. */
export function labelsOf(bootstrap: BootstrapFacts, deployment: string): Readonly<Record<string, string>> {
  // What is installed. The options may name only a version, or nothing when a file is uploaded.
  const { version: installVersion, hash: installHash } = bootstrap.package ?? {};
  return {
    [labels.managed]: 'true',
    [labels.bootstrap]: labelValue(bootstrap.id),
    [labels.deleteAfter]: timeLabel(bootstrap.deadlineAt),
    [labels.owner]: ownerLabel(bootstrap.owner),
    ...(bootstrap.protection === undefined
      ? {}
      : {
          [labels.protectedUntil]: timeLabel(bootstrap.protection.until),
          [labels.protectedReason]: labelValue(bootstrap.protection.reason),
        }),
    [labels.deployment]: labelValue(deployment),
    ...(installVersion === undefined ? {} : { [labels.installVersion]: labelValue(`v${installVersion}`) }),
    ...(installHash === undefined ? {} : { [labels.installHash]: labelValue(`h${installHash}`) }),
  };
}
