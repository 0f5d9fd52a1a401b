/**
 * ID tokens for a federated identity: a workload that signs in by a token of its own platform, without a key of Google's. It has
 * no ID token itself, so it takes one of the service account that it may act as.
 * https://docs.cloud.google.com/iam/docs/workload-identity-federation
 */
import * as z from 'zod';
import { reasonOf } from '../../shared/network-reason.js';
import { claimsOf } from '../../shared/oauth.js';
import { Problem } from '../../shared/problems.js';
import { timeLimit } from '../../shared/time-limit.js';
import { send } from '../network/send.js';
import { iamCredentialsUrlOf, loginClientOf, type Settings } from '../settings.js';
import { type DefaultCredentials, problemBehind } from './default-credentials.js';

const timeoutMs = 30_000;
const accountVariable = 'PLINTH_SERVICE_ACCOUNT';
const method = ':generateIdToken';

const Granted = z.object({ token: z.string() });
const Refusal = z.object({ error: z.object({ message: z.string(), status: z.string().optional() }) });

const refused = (detail: string, advice: string, cause?: unknown): Problem =>
  new Problem('unauthenticated', detail, { advice, ...(cause !== undefined && { cause }) });

/** `audience`: the endpoint, for a deployment whose OAuth client is not known here. */
export async function fetchFederatedIdToken(
  settings: Settings,
  credentials: DefaultCredentials,
  audience: string,
): Promise<string> {
  const { email, url } = accountOf(settings, credentials);
  // Not the token of the service account: to act as itself, it would need a role on itself.
  const json = credentials.json ?? {};
  const token = await credentials.federatedToken().catch((error: unknown) => {
    throw exchangeProblem(error, json);
  });
  if (token === undefined) throw exchangeProblem(new Error('it gave no access token'), json);
  settings.redactor.register(token);
  const client = await loginClientOf(settings).catch(() => undefined);
  return generateIdToken(settings, { email, url, token, audience: client?.clientId ?? audience });
}

function accountOf(settings: Settings, { json }: DefaultCredentials): { email: string; url: string } {
  const given = json?.['service_account_impersonation_url'];
  const [, base, email] = /^(.*\/serviceAccounts\/([^/:]+)):generateAccessToken$/.exec(String(given ?? '')) ?? [];
  if (base !== undefined && email !== undefined) {
    return { email, url: iamCredentialsUrlOf({ iamCredentialsUrl: `${base}${method}` }, 'the credentials') };
  }
  const named = settings.env[accountVariable] ?? '';
  if (!/^[^\s@/:]+@[^\s@/:]+$/.test(named)) {
    throw refused(
      named === ''
        ? 'These are the credentials of a federated identity, which has no ID token itself, and they name no service account.'
        : `${accountVariable} is not the e-mail of a service account.`,
      `Set ${accountVariable} to the e-mail of the service account that it may act as, or write the credentials with it: service_account of google-github-actions/auth, --service-account of gcloud iam workload-identity-pools create-cred-config.`,
    );
  }
  const origin = iamCredentialsUrlOf(settings);
  return { email: named, url: `${origin}/v1/projects/-/serviceAccounts/${encodeURIComponent(named)}${method}` };
}

/** `//iam.googleapis.com/projects/123/locations/global/workloadIdentityPools/ci/providers/gitlab` */
const providerCommand = (audience: string): string => {
  const [, project, pool, provider] =
    /\/projects\/([^/]+)\/locations\/[^/]+\/workloadIdentityPools\/([^/]+)\/providers\/([^/]+)$/.exec(audience) ?? [];
  return project === undefined
    ? 'Look at the provider that audience of the credentials names.'
    : `Look at the provider: gcloud iam workload-identity-pools providers describe ${provider} --workload-identity-pool ${pool} --location global --project ${project}`;
};

function exchangeProblem(error: unknown, json: Readonly<Record<string, unknown>>): Problem {
  const behind = problemBehind(error);
  if (behind !== undefined) return behind;
  const message = (error instanceof Error ? error.message : String(error)).replace(/\.$/, '');
  const source = json['credential_source'] as Readonly<Record<string, unknown>> | undefined;
  const place = typeof source?.['file'] === 'string' ? source['file'] : 'its platform';
  if (/stale to sign-in|expired/i.test(message)) {
    return refused(
      `The federated identity's own token, from ${place}, has expired: ${message}.`,
      'Request a fresh one in this job, just before plinth: in GitHub by google-github-actions/auth, in GitLab by id_tokens of the job. A job that outlasts it has to request it again.',
      error,
    );
  }
  if (/^Error code /.test(message)) {
    const audience = String(json['audience'] ?? '');
    return refused(
      `Google's token service refuses the federated identity: ${message}.`,
      `${providerCommand(audience)}. Its issuer, audiences and attribute condition must fit the token of this job.`,
      error,
    );
  }
  if (json['credential_source'] !== undefined && /subject token|does not exist|not a file|ENOENT/i.test(message)) {
    return refused(
      `The federated identity's own token cannot be read from ${place}: ${message}.`,
      'In GitHub the job needs permissions: id-token: write. In GitLab, id_tokens of the job writes it.',
      error,
    );
  }
  return new Problem('cloud-unavailable', `Google's token service gave no answer: ${reasonOf(error)}.`, {
    advice: 'Check the network and token_url of the credentials, then run the command again.',
    cause: error,
  });
}

interface IdTokenRequest {
  readonly email: string;
  readonly url: string;
  readonly token: string;
  readonly audience: string;
}

async function generateIdToken({ env }: Settings, { email, url, token, audience }: IdTokenRequest): Promise<string> {
  let response: Response;
  let body: unknown;
  try {
    response = await send(env, url, {
      method: 'POST',
      redirect: 'error',
      headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
      // plinth knows callers by their e-mail.
      body: JSON.stringify({ audience, includeEmail: true }),
      signal: timeLimit(timeoutMs),
    });
    body = await response.json();
  } catch (error) {
    if (error instanceof Problem) throw error;
    const detail = `IAM Credentials gave no answer at ${new URL(url).origin}: ${reasonOf(error)}.`;
    throw new Problem('cloud-unavailable', detail, { cause: error });
  }
  const granted = Granted.safeParse(body).data?.token;
  if (response.ok && granted !== undefined && claimsOf(granted).email !== undefined) return granted;
  const said = Refusal.safeParse(body).data?.error.message ?? `it answered ${response.status}`;
  if (response.status >= 500 || response.status === 429) {
    throw new Problem('cloud-unavailable', `IAM Credentials gives no ID token of ${email}: ${said}`);
  }
  throw refused(`The federated identity gets no ID token of ${email}: ${said}`, adviceFor(said, email));
}

function adviceFor(said: string, email: string): string {
  const [, project] = /@([a-z0-9-]+)\.iam\.gserviceaccount\.com$/.exec(email) ?? [];
  const of = project === undefined ? '' : ` --project ${project}`;
  if (/has not been used|is disabled|SERVICE_DISABLED/.test(said)) {
    return `Turn the API on, and wait a minute: gcloud services enable iamcredentials.googleapis.com${of}`;
  }
  return `Give the identity roles/iam.workloadIdentityUser on the service account, and wait some minutes: gcloud iam service-accounts add-iam-policy-binding ${email}${of} --role roles/iam.workloadIdentityUser --member "<principal:// or principalSet:// of the identity>"`;
}
