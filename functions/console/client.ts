/** The OAuth client of the console: its id is a setting, its secret is in Secret Manager. */
import { deploymentSecrets } from '../../shared/names.js';
import { Problem } from '../../shared/problems.js';
import type { Context } from '../context.js';
import { registerOfDeployment } from '../host/redaction.js';
import type { ConsoleClient } from './identity-provider.js';

type Keeping = Pick<Context, 'config' | 'cloud' | 'clock'>;

/** A new version counts after this time. */
const freshMs = 5 * 60_000;

/** Reads the secret on first use, and again after some minutes. Throws `unavailable` where there is none to read. */
export function createClientSource({ config, cloud, clock }: Keeping): () => Promise<ConsoleClient> {
  let held: { readonly client: Promise<ConsoleClient>; readonly untilMs: number } | undefined;
  const read = async (): Promise<ConsoleClient> => {
    const { console } = config;
    if (console === undefined) throw new Problem('not-found', 'This deployment has no console.');
    const secret = await cloud.secretManager.read(deploymentSecrets.consoleClient, 'latest').catch((cause: unknown) => {
      throw new Problem('unavailable', `The secret ${deploymentSecrets.consoleClient} cannot be read.`, {
        advice: `Put the secret of the console's OAuth client into ${deploymentSecrets.consoleClient}: docs/operate/console.md.`,
        cause,
      });
    });
    return {
      issuer: config.auth.issuer,
      clientId: console.clientId,
      clientSecret: registerOfDeployment(secret.trim()),
    };
  };
  return () => {
    const nowMs = clock.now().getTime();
    if (held === undefined || held.untilMs <= nowMs) {
      const client = read();
      held = { client, untilMs: nowMs + freshMs };
      client.catch(() => {
        held = undefined;
      });
    }
    return held.client;
  };
}
