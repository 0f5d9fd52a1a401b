/** Registers functions with the settings of this process. */
import { hideErrorTexts, readProcessConfig } from './config.js';
import { type Context, createContext } from './context.js';
import { realClock } from './host/clock.js';
import { createConnectionWatch } from './host/connection-watch.js';
import { createLog } from './host/log.js';
import { guardProcess } from './host/redaction.js';
import { onShutdown } from './host/shutdown.js';
import { hasTakenServer } from './http/framework-server.js';
import { register } from './index.js';

export function serve(chosen: Parameters<typeof register>[0]): void {
  hideErrorTexts();
  const log = createLog();
  guardProcess((text) => log('WARNING', text));
  let context: Context | undefined;
  const shutdown = onShutdown(log, async () => {
    await Promise.all([context?.remote.close(), context?.osLogin.close(), context?.tracing.flush()]);
  });
  register(chosen, (service) => {
    // A process serves one function, however many it registers.
    const log = createLog({ service });
    const connections = createConnectionWatch({ log });
    context ??= createContext(readProcessConfig(), { shutdown, log, service, connections });
    return context;
  });
  // The framework listens as soon as it has loaded this module, before anything else runs.
  realClock.after(0, () => {
    if (hasTakenServer()) return;
    createLog()('CRITICAL', 'The function does not start: it did not get the requests before the functions framework', {
      advice: 'Deploy it with the version of @google-cloud/functions-framework that package.json names.',
    });
    process.exit(1);
  });
}
