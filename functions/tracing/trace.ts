/** The trace of a request. It leads from a person's problem report to the log lines. */
import type { IncomingHttpHeaders } from 'node:http';
import { newSpanId, readTraceparent, type Trace } from '../../shared/trace.js';

const first = (value: string | string[] | undefined): string => (Array.isArray(value) ? value[0] : value) ?? '';

/** From `traceparent` (W3C), else from `x-cloud-trace-context` (Google's front ends). The latter may have no span. */
export function traceIn(headers: IncomingHttpHeaders): Trace | undefined {
  return readTraceparent(first(headers['traceparent'])) ?? readCloudTrace(first(headers['x-cloud-trace-context']));
}

/** `<32 hex digits>/<span in decimal>;o=1`. */
function readCloudTrace(text: string): Trace | undefined {
  const [, id = '', decimal, flag] = /^([0-9a-f]{32})(?:\/(\d{1,20}))?(?:;o=(\d)|;|\/|$)/i.exec(text) ?? [];
  if (/^0*$/.test(id)) return undefined;
  const span = decimal === undefined ? '' : BigInt(decimal).toString(16).padStart(16, '0');
  const known = span.length === 16 && !/^0+$/.test(span);
  return { id: id.toLowerCase(), spanId: known ? span : newSpanId(), sampled: flag === '1' };
}

/** The fields by which Cloud Logging joins a line to its trace and span. */
export const traceFields = (project: string, { id, spanId }: Pick<Trace, 'id' | 'spanId'>): Record<string, string> => ({
  'logging.googleapis.com/trace': `projects/${project}/traces/${id}`,
  'logging.googleapis.com/spanId': spanId,
});
