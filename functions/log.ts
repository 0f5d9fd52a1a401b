/** Structured logs, one JSON object a line on stdout, as Cloud Logging reads them. Values given to `redact` never appear. */
export type Severity = 'DEBUG' | 'INFO' | 'WARNING' | 'ERROR' | 'CRITICAL';

export type Log = (severity: Severity, message: string, fields?: Readonly<Record<string, unknown>>) => void;
