/**
 * Spans made with OpenTelemetry's SDK and sent as OTLP over HTTP. The one importer of its packages, loaded only if there is an
 * exporter.
 */
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

/** The longest that a reply waits for its spans. The export itself goes on until its own time limit. */
const patienceMilliseconds = 1000;
const exportMilliseconds = 2000;

const kinds = {
  server: SpanKind.SERVER,
  client: SpanKind.CLIENT,
  producer: SpanKind.PRODUCER,
  consumer: SpanKind.CONSUMER,
} as const;

/** Recorded whatever its flag says, because front ends set that by their own sampling. */
const contextOf = ({ id, spanId }: Trace) => ({ traceId: id, spanId, traceFlags: TraceFlags.SAMPLED, isRemote: true });

export function createOtlpTracing({ url, headers, agent, resource, onFailure }: Exporter): Tracing {
  const otlp = new OTLPTraceExporter({
    url,
    timeoutMillis: exportMilliseconds,
    ...(agent === undefined ? {} : { httpAgentOptions: () => agent }),
    // It must not throw. Without these headers the export is refused, and that is reported.
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
      // A broken receiver must not slow anything down: spans are sent or lost in the background.
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

/** Tracks exports under way, and whether the last one failed. Only the first failure is reported. */
function watchExports(otlp: OTLPTraceExporter, onFailure: Exporter['onFailure']) {
  let broken = false;
  let told = false;
  const ended = (why: string | undefined): void => {
    broken = why !== undefined;
    if (why === undefined || told) return;
    told = true;
    onFailure(why);
  };
  /** An export may carry spans of several requests, so all of them are waited for. */
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
