/**
 * The labels of a project. One of them is the proof that this deployment made it: a keyed hash that nobody else can write. The
 * label of its team has a proof of its own.
 */
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

const keyed = (key: string, facts: readonly (string | number)[], characters: number): string =>
  createHmac('sha256', key).update(JSON.stringify(facts)).digest('hex').slice(0, characters);

/** A label's value has at most 63 characters and begins with a letter. */
export const proofOf = (key: string, { projectNumber, bootstrapId, owner, expiry }: Proven): string =>
  `p${keyed(key, [projectNumber, bootstrapId, owner, expiry], 60)}`;

export const isProof = (key: string, label: string | undefined, proven: Proven): boolean =>
  isEqual(label ?? '', proofOf(key, proven));

function isEqual(given: string, wanted: string): boolean {
  const [one, other] = [Buffer.from(given), Buffer.from(wanted)];
  return one.length === other.length && timingSafeEqual(one, other);
}

type ProvenTeam = Pick<Proven, 'projectNumber' | 'bootstrapId'>;

/** Apart from the proof, as the team may change while the project stands. */
export const teamLabel = (key: string, { projectNumber, bootstrapId }: ProvenTeam, team: number): string =>
  `t${team}-${keyed(key, ['team', projectNumber, bootstrapId, team], 40)}`;

/** The number of the team in the label. Undefined: there is none, or this deployment did not write it for this bootstrap. */
export function teamInLabel(key: string, label: string | undefined, proven: ProvenTeam): number | undefined {
  const team = /^t([1-9]\d{0,9})-/.exec(label ?? '')?.[1];
  if (label === undefined || team === undefined) return undefined;
  return isEqual(label, teamLabel(key, proven, Number(team))) ? Number(team) : undefined;
}

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

/** Our labels that must be absent while the bootstrap is not protected, or belongs to no team. */
export const optionalLabels: readonly string[] = [labels.protectedUntil, labels.protectedReason, labels.team];

/** All labels but the proofs, which need the project's number. */
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
