/** The trace a request belongs to: by it a person's problem report finds its log lines. Called by the router. */
import { randomBytes } from 'node:crypto';
import type { IncomingHttpHeaders } from 'node:http';

const first = (value: string | string[] | undefined): string => (Array.isArray(value) ? value[0] : value) ?? '';

/** 32 hex digits: from `traceparent` (W3C), else `x-cloud-trace-context` (Google's front ends), else new. */
export function traceOf(headers: IncomingHttpHeaders): string {
  const found =
    /^[0-9a-f]{2}-([0-9a-f]{32})-[0-9a-f]{16}-[0-9a-f]{2}/.exec(first(headers['traceparent']))?.[1] ??
    /^([0-9a-f]{32})(?:\/|;|$)/i.exec(first(headers['x-cloud-trace-context']))?.[1]?.toLowerCase();
  return found === undefined || /^0+$/.test(found) ? randomBytes(16).toString('hex') : found;
}

/** 16 hex digits: the span of the caller, from the same headers; Google's own tells it in decimal. */
export function spanOf(headers: IncomingHttpHeaders): string | undefined {
  const span = /^[0-9a-f]{2}-[0-9a-f]{32}-([0-9a-f]{16})-/.exec(first(headers['traceparent']))?.[1];
  const decimal = /^[0-9a-f]{32}\/(\d{1,20})/i.exec(first(headers['x-cloud-trace-context']))?.[1];
  const hex = span ?? (decimal === undefined ? '' : BigInt(decimal).toString(16).padStart(16, '0'));
  return /^0*$/.test(hex) || hex.length !== 16 ? undefined : hex;
}

/** The fields by which Cloud Logging joins a line to its trace, and to the span that led to it. */
export const traceFields = (project: string, traceId: string, spanId?: string): Record<string, string> => ({
  'logging.googleapis.com/trace': `projects/${project}/traces/${traceId}`,
  ...(spanId !== undefined && { 'logging.googleapis.com/spanId': spanId }),
});
