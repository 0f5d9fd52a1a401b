/** Structured logs, one JSON object a line on stdout, as Cloud Logging reads them. Values given to `redact` never appear. */
import { createHide } from './hide.js';

export type Severity = 'DEBUG' | 'INFO' | 'WARNING' | 'ERROR' | 'CRITICAL';

export type Log = (severity: Severity, message: string, fields?: Readonly<Record<string, unknown>>) => void;

interface LogParts {
  /** Gets whole lines without their line feed. */
  readonly write?: (line: string) => void;
  readonly now?: () => Date;
}

/** Cloud Logging takes 256 KiB a line. */
const maxTextLength = 100_000;

/** An error with its causes, for the log alone. */
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
  if (value instanceof Error) return errorText(value);
  return typeof value === 'string' && value.length > maxTextLength ? `${value.slice(0, maxTextLength)}…` : value;
};

export function createLog({
  write = (line) => process.stdout.write(`${line}\n`),
  now = () => new Date(),
}: LogParts = {}): Log {
  return (severity, message, fields = {}) => {
    const shown = Object.fromEntries(Object.entries(fields).map(([name, value]) => [name, fieldOf(value)]));
    write(JSON.stringify({ severity, time: now().toISOString(), message, ...shown }));
  };
}

/** The same log with fields that every line bears, such as `traceFields` and `{ bootstrap }`. */
export const withFields =
  (log: Log, fields: Readonly<Record<string, unknown>>): Log =>
  (severity, message, more) =>
    log(severity, message, { ...fields, ...more });

/** The same log without these values; `secrets` is asked for each line, as more of them become known. */
export const redact =
  (log: Log, secrets: () => readonly string[]): Log =>
  (severity, message, fields = {}) => {
    const hide = createHide(secrets());
    const shown = Object.fromEntries(Object.entries(fields).map(([name, value]) => [name, hide(fieldOf(value))]));
    log(severity, hide(message), shown);
  };
