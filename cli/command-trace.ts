/** The one trace of a command: its calls are parts of it, and the service goes on in it. Begun by main with the first call. */
import { createTracing, readHeaders, type Span, tracesUrl } from '../functions/tracing/tracing.js';
import { Problem } from '../shared/problems.js';
import { version } from '../shared/version.js';
import type { Output } from './output.js';
import type { Settings } from './settings.js';

export interface CommandTrace {
  readonly span: Span;
  /** Sends what is to be sent; takes no longer than a second. */
  end(exitCode: number): Promise<void>;
}

/** `words`: of the command, without its arguments. Spans are sent only where OpenTelemetry's own variables say so. */
export async function beginCommandTrace(
  { traces }: Pick<Settings, 'traces'>,
  words: string,
  { warn, trace }: Pick<Output, 'warn' | 'trace'>,
): Promise<CommandTrace> {
  const url = tracesUrl(traces.url, traces.baseUrl);
  if (url !== undefined && !/^https?:/.test(URL.canParse(url) ? new URL(url).protocol : '')) {
    const message = 'is no http or https URL';
    const path = traces.url === undefined ? 'OTEL_EXPORTER_OTLP_ENDPOINT' : 'OTEL_EXPORTER_OTLP_TRACES_ENDPOINT';
    throw new Problem('bad-input', `${path} ${message}.`, { errors: [{ path, message }] });
  }
  const tracing = createTracing(
    url === undefined
      ? undefined
      : {
          url,
          headers: async () => readHeaders(traces.headers ?? ''),
          resource: { 'service.name': 'plinth', 'service.version': version },
          onFailure: (why) => warn(`The trace of this command cannot be sent to ${new URL(url).host}: ${why}`),
        },
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
