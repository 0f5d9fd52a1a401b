/** Doctor's view of a deployment from outside: whether both APIs answer, and take tokens that are meant for them. */
import type { DeploymentFindingCode } from '../../shared/bootstrap/finding-codes.js';
import type { PreflightFinding } from '../../shared/bootstrap/preflight.js';
import { Problem } from '../../shared/problems.js';
import type { CommandContext } from '../frame/command.js';
import { createToken } from '../identity/token.js';
import { type Probe, probe, probeConsole } from '../service/probe.js';
import type { Check } from './check.js';
import { serviceChecks } from './service.js';

const doors: Readonly<Record<string, { readonly code: DeploymentFindingCode; readonly why: string }>> = {
  'bootstrap API': { code: 'function-bootstraps', why: 'People make bootstraps by it.' },
  'organization API': { code: 'function-api', why: 'People keep organizations and teams by it.' },
  'token at the bootstrap API': { code: 'audience-bootstraps', why: 'A token for another audience is refused.' },
  'token at the organization API': { code: 'audience-api', why: 'A token for another audience is refused.' },
};

const audienceAdvice =
  'If the token is fresh, its audience is not among PLINTH_AUDIENCES: add it to oauth_clients of the deployment, and terraform apply.';

const states = { ok: 'ok', warning: 'warning', failed: 'stop', skipped: 'unknown' } as const;

const terraform = 'Apply terraform again (terraform apply): its grants stand in terraform/roles.json.';

/** Nobody but people calls the function api, and it has no lane. What it may not read shows in its answers. */
async function grantsOfApi(call: CommandContext): Promise<PreflightFinding> {
  const finding = { code: 'grants-api', title: 'Grants of api' } as const;
  const unknown = (what: string): PreflightFinding => ({
    ...finding,
    state: 'unknown',
    what,
    why: 'Without them it answers nobody.',
    mend: 'Mend what stops it first, then: plinth doctor --deployment',
  });
  try {
    const endpoint = await call.endpoint('api');
    const token = await createToken(call.settings, endpoint, call.interrupted).get();
    const ask = (more?: string) => probe('api', endpoint, call, token, more);
    // A cursor that is none has it read the key of cursors.
    const [list, cursor, consoleSecret] = await Promise.all([
      ask(),
      ask('&cursor=none'),
      probeConsole(endpoint, call, token),
    ]);
    const untold = [notTold(list, 200), notTold(cursor, 400), consoleSecret.untold].find((why) => why !== undefined);
    if (untold !== undefined) return unknown(untold);
    const lacks = [
      ...(list.status === 200 ? [] : [`its database cannot be read (${detailOf(list.body)})`]),
      ...(cursor.status === 400 ? [] : [`the key of its cursors cannot be read (${detailOf(cursor.body)})`]),
      ...(consoleSecret.lacks === undefined ? [] : [consoleSecret.lacks]),
    ];
    if (lacks.length === 0) return { ...finding, state: 'ok', what: 'it reads its database and its keys' };
    return {
      ...finding,
      state: 'stop',
      what: `plinth-api lacks a grant: ${lacks.join('; ')}`,
      why: 'Without its database it answers nobody, without its keys lists have no pages and nobody signs in.',
      mend: terraform,
      problem: 'cloud-permission',
    };
  } catch (error) {
    if (!(error instanceof Problem)) throw error;
    return unknown(error.detail);
  }
}

/** Why an answer tells nothing of grants. Only plinth's own failure does. */
const notTold = ({ kind, status = 0, why }: Probe, good: number): string | undefined =>
  status === good || (kind === 'plinth' && status >= 500) ? undefined : why || `it answered ${status}`;

const detailOf = (body: unknown): string => String((body as { readonly detail?: unknown } | undefined)?.detail ?? '');

export async function doorFindings(call: CommandContext): Promise<PreflightFinding[]> {
  const [checks, grants] = await Promise.all([serviceChecks(call), grantsOfApi(call)]);
  return [...findingsOf(checks), grants];
}

/** A token that is refused, or a function that takes it and fails. */
function mendOf(code: string, { state, advice, code: problem }: Check): string | undefined {
  if (state !== 'failed' || !code.startsWith('audience-')) return advice;
  if (problem === 'unauthenticated') return `${advice} ${audienceAdvice}`;
  return `Look at its log: gcloud functions logs read ${code.replace('audience-', '')} --region=<region> --project=<project>, both of the deployment. Where it lacks a grant, terraform apply.`;
}

function findingsOf(checks: readonly Check[]): PreflightFinding[] {
  return checks.flatMap((check: Check): PreflightFinding[] => {
    const door = doors[check.name];
    if (door === undefined) return [];
    const { name: title, detail: what } = check;
    const state = states[check.state];
    const mend = mendOf(door.code, check);
    return [
      {
        code: door.code,
        title: `${title[0]?.toUpperCase()}${title.slice(1)}`,
        state,
        what,
        ...(state !== 'ok' && { why: door.why }),
        ...(mend !== undefined && { mend }),
        ...(state === 'stop' && { problem: check.code ?? 'unavailable' }),
      },
    ];
  });
}
