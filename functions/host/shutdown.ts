/**
 * How the process of a function ends. Cloud Run sends SIGTERM ten seconds before it kills; the functions framework would exit
 * at once, and what was under way would be taken up only when its leases run out.
 */
import { subscribe } from 'node:diagnostics_channel';
import type { Server } from 'node:http';
import type { Log } from './log.js';

/** What is not through by then is left to those who redeliver. */
const patienceMilliseconds = 8500;

/**
 * Aborted by SIGTERM: steps hand on what they hold, streams end. The process exits when all requests are answered. Before
 * the first request nothing is under way, and the framework's own way of ending will do. `farewell`: to those who would
 * otherwise find out by themselves, once nothing is under way.
 */
export function onShutdown(log: Log, farewell: () => Promise<void> = async () => undefined): AbortSignal {
  const shutdown = new AbortController();
  const servers = new Set<Server>();

  const end = (): void => {
    if (shutdown.signal.aborted) return;
    const startedAt = performance.now();
    const leave = (severity: 'INFO' | 'WARNING', message: string): void => {
      log(severity, message, { seconds: Math.round(performance.now() - startedAt) / 1000 });
      // Node waits here for a key that OpenSSL is making; whoever wanted it has been handed on already.
      process.exit(0);
    };
    log('INFO', 'The instance is to end: what is under way is finished or handed on');
    shutdown.abort(new Error('The instance is to end'));
    setTimeout(() => leave('WARNING', 'The instance ends in the middle of something'), patienceMilliseconds);
    // A connection that becomes idle after this would hold the server open.
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
