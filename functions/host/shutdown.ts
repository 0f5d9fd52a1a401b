/**
 * How a function's process ends. Cloud Run sends SIGTERM ten seconds before it kills. The functions framework would exit at
 * once, and work under way would wait until its leases expire.
 */
import { subscribe } from 'node:diagnostics_channel';
import type { Server } from 'node:http';
import type { Log } from './log.js';

/** What is not finished by then is left to redelivery. */
const patienceMilliseconds = 8500;

/**
 * Aborted by SIGTERM: steps hand over their instances, and streams end. The process exits when all requests are answered.
 * Before the first request nothing is under way, so the framework's own exit is enough. `farewell` runs once nothing is under
 * way. It says goodbye to those who would otherwise have to find out by themselves.
 */
export function onShutdown(log: Log, farewell: () => Promise<void> = async () => undefined): AbortSignal {
  const shutdown = new AbortController();
  const servers = new Set<Server>();

  const end = (): void => {
    if (shutdown.signal.aborted) return;
    const startedAt = performance.now();
    const leave = (severity: 'INFO' | 'WARNING', message: string): void => {
      log(severity, message, { seconds: Math.round(performance.now() - startedAt) / 1000 });
      // Without this, Node would wait for a key that OpenSSL is making. The instance that wanted it has been handed over
      // already.
      process.exit(0);
    };
    log('INFO', 'The instance is to end: what is under way is finished or handed on');
    shutdown.abort(new Error('The instance is to end'));
    setTimeout(() => leave('WARNING', 'The instance ends in the middle of something'), patienceMilliseconds);
    // A connection that becomes idle later would keep the server open.
    setInterval(() => {
      for (const server of servers) server.closeIdleConnections();
    }, 50);
    const closed = [...servers].map((server) => new Promise<void>((resolve) => server.close(() => resolve())));
    const farewelled = Promise.all(closed).then(farewell);
    void farewelled
      .catch(() => undefined)
      .then(() => leave('INFO', 'The instance ends; nothing was under way any more'));
  };

  subscribe('http.server.request.start', (message) => {
    const { server } = message as { readonly server: Server };
    if (servers.size === 0) {
      // The framework's listener exits in the middle of whatever is under way.
      process.removeAllListeners('SIGTERM');
      process.on('SIGTERM', end);
    }
    servers.add(server);
  });
  return shutdown.signal;
}
