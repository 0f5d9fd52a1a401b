/** Doctor's view of a deployment from outside: whether both APIs answer, and take tokens that are meant for them. */
import type { PreflightFinding } from '../../shared/bootstrap/preflight.js';
import type { Call } from '../frame/command.js';
import type { Check } from './check.js';
import { serviceChecks } from './service.js';

const doors: Readonly<Record<string, { readonly code: string; readonly why: string }>> = {
  'bootstrap API': { code: 'function-bootstraps', why: 'People make bootstraps by it.' },
  'organization API': { code: 'function-api', why: 'People keep organizations and teams by it.' },
  'token at the bootstrap API': { code: 'audience-bootstraps', why: 'A token for another audience is refused.' },
  'token at the organization API': { code: 'audience-api', why: 'A token for another audience is refused.' },
};

const states = { ok: 'ok', warning: 'warning', failed: 'stop', skipped: 'unknown' } as const;

export async function doorFindings(call: Call): Promise<PreflightFinding[]> {
  return (await serviceChecks(call)).flatMap((check: Check): PreflightFinding[] => {
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
