/** Whether forge1's registry lets the caller's user and token in, as machines will log in there. */
import { Problem } from '../../../shared/problems.js';
import { timeLimit } from '../../../shared/time-limit.js';
import { type Asking, defineFinding, ok, stopFor } from '../../engine/finding.js';
import { installs } from '../../steps/install/k0s.js';
import { hasRegistry } from '../../steps/topology.js';

const timeoutMs = 10_000;

export const registry = defineFinding({
  code: 'registry',
  title: 'Registry of forge1',
  why: 'The images of the platform come from there.',
  by: 'bootstraps',
  standsOn: 'forge1-token',
  about: ['registryType', 'registryUser', 'airgapped', 'installVersion', 'installHash', 'installLocal'],
  when: ({ intent: { machines, options }, secrets }) =>
    machines &&
    installs(options) &&
    !hasRegistry(options) &&
    !options.airgapped &&
    options.registryUser !== undefined &&
    secrets.forge1Pat !== undefined,
  ask: (asking) => logIn(asking),
  judge: ({ url, status }, { options }) =>
    status === 200
      ? ok(`${url} lets ${options.registryUser} in`)
      : stopFor(
          ['registryUser', 'forge1Pat'],
          `do not let ${options.registryUser} into ${url}: it answers ${status}`,
          'Give the user whose token it is, and a token with the scope read:packages.',
        ),
});

/** By the protocol of registries: the answer without a login says where tokens are, or that user and password do. */
async function logIn({ context, intent, secrets, signal }: Asking): Promise<{ url: string; status: number }> {
  const url = context.config.registryUrls.forge1;
  const get = async (to: string, authorization?: string): Promise<Response> => {
    const reply = await fetch(to, {
      headers: authorization === undefined ? {} : { authorization },
      // The token goes only where the setting says, never where a redirect leads.
      redirect: 'error',
      signal: AbortSignal.any([timeLimit(timeoutMs), ...(signal === undefined ? [] : [signal])]),
    }).catch((cause: unknown) => {
      throw new Problem('unavailable', `The registry ${url} does not answer.`, { cause });
    });
    if (reply.status >= 500 || reply.status === 429) {
      throw new Problem('unavailable', `The registry ${url} answers ${reply.status}.`);
    }
    return reply;
  };
  const basic = `Basic ${Buffer.from(`${intent.options.registryUser}:${secrets.forge1Pat}`).toString('base64')}`;
  const first = await get(`${url}/v2/`);
  const challenge = first.headers.get('www-authenticate') ?? '';
  if (first.status !== 401) return { url, status: first.status };
  if (!/^bearer /i.test(challenge)) return { url, status: (await get(`${url}/v2/`, basic)).status };
  const [realm, service] = ['realm', 'service'].map((name) => new RegExp(`${name}="([^"]*)"`).exec(challenge)?.[1]);
  const tokens = realm === undefined ? undefined : new URL(realm);
  if (tokens?.origin !== new URL(url).origin) {
    throw new Problem('unavailable', `The registry ${url} sends logins to ${tokens?.origin ?? 'nowhere'}.`);
  }
  if (service !== undefined) tokens.searchParams.set('service', service);
  const given = await get(tokens.href, basic);
  if (given.status !== 200) return { url, status: given.status };
  const { token, access_token } = (await given.json()) as { token?: string; access_token?: string };
  return { url, status: (await get(`${url}/v2/`, `Bearer ${token ?? access_token ?? ''}`)).status };
}
