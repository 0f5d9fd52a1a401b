/** Doctor's view of a deployment from outside: whether both APIs answer, and take tokens that are meant for them. */
import type { PreflightFinding } from '../../shared/bootstrap/preflight.js';
import { Problem } from '../../shared/problems.js';
import type { Call } from '../frame/command.js';
import { createToken } from '../identity/token.js';
import { probe } from '../service/probe.js';
import type { Check } from './check.js';
import { serviceChecks } from './service.js';

const doors: Readonly<Record<string, { readonly code: string; readonly why: string }>> = {
  'bootstrap API': { code: 'function-bootstraps', why: 'People make bootstraps by it.' },
  'organization API': { code: 'function-api', why: 'People keep organizations and teams by it.' },
  'token at the bootstrap API': { code: 'audience-bootstraps', why: 'A token for another audience is refused.' },
  'token at the organization API': { code: 'audience-api', why: 'A token for another audience is refused.' },
};

const states = { ok: 'ok', warning: 'warning', failed: 'stop', skipped: 'unknown' } as const;

/** The key that seals cursors is the one secret that the function api reads. A cursor that is none has it read the key. */
async function grantsOfApi(call: Call): Promise<PreflightFinding> {
  const finding = { code: 'grants-api', title: 'Grants of api' } as const;
  const unknown = (what: string): PreflightFinding => ({ ...finding, state: 'unknown', what });
  try {
    const endpoint = await call.endpoint('api');
    const token = await createToken(call.settings, endpoint, call.interrupted).get();
    const { status = 0, why, body } = await probe('api', endpoint, call.interrupted, token, '&cursor=none');
    if (status === 400) return { ...finding, state: 'ok', what: 'it reads its database and the key of its cursors' };
    const { code, detail } = (body ?? {}) as { readonly code?: unknown; readonly detail?: unknown };
    if (code !== 'unavailable') return unknown(why === '' ? `it answered ${status}` : why);
    return {
      ...finding,
      state: 'stop',
      what: String(detail),
      why: 'Without the key, lists have no pages.',
      mend: 'Apply terraform again: its grants stand in terraform/roles.json.',
      problem: 'cloud-permission',
    };
  } catch (error) {
    if (!(error instanceof Problem)) throw error;
    return unknown(error.detail);
  }
}

export async function doorFindings(call: Call): Promise<PreflightFinding[]> {
  const [checks, grants] = await Promise.all([serviceChecks(call), grantsOfApi(call)]);
  return [...findingsOf(checks), grants];
}

function findingsOf(checks: readonly Check[]): PreflightFinding[] {
  return checks.flatMap((check: Check): PreflightFinding[] => {
    const door = doors[check.name];
    if (door === undefined) return [];
    const { name: title, detail: what, advice } = check;
    const state = states[check.state];
    return [
      {
        code: door.code,
        title: `${title[0]?.toUpperCase()}${title.slice(1)}`,
        state,
        what,
        ...(state !== 'ok' && { why: door.why }),
        ...(advice !== undefined && { mend: advice }),
        ...(state === 'stop' && { problem: check.code ?? 'unavailable' }),
      },
    ];
  });
}
