/** The end of the demo's project: its time is made short, and then nothing but waiting. Cloud Scheduler calls cleanup. */
import { setTimeout as sleep } from 'node:timers/promises';
import { collections, deploymentSecrets } from '../../shared/names.js';
import type { Stack } from '../stack/stack.js';
import type { Installing } from './install.js';
import { runPlinth } from './plinth-process.js';
import { project } from './project.js';
import type { Stage } from './stage.js';

/** Longer than a resume takes, so that the demo shows its end. */
const restSeconds = 30;
const patienceSeconds = 60;

const recordOf = async (stack: Stack) =>
  (
    await stack.functionsHalf?.store.query({
      collection: collections.bootstraps,
      where: [['name', '==', project.name]],
    })
  )?.[0]?.data;

/** Shortens the time to live with the same command. Returns sentences about what is wrong. */
export async function shorten(
  stage: Stage,
  stack: Stack,
  { folder, env, flags }: Installing & { readonly flags: readonly string[] },
): Promise<readonly string[]> {
  // The time to live counts from the creation, however long the bootstrap took.
  const createdAt = Date.parse(String((await recordOf(stack))?.['createdAt']));
  const ttl = `${Math.ceil((Date.now() - createdAt) / 1000) + restSeconds}s`;
  stage.command(`plinth beta bootstrap-cloud … --project-ttl ${ttl}      # the same again`);
  const short = flags.map((flag, i) => (flags[i - 1] === '--project-ttl' ? ttl : flag));
  const { exitCode } = await runPlinth(['beta', 'bootstrap-cloud', ...short], { folder, env, show: false });
  return exitCode === 0 ? [] : [`the resume with --project-ttl ${ttl} ended with exit code ${exitCode}`];
}

/** Waits, with a countdown, until nothing of it is left. Returns sentences about what is wrong. */
export async function awaitEnd(stage: Stage, stack: Stack): Promise<readonly string[]> {
  const until = Date.now() + (restSeconds + patienceSeconds) * 1000;
  for (;;) {
    const record = await recordOf(stack);
    const state = String(record?.['state']);
    if (state === 'removed') break;
    if (Date.now() > until) return [`it was not removed: its state is ${state}`];
    stage.now(passing(record ?? {}, Date.now()));
    await sleep(200);
  }
  const tables =
    (stack.cloudHalf?.cloud.state() as { tables?: Record<string, Record<string, Thing>> } | undefined)?.tables ?? {};
  const projectId = String((await recordOf(stack))?.['projectId']);
  const standing = tables['projects']?.[projectId];
  const isGone = standing?.state === 'DELETE_REQUESTED' && (standing.billingAccountName ?? '') === '';
  const secrets = Object.keys(tables['secretmanager.secrets'] ?? {}).filter(
    (name) => !Object.values(deploymentSecrets).some((own) => name.endsWith(`/${own}`)),
  );
  return [
    ...stage.looked(isGone, `${projectId} is deleted and unlinked from its billing account`),
    ...stage.looked(
      secrets.length === 0,
      `none of its secrets is left${secrets.length === 0 ? '' : `: ${secrets.join(', ')}`}`,
    ),
  ];
}

interface Thing {
  readonly state?: string;
  readonly billingAccountName?: string;
}

/** `23 s until its time is over`, `it goes: 12 parts are gone`. */
function passing({ deadlineAt, removal, instances }: Readonly<Record<string, unknown>>, nowMs: number): string {
  const left = Math.ceil((Date.parse(String(deadlineAt)) - nowMs) / 1000);
  if (removal === undefined)
    return left > 0
      ? `${left} s until its time is over`
      : 'its time is over; cleanup runs every five minutes, here six seconds';
  const parts = Object.values((instances ?? {}) as Readonly<Record<string, Thing>>);
  return `it goes: ${parts.filter(({ state }) => state === 'gone').length} parts are gone`;
}
