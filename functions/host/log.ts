/** Structured logs for Cloud Logging, one JSON object a line on stdout, without secrets that were read. */
import { version } from '../../shared/version.js';
import { inOwnSources } from './own-sources.js';
import { redactHere } from './redaction.js';

export type Severity = 'DEBUG' | 'INFO' | 'WARNING' | 'ERROR' | 'CRITICAL';

export type Log = (severity: Severity, message: string, fields?: Readonly<Record<string, unknown>>) => void;

interface LogParts {
  /** Gets whole lines without the line feed. */
  readonly write?: (line: string) => void;
  readonly now?: () => Date;
  /** The name of the function, for Error Reporting. */
  readonly service?: string;
}

/** Cloud Logging's limit is 256 KiB a line. */
const maxTextLength = 100_000;

/** An error with its causes. Only for the log. */
export function errorText(error: unknown): string {
  const texts: string[] = [];
  for (
    let each = error;
    each !== undefined && texts.length < 5;
    each = each instanceof Error ? each.cause : undefined
  ) {
    texts.push(each instanceof Error ? (each.stack ?? each.message) : String(each));
  }
  return texts.join('\ncaused by ');
}

const fieldOf = (value: unknown): unknown => {
  const told = value instanceof Error ? errorText(value) : value;
  return typeof told === 'string' && told.length > maxTextLength ? `${told.slice(0, maxTextLength)}…` : told;
};

const errorEvent = 'type.googleapis.com/google.devtools.clouderrorreporting.v1beta1.ReportedErrorEvent';

/**
 * These fields make Error Reporting count a line, group it by a stack in our own sources, and name the release.
 * https://cloud.google.com/error-reporting/docs/formatting-error-messages
 */
function reported(service: string, { error, ...fields }: Readonly<Record<string, unknown>>): Record<string, unknown> {
  const stack = typeof error === 'string' && /\n\s+at /.test(error);
  return {
    '@type': errorEvent,
    serviceContext: { service, version },
    ...fields,
    ...(stack ? { stack_trace: inOwnSources(error) } : error !== undefined && { error }),
  };
}

export function createLog({
  write = (line) => process.stdout.write(`${line}\n`),
  now = () => new Date(),
  service = 'plinth',
}: LogParts = {}): Log {
  return (severity, message, fields = {}) => {
    const shown = Object.fromEntries(Object.entries(fields).map(([name, value]) => [name, redactHere(fieldOf(value))]));
    const told = severity === 'ERROR' || severity === 'CRITICAL' ? reported(service, shown) : shown;
    write(JSON.stringify({ severity, time: now().toISOString(), message: redactHere(message), ...told }));
  };
}

/** The same log with fields added to every line, such as `traceFields` and `{ bootstrap }`. */
export const withFields =
  (log: Log, fields: Readonly<Record<string, unknown>>): Log =>
  (severity, message, more) =>
    log(severity, message, { ...fields, ...more });
