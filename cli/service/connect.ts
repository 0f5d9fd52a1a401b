/** What a command needs to reach the service: a token, and clients whose first call begins the command's trace. */
import { version } from '../../shared/version.js';
import { withSeenOrganizations, withSeenProjects } from '../completion/seen-names.js';
import type { Output } from '../frame/output.js';
import { createToken, type Token } from '../identity/token.js';
import type { Settings } from '../settings.js';
import type { Client } from './client.js';
import { beginCommandTrace, type CommandTrace } from './command-trace.js';
import type { OrganizationClient } from './organization-client.js';
import { createTransport } from './transport.js';

interface ConnectionParts {
  /** The command's words without its arguments. */
  readonly words: string;
  readonly settings: Settings;
  readonly output: Output;
  readonly interrupted: AbortSignal;
}

/** By the URL of an API. */
export interface ServiceConnection {
  token(url: string): Token;
  bootstraps(url: string): Promise<Client>;
  organizations(url: string): Promise<OrganizationClient>;
  /** Ends the trace, if anything was called. */
  end(exitCode: number): Promise<void>;
}

export function createConnection({ words, settings, output, interrupted }: ConnectionParts): ServiceConnection {
  let trace: Promise<CommandTrace> | undefined;
  const transportTo = async (url: string) => {
    trace ??= beginCommandTrace(settings, words, output);
    const { span } = await trace;
    return createTransport({
      env: settings.env,
      endpoint: url,
      token: createToken(settings, url, interrupted),
      userAgent: `plinth/${version}`,
      onTrace: output.trace,
      onTrouble: output.warn,
      span,
      interrupted,
    });
  };
  // Each client brings the schemas of its whole API, which take longer to load than all else here.
  return {
    token: (url) => createToken(settings, url, interrupted),
    async bootstraps(url) {
      const { createClient } = await import('./client.js');
      const client = createClient(await transportTo(url), { onTrace: output.trace, onTrouble: output.warn });
      return withSeenProjects(client, settings);
    },
    async organizations(url) {
      const { createOrganizationClient } = await import('./organization-client.js');
      return withSeenOrganizations(createOrganizationClient(await transportTo(url)), settings);
    },
    async end(exitCode) {
      await (await trace)?.end(exitCode);
    },
  };
}
