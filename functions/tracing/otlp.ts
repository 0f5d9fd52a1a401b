/** Spans by OpenTelemetry's SDK, sent as OTLP over HTTP. The one importer of its packages; loaded by tracing.ts where there is an exporter. */
import { setTimeout as sleep } from 'node:timers/promises';
import {
  type Context,
  ROOT_CONTEXT,
  SpanKind,
  SpanStatusCode,
  TraceFlags,
  type Tracer,
  trace,
} from '@opentelemetry/api';
import { ExportResultCode } from '@opentelemetry/core';
import { OTLPTraceExporter } from '@opentelemetry/exporter-trace-otlp-http';
import { resourceFromAttributes } from '@opentelemetry/resources';
import { AlwaysOnSampler, BatchSpanProcessor, type SpanExporter, TracerProvider } from '@opentelemetry/sdk-trace';
import type { Trace } from '../../shared/trace.js';
import type { Exporter, Span, SpanFacts, Tracing } from './tracing.js';

/** Whoever waits for an answer waits no longer than this for its spans; the export goes on, up to its own time. */
const patienceMilliseconds = 1000;
const exportMilliseconds = 2000;

const kinds = {
  server: SpanKind.SERVER,
  client: SpanKind.CLIENT,
  producer: SpanKind.PRODUCER,
  consumer: SpanKind.CONSUMER,
} as const;

/** Recorded whatever its flag says: it is set or not by front ends, which sample for themselves. */
const contextOf = ({ id, spanId }: Trace) => ({ traceId: id, spanId, traceFlags: TraceFlags.SAMPLED, isRemote: true });

export function createOtlpTracing({ url, headers, resource, onFailure }: Exporter): Tracing {
  const otlp = new OTLPTraceExporter({
    url,
    timeoutMillis: exportMilliseconds,
    // It must not throw; without what it was to bring, the export is refused, which is told.
    ...(headers === undefined ? {} : { headers: async () => ({ ...(await headers().catch(() => ({}))) }) }),
  });
  const watch = watchExports(otlp, onFailure);
  const batches = new BatchSpanProcessor({ exporter: watch.exporter, exportTimeoutMillis: exportMilliseconds * 2 });
  const provider = new TracerProvider({
    resource: resourceFromAttributes({ ...resource }),
    sampler: new AlwaysOnSampler(),
    spanProcessors: [batches],
  });
  const tracer = provider.getTracer('plinth');

  return {
    begin: async (name, parent, facts) =>
      startSpan(
        tracer,
        name,
        parent === undefined ? ROOT_CONTEXT : trace.setSpanContext(ROOT_CONTEXT, contextOf(parent)),
        facts,
      ),
    async flush() {
      const queued = batches.forceFlush().catch(() => undefined);
      // What does not take them slows nobody down: they are sent, or lost, behind everybody's back.
      if (watch.isBroken()) return;
      const sent = Promise.all([queued, ...watch.underWay]);
      const patience = new AbortController();
      const late = sleep(patienceMilliseconds, true, { signal: patience.signal }).catch(() => false);
      if (await Promise.race([sent.then(() => false), late]))
        watch.ended(`no answer within ${patienceMilliseconds} ms`);
      patience.abort();
    },
  };
}

/** Knows what is on its way, and whether the last export failed. A failure is told once. */
function watchExports(otlp: OTLPTraceExporter, onFailure: Exporter['onFailure']) {
  let broken = false;
  let told = false;
  const ended = (why: string | undefined): void => {
    broken = why !== undefined;
    if (why === undefined || told) return;
    told = true;
    onFailure(why);
  };
  /** What others have taken along with their spans is waited for, too. */
  const underWay = new Set<Promise<void>>();
  const exporter: SpanExporter = {
    export(spans, done) {
      const sent = new Promise<void>((resolve) => {
        otlp.export(spans, (result) => {
          ended(result.code === ExportResultCode.SUCCESS ? undefined : (result.error?.message ?? 'it was refused'));
          done(result);
          resolve();
        });
      });
      underWay.add(sent);
      void sent.then(() => underWay.delete(sent));
    },
    shutdown: () => otlp.shutdown(),
  };
  return { exporter, underWay, ended, isBroken: () => broken };
}

function startSpan(
  tracer: Tracer,
  name: string,
  within: Context,
  { kind, attributes = {}, link, startedAt }: SpanFacts = {},
): Span {
  const span = tracer.startSpan(
    name,
    {
      attributes: { ...attributes },
      ...(kind === undefined ? {} : { kind: kinds[kind] }),
      ...(link === undefined ? {} : { links: [{ context: contextOf(link) }] }),
      ...(startedAt === undefined ? {} : { startTime: startedAt }),
    },
    within,
  );
  const { traceId, spanId } = span.spanContext();
  return {
    id: traceId,
    spanId,
    sampled: true,
    child: (childName, facts) => startSpan(tracer, childName, trace.setSpan(ROOT_CONTEXT, span), facts),
    end: ({ name: known, attributes: more = {}, failure } = {}) => {
      if (known !== undefined) span.updateName(known);
      span.setAttributes({ ...more });
      if (failure !== undefined) span.setStatus({ code: SpanStatusCode.ERROR, message: failure });
      span.end();
    },
  };
}
