/**
 * Spans, as whoever works sees them: begun, ended, handed on. Without an exporter they are but numbers that are passed on, and
 * nothing of OpenTelemetry is loaded.
 */
import { newTrace, type Trace } from '../../shared/trace.js';

/** Kept for months, and read by more people than the records are: no secrets, e-mails or values of options. */
type Attributes = Readonly<Record<string, string | number | boolean>>;

export interface SpanFacts {
  readonly kind?: 'server' | 'client' | 'producer' | 'consumer';
  readonly attributes?: Attributes;
  /** What led to it in another trace. */
  readonly link?: Trace | undefined;
  /** Milliseconds since 1970; now unless given. */
  readonly startedAt?: number;
}

interface SpanEnd {
  /** Known only now. */
  readonly name?: string | undefined;
  readonly attributes?: Attributes;
  /** Why it failed, as a word: a code, a status. */
  readonly failure?: string | undefined;
}

export interface Span extends Trace {
  child(name: string, facts?: SpanFacts): Span;
  /** Once; what comes after it is left out. */
  end(how?: SpanEnd): void;
}

export interface Tracing {
  /** A part of `parent`; without one the beginning of a trace. */
  begin(name: string, parent: Trace | undefined, facts?: SpanFacts): Promise<Span>;
  /** Sends what has ended, before whoever works may be frozen. Takes no longer than a second, and never fails. */
  flush(): Promise<void>;
}

export interface Exporter {
  /** Where OTLP is taken over HTTP: `…/v1/traces`. */
  readonly url: string;
  /** Asked for with each export. */
  readonly headers?: () => Promise<Readonly<Record<string, string>>>;
  /** Of everything that is sent: `service.name` and the like. */
  readonly resource: Readonly<Record<string, string>>;
  /** Told once, however often it does not work. */
  readonly onFailure: (why: string) => void;
}

/** What whoever came before is told of stays as it is. */
const passedOn = (trace: Trace): Span => {
  const span: Span = { ...trace, child: () => span, end: () => undefined };
  return span;
};

export const noTracing: Tracing = {
  begin: async (_name, parent = newTrace()) => passedOn(parent),
  flush: async () => undefined,
};

export function createTracing(exporter: Exporter | undefined): Tracing {
  if (exporter === undefined) return noTracing;
  let loading: Promise<Tracing> | undefined;
  const loaded = (): Promise<Tracing> => {
    loading ??= import('./otlp.js').then(
      ({ createOtlpTracing }) => createOtlpTracing(exporter),
      (error: unknown) => {
        exporter.onFailure(String(error));
        return noTracing;
      },
    );
    return loading;
  };
  return {
    begin: async (...span) => (await loaded()).begin(...span),
    flush: async () => (await loading)?.flush(),
  };
}

/** The one that is for traces alone, else the base of all: as OpenTelemetry's own variables have it. */
export const tracesUrl = (traces: string | undefined, base: string | undefined): string | undefined =>
  traces ?? (base === undefined ? undefined : `${base.replace(/\/+$/, '')}/v1/traces`);

/** `name=value,name=value`, percent-encoded, as OpenTelemetry's own variable has it. */
export function readHeaders(text: string): Record<string, string> {
  const parts = text.split(',').map((each) => each.trim());
  return Object.fromEntries(
    parts.flatMap((each) => {
      const at = each.indexOf('=');
      return at < 1 ? [] : [[each.slice(0, at).trim().toLowerCase(), decoded(each.slice(at + 1).trim())]];
    }),
  );
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}
