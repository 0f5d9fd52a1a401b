/** Doctor's checks of the caller: whom the service recognizes, and what it allows them. */
import { CallerView } from '../../shared/bootstrap/caller.js';
import type { CommandContext } from '../frame/command.js';
import { readCredentials } from '../identity/credentials-file.js';
import { createToken } from '../identity/token.js';
import { type Probe, probe } from '../service/probe.js';
import type { Api } from '../settings.js';
import { type Check, failed, failedBy, ok, skipped, warning } from './check.js';
import { machineChecks } from './machines.js';

export interface Reached {
  readonly api: Api;
  /** The name of the API for people. */
  readonly name: string;
  readonly url?: string;
  readonly found?: Probe;
  readonly check: Check;
}

export async function callerChecks(bootstraps: Reached, api: Reached, call: CommandContext): Promise<Check[]> {
  const urls = new Set([bootstraps, api].flatMap(({ url }) => url ?? []));
  if (urls.size === 0) return [skipped('credentials', 'no endpoint is known')];
  // A service account's token is for one endpoint only. The tokens are fetched in turn, so that a login is renewed only once.
  const tokens = new Map<string, string>();
  try {
    for (const url of urls) tokens.set(url, await createToken(call.settings, url, call.interrupted).get());
  } catch (error) {
    return [failedBy('credentials', error)];
  }
  const from = sourceOf(call);
  const held = ok('credentials', from);
  const asked = async ({ api: which, url, check }: Reached): Promise<Probe | undefined> =>
    url === undefined || check.state === 'failed' ? undefined : probe(which, url, call, tokens.get(url));
  const [caller, member] = await Promise.all([asked(bootstraps), asked(api)]);
  const standing = CallerView.safeParse(caller?.body).data;
  return [
    held,
    accepted(`token at the ${bootstraps.name}`, caller, standing?.email),
    ...(standing === undefined ? [] : standingChecks(standing)),
    accepted(`token at the ${api.name}`, member, undefined),
    ...(standing === undefined ? [] : await machineChecks(call, standing)),
  ];
}

function sourceOf({ settings }: CommandContext): string {
  if (settings.token !== undefined) return 'PLINTH_TOKEN';
  return readCredentials(settings) === undefined ? 'Application Default Credentials' : 'plinth login';
}

function accepted(name: string, found: Probe | undefined, email: string | undefined): Check {
  if (found === undefined) return skipped(name, 'it cannot be asked');
  const { status = 0, kind, why, body } = found;
  if (kind === 'older' && status === 404) {
    return skipped(name, 'an older plinth does not say who is calling');
  }
  if (status >= 200 && status < 300) return ok(name, email === undefined ? 'accepted' : `accepted, ${email}`);
  const detail = (body as { detail?: unknown } | undefined)?.detail;
  const told = typeof detail === 'string' ? detail : `${why === '' ? `it answered ${status}` : why}.`;
  const advice =
    kind === 'front'
      ? 'Who may pass there is decided by invokers of the deployment: log in with plinth login, or ask an operator.'
      : 'Log in again: plinth login; or set PLINTH_TOKEN to a fresh ID token.';
  if (status === 401 || status === 403) return failed(name, 'unauthenticated', told, advice);
  return failed(name, 'unavailable', told, 'Try again in a moment; if it stays so, tell an operator.');
}

function standingChecks({ operator, mayBootstrap, living, livingLimit, admission }: CallerView): Check[] {
  const role = operator
    ? ok('role', 'operator')
    : mayBootstrap
      ? ok('role', 'may bootstrap')
      : warning(
          'role',
          'may not bootstrap here',
          'Ask an operator to add you to PLINTH_BOOTSTRAPPERS, or your domain.',
        );
  const count = `${living} of ${livingLimit} bootstraps`;
  const quota =
    living >= livingLimit
      ? warning('quota', `${count} are used`, 'Remove one: plinth beta bootstrap-cloud list shows them.')
      : ok('quota', `${count} are used`);
  const stopped = warning(
    'new bootstraps',
    `stopped: ${admission.reason ?? 'no reason was given'}`,
    'Those that stand go on. Try again when an operator has started them again.',
  );
  return [role, quota, ...(admission.state === 'stopped' ? [stopped] : [])];
}
