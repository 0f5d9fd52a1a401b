/** Where a function sends its traces, as its settings have it. */
import { version } from '../../shared/version.js';
import { credentialsOf } from '../cloud/rest.js';
import type { Config } from '../config.js';
import type { Log } from '../host/log.js';
import type { Exporter } from './tracing.js';

/** Takes traces from whoever bears a token of Google's. https://cloud.google.com/stackdriver/docs/reference/telemetry/overview */
const cloudTraceHost = 'telemetry.googleapis.com';

export function exporterOf(config: Config, service: string, log: Log): Exporter | undefined {
  if (config.traces === undefined) return undefined;
  const { url, headers } = config.traces;
  const credentials = new URL(url).hostname === cloudTraceHost ? credentialsOf(config) : undefined;
  return {
    url,
    headers: async () => ({ ...Object.fromEntries((await credentials?.getRequestHeaders(url)) ?? []), ...headers }),
    resource: {
      'service.name': service,
      'service.version': version,
      'deployment.environment.name': config.deployment,
      // Cloud Trace wants to be told whose traces they are.
      'gcp.project_id': config.project,
    },
    onFailure: (why) => log('WARNING', 'Traces cannot be sent where the settings say; all else goes on', { why }),
  };
}
