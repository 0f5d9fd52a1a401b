/**
 * How a WebSocket to IAP ends, and what that means. The close codes are those of IAP Desktop, Google's client for Windows
 * (`SshRelayCloseCode`, read on 2026-11-24). gcloud's client names 4003 and 4004.
 */
import { tunnelRole } from '../../../shared/iap.js';
import { Problem, type ProblemCode } from '../../../shared/problems.js';

export type Ending =
  | { readonly kind: 'closed'; readonly code: number; readonly reason: string }
  /** An HTTP answer instead of a WebSocket. */
  | { readonly kind: 'status'; readonly status: number }
  | { readonly kind: 'failed'; readonly error: Error };

export interface TunnelTarget {
  readonly project: string;
  readonly zone: string;
  readonly instance: string;
  readonly port: number;
}

/** The other side has ended the connection as it should. */
export const isNormal = (ending: Ending): boolean => ending.kind === 'closed' && ending.code === 1000;

/** IAP no longer knows the tunnel. */
export const isForgotten = (ending: Ending): boolean => ending.kind === 'closed' && ending.code === 4001;

/** A new access token helps. */
export const wantsToken = (ending: Ending): boolean =>
  (ending.kind === 'closed' && ending.code === 4004) || (ending.kind === 'status' && ending.status === 401);

/** 4002: IAP has not noticed yet that the former WebSocket is gone. */
const passing = new Set([1001, 1005, 1006, 1011, 1012, 1013, 1014, 1015, 4000, 4002, 4004]);

/** The tunnel itself may still stand. */
export function mayReconnect(ending: Ending): boolean {
  if (ending.kind === 'failed') return true;
  if (ending.kind === 'closed') return passing.has(ending.code);
  return ending.status === 401 || ending.status === 429 || ending.status >= 500;
}

interface Words {
  readonly code: ProblemCode;
  readonly detail: string;
  readonly advice: string;
}

const anew = 'Run the command again.';
const noBackend = (place: string): Words => ({
  code: 'host-unreachable',
  detail: `IAP cannot connect to ${place}: the VM is still starting, nothing listens there, or no firewall rule admits 35.235.240.0/20.`,
  advice: 'Wait a minute and run the command again. If that does not help, check the VM and the firewall rules.',
});
const forgotten = (place: string): Words => ({
  code: 'host-unreachable',
  detail: `The connection to ${place} was lost for too long, and IAP has given it up.`,
  advice: anew,
});
const broken = (place: string): Words => ({
  code: 'host-unreachable',
  detail: `The connection between IAP and ${place} broke.`,
  advice: 'See whether the VM still runs, then run the command again.',
});

const words: Readonly<Record<number, (place: string, target: TunnelTarget) => Words>> = {
  4001: forgotten,
  4002: forgotten,
  4003: noBackend,
  4009: broken,
  4010: broken,
  4033: (place, { project }) => ({
    code: 'cloud-permission',
    detail: `IAP does not let the caller connect to ${place}.`,
    advice: `The caller needs ${tunnelRole} on the project ${project}, and the project needs the API iap.googleapis.com. plinth sees to both for the owner and the invited when the bootstrap runs again. A role given just now takes some minutes.`,
  }),
  4047: (place) => ({
    code: 'host-unreachable',
    detail: `IAP finds no running VM for ${place}.`,
    advice: 'See whether the VM runs: “restart-vms” starts it.',
  }),
  4051: forgotten,
};

function wordsOfStatus(status: number, place: string): Words {
  const detail = `IAP answers HTTP ${status} instead of a tunnel to ${place}.`;
  if (status === 401) {
    return {
      code: 'cloud-permission',
      detail,
      advice: 'Google refuses the access token. People log in again: “gcloud auth login”.',
    };
  }
  if (status === 403) {
    return { code: 'cloud-permission', detail, advice: 'The answer may come from a proxy that forbids WebSockets.' };
  }
  if (status === 429) return { code: 'cloud-rate', detail, advice: anew };
  return status >= 500
    ? { code: 'cloud-unavailable', detail, advice: anew }
    : { code: 'host-unreachable', detail, advice: 'Check the URL of the tunnel.' };
}

function wordsOf(ending: Ending, place: string, target: TunnelTarget): Words {
  if (ending.kind === 'status') return wordsOfStatus(ending.status, place);
  if (ending.kind === 'failed') {
    // A proxy on the way knows better what to do.
    if (ending.error instanceof Problem) {
      const { detail, advice = anew } = ending.error;
      return { code: 'host-unreachable', detail: `IAP cannot be reached for ${place}: ${detail}`, advice };
    }
    const why = (ending.error as NodeJS.ErrnoException).code ?? ending.error.message;
    return { code: 'host-unreachable', detail: `IAP cannot be reached for ${place}: ${why}.`, advice: anew };
  }
  const known = words[ending.code];
  if (known !== undefined) return known(place, target);
  const reason = ending.reason === '' ? '' : ` (${ending.reason})`;
  const detail = `IAP closed the connection to ${place} with code ${ending.code}${reason}.`;
  return { code: 'host-unreachable', detail, advice: anew };
}

/** `name` is the machine's, for people. */
export function problemOfEnding(ending: Ending, name: string, target: TunnelTarget): Problem {
  const { project, zone, instance, port } = target;
  const place = `${name} (port ${port} of ${instance} in ${zone} of ${project})`;
  const { code, detail, advice } = wordsOf(ending, place, target);
  return new Problem(code, detail, { advice, ...(ending.kind === 'failed' ? { cause: ending.error } : {}) });
}
