/** The side of the function `check`: it asks what only its identity can ask, and replies with the verdicts. */
import type { Context } from '../context.js';
import { optionsOf } from '../engine/record/documents.js';
import { deploymentFindings } from './deployment/index.js';
import { findings } from './index.js';
import { createOnce, lookAt } from './look.js';
import { type CheckReply, type CheckRequest, toWire } from './wire.js';

export async function answer(
  context: Context,
  { codes, owner, ownerMember, projectId, options }: CheckRequest,
  signal?: AbortSignal,
): Promise<CheckReply> {
  const { config, log } = context;
  const reason = 'plinth preflight';
  const cloud = context.cloud.reportingTo((text) => log('DEBUG', text, { owner }), reason);
  const looked = await lookAt(
    [...findings, ...deploymentFindings].filter(({ code, by }) => by === 'check' && codes.includes(code)),
    {
      context: { ...context, cloud },
      intent: {
        options: optionsOf({ options }),
        owner,
        ownerMember,
        projectId,
        machines: config.hosts,
        machineAccess: config.machineAccess,
        loadBalancers: config.loadBalancers,
      },
      secrets: {},
      signal,
      once: createOnce(),
    },
  );
  return { verdicts: Object.fromEntries(looked.map(({ code, verdict }) => [code, toWire(verdict)])) };
}
