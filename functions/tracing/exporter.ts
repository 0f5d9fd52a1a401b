/** Where a function sends its traces, according to its settings. */
import { version } from '../../shared/version.js';
import { credentialsOf } from '../cloud/rest.js';
import type { Config } from '../config.js';
import type { Log } from '../host/log.js';
import type { Exporter } from './tracing.js';

/**
 * Accepts traces with any of Google's access tokens. https://cloud.google.com/stackdriver/docs/reference/telemetry/overview
 */
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
      // Cloud Trace needs the project of the traces.
      'gcp.project_id': config.project,
    },
    onFailure: (why) => log('WARNING', 'Traces cannot be sent where the settings say; all else goes on', { why }),
  };
}
