/** The single trace of a command. Its calls are child spans, and the service continues the trace. */
import { createTracing, readHeaders, type Span, tracesUrl } from '../../functions/tracing/tracing.js';
import { version } from '../../shared/version.js';
import type { Output } from '../frame/output.js';
import { agentFor } from '../network/send.js';
import type { Settings } from '../settings.js';

export interface CommandTrace {
  readonly span: Span;
  /** Sends the remaining spans. Takes at most two seconds. */
  end(exitCode: number): Promise<void>;
}

/** `words`: the command's words without its arguments. Spans are sent only if OpenTelemetry's own variables name a target. */
export async function beginCommandTrace(
  { traces, env }: Pick<Settings, 'traces' | 'env'>,
  words: string,
  { warn, trace }: Pick<Output, 'warn' | 'trace'>,
): Promise<CommandTrace> {
  const given = tracesUrl(traces.url, traces.baseUrl);
  const url = given !== undefined && URL.canParse(given) ? new URL(given) : undefined;
  const takes = url !== undefined && ['http:', 'https:'].includes(url.protocol);
  // A warning, not a fault: the variable doesn't concern the command, and may be meant for other programs.
  if (given !== undefined && !takes)
    warn('OTEL_EXPORTER_OTLP_ENDPOINT is no http or https URL, so no trace is sent there.');
  // A variable that names no proxy is a fault of the calls themselves, which report it.
  const agent = takes ? await agentFor(env, url).catch(() => undefined) : undefined;
  const tracing = createTracing(
    takes
      ? {
          url: url.href,
          headers: async () => readHeaders(traces.headers ?? ''),
          agent,
          resource: { 'service.name': 'plinth', 'service.version': version },
          onFailure: (why) => warn(`The trace of this command cannot be sent to ${url.host}: ${why}`),
        }
      : undefined,
  );
  const span = await tracing.begin(`plinth ${words}`, undefined);
  trace(`trace ${span.id}`);
  return {
    span,
    async end(exitCode) {
      span.end({
        attributes: { 'process.exit.code': exitCode },
        failure: exitCode === 0 ? undefined : String(exitCode),
      });
      await tracing.flush();
    },
  };
}
