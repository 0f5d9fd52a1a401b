/** Google's Security Token Service for one provider of a workload identity pool: it changes tokens of others for Google's. */
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';

export interface SimulatedSts {
  /** For `token_url`. */
  readonly url: string;
  /** Whom it takes a subject for, in policies of IAM. */
  principalOf(subject: string): string;
  close(): Promise<void>;
}

interface StsOptions {
  /** `//iam.googleapis.com/projects/…/providers/…` */
  readonly provider: string;
  /** An access token of Google's for a principal. */
  readonly accessToken: (principal: string) => string;
  /** The attribute condition of the provider. */
  readonly admits: (claims: Readonly<Record<string, unknown>>) => boolean;
}

const exchange = 'urn:ietf:params:oauth:grant-type:token-exchange';
const [jwt, idToken, ours] = ['jwt', 'id_token', 'access_token'].map(
  (name) => `urn:ietf:params:oauth:token-type:${name}`,
);

type Answer = readonly [status: number, body: object];
const refused = (error: string, description: string): Answer => [400, { error, error_description: description }];

export async function startSts({ provider, accessToken, admits }: StsOptions): Promise<SimulatedSts> {
  const pool = provider.replace(/\/providers\/.*/, '');
  const principalOf = (subject: string): string => `principal:${pool}/subject/${subject}`;
  const answer = (form: URLSearchParams): Answer => {
    const subjectType = form.get('subject_token_type');
    if (form.get('grant_type') !== exchange || form.get('requested_token_type') !== ours) return [501, {}];
    if (subjectType !== jwt && subjectType !== idToken) return [501, {}];
    if (form.get('audience') !== provider) {
      return refused('invalid_target', 'The target service indicated by the "audience" parameters is invalid.');
    }
    const [, payload = ''] = (form.get('subject_token') ?? '').split('.');
    const claims = JSON.parse(Buffer.from(payload, 'base64url').toString() || '{}') as Record<string, unknown>;
    if (Number(claims['exp']) * 1000 < Date.now()) {
      return refused('invalid_grant', `ID Token issued at ${claims['iat']} is stale to sign-in.`);
    }
    if (!admits(claims)) {
      return refused('unauthorized_client', 'The given credential is rejected by the attribute condition.');
    }
    const granted = { issued_token_type: ours, token_type: 'Bearer', expires_in: 3599 };
    return [200, { ...granted, access_token: accessToken(principalOf(String(claims['sub']))) }];
  };
  const server = createServer(async (request, response) => {
    let text = '';
    for await (const part of request) text += part;
    const [status, body] = request.url === '/v1/token' ? answer(new URLSearchParams(text)) : ([501, {}] as const);
    response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1/token`,
    principalOf,
    close: () => {
      server.closeAllConnections();
      return new Promise((resolve) => server.close(() => resolve()));
    },
  };
}
