/** The one trace of a command: its calls are parts of it, and the service goes on in it. */
import { createTracing, readHeaders, type Span, tracesUrl } from '../functions/tracing/tracing.js';
import { version } from '../shared/version.js';
import type { Output } from './frame/output.js';
import type { Settings } from './settings.js';

export interface CommandTrace {
  readonly span: Span;
  /** Sends what is to be sent; takes two seconds at most. */
  end(exitCode: number): Promise<void>;
}

/** `words`: of the command, without its arguments. Spans are sent only where OpenTelemetry's own variables say so. */
export async function beginCommandTrace(
  { traces }: Pick<Settings, 'traces'>,
  words: string,
  { warn, trace }: Pick<Output, 'warn' | 'trace'>,
): Promise<CommandTrace> {
  const given = tracesUrl(traces.url, traces.baseUrl);
  const url = given !== undefined && URL.canParse(given) ? new URL(given) : undefined;
  const takes = url !== undefined && ['http:', 'https:'].includes(url.protocol);
  // It is not about what was asked for, and may be meant for other programs.
  if (given !== undefined && !takes)
    warn('OTEL_EXPORTER_OTLP_ENDPOINT is no http or https URL, so no trace is sent there.');
  const tracing = createTracing(
    takes
      ? {
          url: url.href,
          headers: async () => readHeaders(traces.headers ?? ''),
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
