/**
 * The interface to spans: begin, end and pass on. Without an exporter, spans only pass on their ids, and nothing of
 * OpenTelemetry is loaded.
 */
import type { Agent } from 'node:http';
import { newTrace, type Trace } from '../../shared/trace.js';

/**
 * Traces are kept for months, and more people read them than records. So they hold no secrets, e-mails or values of options.
 */
type Attributes = Readonly<Record<string, string | number | boolean>>;

export interface SpanFacts {
  readonly kind?: 'server' | 'client' | 'producer' | 'consumer';
  readonly attributes?: Attributes;
  /** The cause in another trace. */
  readonly link?: Trace | undefined;
  /** Milliseconds since 1970. Default: now. */
  readonly startedAt?: number;
}

interface SpanEnd {
  /** The final name, if it is known only at the end. */
  readonly name?: string | undefined;
  readonly attributes?: Attributes;
  /** One word for the failure: a code or a status. */
  readonly failure?: string | undefined;
}

export interface Span extends Trace {
  child(name: string, facts?: SpanFacts): Span;
  /** Call it once. Anything after it is ignored. */
  end(how?: SpanEnd): void;
}

export interface Tracing {
  /** Begins a span within `parent`, or a new trace without one. */
  begin(name: string, parent: Trace | undefined, facts?: SpanFacts): Promise<Span>;
  /** Sends ended spans before the function may be frozen. Takes at most a second and never fails. */
  flush(): Promise<void>;
}

export interface Exporter {
  /** The receiver of OTLP over HTTP: `…/v1/traces`. */
  readonly url: string;
  /** Called for each export. */
  readonly headers?: () => Promise<Readonly<Record<string, string>>>;
  /** How to connect, if not directly. */
  readonly agent?: Agent | undefined;
  /** Attributes of everything that is sent, such as `service.name`. */
  readonly resource: Readonly<Record<string, string>>;
  /** Called once, however often exports fail. */
  readonly onFailure: (why: string) => void;
}

/** Passes the parent's trace on unchanged. */
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

/** The URL for traces, else the base URL with `/v1/traces`. OpenTelemetry's own variables work like this. */
export const tracesUrl = (traces: string | undefined, base: string | undefined): string | undefined =>
  traces ?? (base === undefined ? undefined : `${base.replace(/\/+$/, '')}/v1/traces`);

/** `name=value,name=value`, percent-encoded, like OpenTelemetry's own variable. */
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
