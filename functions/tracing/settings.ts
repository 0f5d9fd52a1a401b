/** Settings of traces, by the names that OpenTelemetry gives them. */
import { optional, type Rows, setting, text, url, type Values } from '../setting.js';
import { readHeaders, tracesUrl } from './tracing.js';

export const tracingSettings = {
  OTEL_EXPORTER_OTLP_ENDPOINT: optional(
    url,
    'Where traces are sent by OTLP over HTTP, `/v1/traces` beneath it; `https://telemetry.googleapis.com` is Cloud Trace. Unset: nowhere.',
  ),
  OTEL_EXPORTER_OTLP_HEADERS: setting(
    text,
    'Headers of those exports, as `name=value,name=value`. Whoever sees the settings of a function sees them, so a collector that asks for more than Cloud Trace does is better reached without. Cloud Trace needs none.',
    '',
  ),
} satisfies Rows;

export interface TracingConfig {
  /** Where traces are sent. Undefined: nowhere. */
  readonly traces?: { readonly url: string; readonly headers: Readonly<Record<string, string>> };
}

export function readTracing(read: Values<typeof tracingSettings>): TracingConfig {
  const address = tracesUrl(undefined, read.OTEL_EXPORTER_OTLP_ENDPOINT);
  return address === undefined
    ? {}
    : { traces: { url: address, headers: readHeaders(read.OTEL_EXPORTER_OTLP_HEADERS) } };
}
