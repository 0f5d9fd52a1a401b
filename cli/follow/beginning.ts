/** One screen before a new bootstrap starts: its size, price, time, end and plan, and all that the preflight does not find fine. */
import type { BootstrapView } from '../../shared/bootstrap/bootstrap.js';
import { forecastText } from '../../shared/bootstrap/forecast-text.js';
import type { Beginning, PreflightFinding, PreflightReply } from '../../shared/bootstrap/preflight.js';
import type { BootstrapRequest } from '../../shared/bootstrap/request.js';
import { Problem } from '../../shared/problems.js';
import { findingGroups } from '../findings-text.js';
import type { CommandContext } from '../frame/command.js';
import { table, time } from '../frame/table.js';
import type { Client } from '../service/client.js';
import { beginningCostText } from './cost-text.js';

type Shown = Omit<Beginning, 'forecast'> & Partial<Pick<Beginning, 'forecast'>>;

export function beginningLines({ vms, cost, forecast, removedAt, hash }: Shown): string[] {
  return table([
    ...(vms === 0 ? [] : [['VMs', String(vms)]]),
    ['Cost', beginningCostText(cost)],
    ...(forecast === undefined ? [] : [['Ready', `in ${forecastText(forecast)}`]]),
    ['Removed', `at ${time(removedAt)}`],
    ...(hash === undefined ? [] : [['Plan', hash]]),
  ]);
}

/** The same of one that has begun. */
export const linesOfBegun = ({ instances, cost, forecast, deadlineAt: removedAt }: BootstrapView): string[] =>
  beginningLines({
    vms: instances.filter(({ step }) => step === 'vm').length,
    cost,
    ...(forecast !== undefined && { forecast }),
    removedAt,
  });

interface ShownBeginning {
  readonly told: readonly PreflightFinding[];
  /** Stands for the round that was shown. An older service says nothing of it. */
  readonly seen: string | undefined;
}

/**
 * Asks the service, and shows the screen: for people on stderr, with `--json` as one event. It asks for no answer. Nothing is
 * shown where the service refuses: the beginning that follows is refused with the same findings.
 */
export async function showBeginning(
  call: CommandContext,
  client: Client,
  request: BootstrapRequest,
): Promise<ShownBeginning | undefined> {
  const { output } = call;
  const { beginning, findings, seen } = await lookBeforehand(call, client, request);
  const { plan } = request;
  if (beginning === undefined || (plan !== undefined && plan !== beginning.hash)) return undefined;
  const told = toldOf(findings);
  if (output.json) {
    output.event({ type: 'beginning', ...beginning, findings: told });
    return { told, seen };
  }
  output.say('Before it starts:');
  for (const line of [...beginningLines(beginning), '', ...findingGroups(told, output.style)]) output.say(line);
  return { told, seen };
}

/** What is to be told: all that is not fine. Warnings about flags have been told already. */
export const toldOf = (findings: readonly PreflightFinding[]): readonly PreflightFinding[] =>
  findings.filter(({ code, state }) => state !== 'ok' && code !== 'options');

export const lookBeforehand = (
  { interrupted }: CommandContext,
  client: Client,
  { options, sshPublicKey, strict, maxCost, team }: BootstrapRequest,
): Promise<PreflightReply> =>
  client.preflight({ options, sshPublicKey, strict, maxCost, team }).catch((error: unknown) => {
    // A release before this one has no such question, and what refuses it refuses the beginning, too.
    if (interrupted.aborted || !(error instanceof Problem)) throw error;
    return { go: false, findings: [] };
  });
