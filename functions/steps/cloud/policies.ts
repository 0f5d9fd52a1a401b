/**
 * Reads the organization policies in force, before anything is made. One that plinth can't meet is a refusal by name. One that
 * can't be read or judged is unknown: a warning, as Google may still refuse.
 */
import type * as z from 'zod';
import { Problem } from '../../../shared/problems.js';
import { type BootstrapFacts, defineStep, done, type StepCall } from '../../engine/step.js';
import { PoliciesOutput } from './outputs.js';
import { allows, inForce, isConditional, isEnforced } from './policy-judge.js';
import { type BooleanRow, type Intent, osLoginConstraint, type PolicyRow, policyTable } from './policy-table.js';
import { refusal, warningOf } from './policy-words.js';
import { findProject, parentOf } from './project-place.js';

type Context = StepCall['context'];
type Finding = z.infer<typeof PoliciesOutput>['findings'][number];
type Effective = Awaited<ReturnType<StepCall['context']['cloud']['orgPolicy']['effective']>>;
/** Why a policy can't be read. `grant`: plinth lacks the right. */
interface Unread {
  readonly why: string;
  readonly grant?: true;
}

export const policies = defineStep({
  name: 'policies',
  title: 'Organization policies',
  lane: 'cloud',
  prepares: 'again',
  needs: {},
  describe: () => ['check of the organization policies in force, before anything is made'],
  output: PoliciesOutput,

  // It throws where a policy is not met, so that each look reads anew what somebody may have changed.
  async observe(call) {
    const parent = parentOf(call);
    // Somebody may have made an exception for the project alone.
    const stands = (await findProject(call))?.state === 'ACTIVE';
    const place = stands ? `projects/${call.bootstrap.projectId}` : parent;
    const output = await lookAtPolicies(call.context, call.bootstrap, parent, place);
    // What stands stays: policies judge what is made anew.
    if (!stands && output.findings.some(({ state }) => state === 'unmet')) throw refusal(output);
    return output;
  },
  run: async () => done,
  goes: 'nothing',
  summary: ({ place, findings }) => {
    const unknown = findings.filter(({ state }) => state === 'unknown').length;
    return `${findings.length} policies checked in ${place}${unknown === 0 ? '' : `, ${unknown} of them unknown`}`;
  },
  warning: warningOf,
});

/** What the policies need of a bootstrap, which may not be begun yet. */
type Wish = Pick<BootstrapFacts, 'options' | 'machineAccess' | 'projectId' | 'ownerMember' | 'loadBalancers'>;

/** All that are in force for `place`, at once, as none depends on another. `place` is `parent` until there is a project. */
export async function lookAtPolicies(
  context: Pick<Context, 'config' | 'cloud'>,
  { options, machineAccess, projectId, ownerMember, loadBalancers }: Wish,
  parent: string,
  place = parent,
): Promise<z.infer<typeof PoliciesOutput>> {
  const known = {
    options,
    machineAccess,
    projectId,
    ownerMember,
    loadBalancers,
    hosts: context.config.hosts,
    vmImage: context.config.vmImage,
  };
  const asked = policyTable.flatMap((row) => {
    const hits = row.hits(known);
    return hits === undefined ? [] : [{ row, hits }];
  });
  const answers = await Promise.all(
    asked.map(async ({ row, hits }) => ({ row, hits, read: await effective(context, place, row.constraint) })),
  );
  const osLogin = answers.find(({ row }) => row.constraint === osLoginConstraint)?.read;
  // What judges OS Login by a condition is unknown, and OS Login is not used then.
  const requiresOsLogin =
    osLogin !== undefined && !('why' in osLogin) && !isConditional(osLogin) && isEnforced(osLogin);
  const intent: Intent = { ...known, requiresOsLogin };
  const found = answers.map(({ row, hits, read }) => {
    const finding: Finding = { constraint: row.constraint, hits, ...judge(row, intent, read) };
    return { finding, isDenied: 'grant' in read && finding.state === 'unknown' };
  });
  const isDenied = found.some((each) => each.isDenied);
  return {
    place,
    findings: found.map(({ finding }) => finding),
    ...(isDenied ? { grant: grantFor(context.config, parent) } : {}),
  };
}

async function effective(
  context: Pick<Context, 'config' | 'cloud'>,
  place: string,
  constraint: string,
): Promise<Effective | Unread> {
  try {
    return await context.cloud.orgPolicy.effective(place, constraint);
  } catch (error) {
    const unread = error instanceof Problem ? unreadBy(error, context.config.project) : undefined;
    if (unread === undefined) throw error;
    return unread;
  }
}

/** Undefined: it may pass, so it is tried again. */
function unreadBy({ code, detail, members = {} }: Problem, ownProject: string): Unread | undefined {
  const reasons = (members['reasons'] ?? []) as readonly string[];
  if (reasons.includes('SERVICE_DISABLED') || reasons.includes('accessNotConfigured')) {
    return { why: `the API orgpolicy.googleapis.com is off in ${ownProject}` };
  }
  if (code === 'cloud-permission') return { why: 'plinth may not read it', grant: true };
  const isFinal = ['cloud-policy', 'cloud-not-found', 'cloud-input'].includes(code);
  return isFinal || members['cloudStatus'] === 'UNIMPLEMENTED' ? { why: detail } : undefined;
}

function judge(row: PolicyRow, intent: Intent, read: Effective | Unread): Omit<Finding, 'constraint' | 'hits'> {
  const met = row.metBy?.(intent);
  if ('why' in read) return met === undefined ? { state: 'unknown', why: read.why } : { state: 'met', why: met };
  const value = inForce(read, row.kind);
  if (met !== undefined) return { state: 'met', value, why: met };
  if (isConditional(read)) return { state: 'unknown', value, why: 'it depends on a condition' };
  if (row.kind === 'boolean') return enforced(row, value, isEnforced(read));
  const judged = row.wanted(intent).map((wanted) => ({ ...wanted, passes: allows(read, wanted.fits) }));
  const refused = judged.filter(({ passes }) => passes === false).map((each) => each.value);
  if (refused.length > 0) return { state: 'unmet', value, why: row.unmet(refused.join(', ')) };
  if (judged.every(({ passes }) => passes)) return { state: 'met', value };
  if (row.later !== undefined) return { state: 'later', value, why: row.later };
  return { state: 'unknown', value, why: `plinth can't tell what "${value}" means here` };
}

function enforced(row: BooleanRow, value: string, isInForce: boolean): Omit<Finding, 'constraint' | 'hits'> {
  if (!isInForce) return { state: 'met', value };
  return row.adapts === undefined
    ? { state: 'unmet', value, why: row.unmet }
    : { state: 'met', value, why: row.adapts };
}

/** Terraform grants the role on all parents. */
const grantFor = ({ serviceAccount }: Pick<Context['config'], 'serviceAccount'>, parent: string): string => {
  const who = serviceAccount === 'default' ? 'the service account of run-cloud-step' : serviceAccount;
  return `roles/orgpolicy.policyViewer (orgpolicy.policy.get) for ${who} on ${parent}`;
};
