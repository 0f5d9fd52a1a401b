/** The lane's side: looks at what only its identity can ask, and writes the answer for whoever waits. */
import { collections } from '../../shared/names.js';
import type { Context } from '../context.js';
import { optionsOf, read } from '../engine/record/documents.js';
import { Conflict } from '../store/store.js';
import { deploymentFindings } from './deployment/index.js';
import { liftPreflight, stored } from './documents.js';
import { findings } from './index.js';
import { createOnce, lookAt } from './look.js';

export async function answer(context: Context, id: string): Promise<void> {
  const { store, config, log } = context;
  const found = read(await store.get(collections.preflights, id), liftPreflight);
  // Whoever asked has gone, or another delivery was first.
  if (found === undefined || found.data.verdicts !== undefined) return;
  const { codes, owner, ownerMember, projectId, options } = found.data;
  const cloud = context.cloud.reportingTo((text) => log('DEBUG', text, { preflight: id }), `plinth preflight ${id}`);
  const looked = await lookAt(
    [...findings, ...deploymentFindings].filter(({ code, by }) => by !== 'door' && codes.includes(code)),
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
      once: createOnce(),
    },
  );
  const verdicts = Object.fromEntries(looked.map(({ code, verdict }) => [code, stored(verdict)]));
  try {
    await store.commit([
      { kind: 'update', collection: collections.preflights, id, version: found.version, data: { verdicts } },
    ]);
  } catch (error) {
    if (!(error instanceof Conflict)) throw error;
  }
}
