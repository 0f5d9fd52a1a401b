/** Signing in without a key: credentials of a federated identity, as builds of GitHub and GitLab have them, by Google's own library. */
import { expect } from 'chai';
import { decodeJwt } from 'jose';
import { ownersBindings, project, type ReadyCloud, readyCloud, services } from '../local-cloud/ready-cloud.js';
import { startForwardProxy } from '../support/company-network.js';
import { type SimulatedSts, startSts } from '../support/simulated-sts.js';
import { createSandbox, type Sandbox } from './run-cli.js';

const robot = `ci@${project}.iam.gserviceaccount.com`;
const provider = '//iam.googleapis.com/projects/123/locations/global/workloadIdentityPools/ci/providers/gitlab';
const client = '123-abc.apps.googleusercontent.com';
const nowSeconds = Math.floor(Date.now() / 1000);

describe('plinth with the credentials of a federated identity', function () {
  this.timeout(60_000);
  let cloud: ReadyCloud;
  let sts: SimulatedSts;
  let sandbox: Sandbox;
  before(async () => {
    sts = await startSts({
      provider,
      accessToken: (principal) => cloud.identity.accessToken(principal),
      admits: ({ repository }) => repository === 'acme/plinth',
    });
    cloud = await readyCloud({
      initial: {
        projects: [
          {
            projectId: project,
            parent: 'organizations/100',
            billingAccountName: 'billingAccounts/000000-000000-000000',
            services: [...services, 'iamcredentials.googleapis.com'],
          },
        ],
        serviceAccounts: [robot],
        bindings: [
          ...ownersBindings,
          {
            resource: `projects/${project}/serviceAccounts/${robot}`,
            role: 'roles/iam.workloadIdentityUser',
            members: [sts.principalOf('main')],
          },
        ],
      },
    });
  });
  beforeEach(() => {
    sandbox = createSandbox('https://plinth.example');
  });
  afterEach(() => sandbox.remove());
  after(async () => {
    await sts?.close();
    await cloud?.close();
  });

  const accountUrl = () => `${cloud.endpoints.iamcredentials}/v1/projects/-/serviceAccounts/${robot}`;
  /** As `gcloud iam workload-identity-pools create-cred-config` writes it. */
  async function token(
    claims: Readonly<Record<string, unknown>> = {},
    more: Readonly<Record<string, string | undefined>> = {},
    env: Readonly<Record<string, string>> = {},
  ) {
    const subject = { sub: 'main', repository: 'acme/plinth', iat: nowSeconds, exp: nowSeconds + 300, ...claims };
    sandbox.write('subject', `h.${Buffer.from(JSON.stringify(subject)).toString('base64url')}.planted-signature`);
    const credentials = {
      type: 'external_account',
      audience: provider,
      subject_token_type: 'urn:ietf:params:oauth:token-type:jwt',
      token_url: sts.url,
      credential_source: { file: sandbox.path('subject') },
      service_account_impersonation_url: `${accountUrl()}:generateAccessToken`,
      ...more,
    };
    sandbox.write('credentials.json', JSON.stringify(credentials));
    const ran = await sandbox.spawn(['token'], {
      PLINTH_TOKEN: '',
      GOOGLE_APPLICATION_CREDENTIALS: sandbox.path('credentials.json'),
      PLINTH_ENDPOINT_IAMCREDENTIALS: cloud.endpoints.iamcredentials,
      ...env,
    }).ended;
    expect(ran.stdout + ran.stderr)
      .to.not.include('planted-signature')
      .and.not.include('ya29.');
    return ran;
  }

  it('speaks for the service account that these name, to the OAuth client of the deployment', async () => {
    const { code, stdout, stderr } = await token({}, {}, { PLINTH_OAUTH_CLIENT_ID: client });
    expect(code, stderr).to.equal(0);
    expect(decodeJwt(stdout.trim())).to.include({ email: robot, email_verified: true, aud: client });
  });

  it('speaks for the one in PLINTH_SERVICE_ACCOUNT where they name none, to the endpoint', async () => {
    const direct = { service_account_impersonation_url: undefined };
    const { stdout, stderr } = await token({}, direct, { PLINTH_SERVICE_ACCOUNT: robot });
    expect(decodeJwt(stdout.trim() || expect.fail(stderr))).to.include({ email: robot, aud: 'https://plinth.example' });
    const unnamed = await token({}, direct);
    expect(unnamed.code).to.equal(3);
    expect(unnamed.stderr).to.include('federated identity').and.include('PLINTH_SERVICE_ACCOUNT');
  });

  const faults: readonly {
    readonly name: string;
    readonly claims?: Readonly<Record<string, unknown>>;
    readonly more?: Readonly<Record<string, string>>;
    readonly env?: Readonly<Record<string, string>>;
    readonly says: readonly string[];
  }[] = [
    {
      name: 'a subject token that has expired',
      claims: { exp: nowSeconds - 60 },
      says: ['has expired', 'stale to sign-in', 'Request a fresh one'],
    },
    {
      name: 'an identity that the provider does not admit',
      claims: { repository: 'mallory/plinth' },
      says: ['refuses', 'rejected by the attribute condition', 'providers describe gitlab'],
    },
    {
      name: 'another provider',
      more: { audience: provider.replace('gitlab', 'github') },
      says: ['invalid_target', 'audience'],
    },
    {
      name: 'an identity that may not act as the service account',
      claims: { sub: 'feature' },
      says: [robot, 'iam.serviceAccounts.getOpenIdToken', 'roles/iam.workloadIdentityUser'],
    },
    {
      name: 'a token service that is not reached through the proxy',
      more: { token_url: 'https://sts.example/v1/token' },
      env: { HTTPS_PROXY: 'http://proxy.invalid:3128' },
      says: ['HTTPS_PROXY', 'proxy.invalid:3128'],
    },
  ];
  for (const { name, claims, more, env, says } of faults) {
    it(`says what is wrong with ${name}, and what to do`, async () => {
      const { code, stderr } = await token(claims, more, env);
      expect([3, 6], stderr).to.include(code);
      for (const each of says) expect(stderr).to.include(each);
    });
  }

  it("takes with Google's library the way that all else takes", async () => {
    const proxy = await startForwardProxy({ refusesWith: 407 });
    try {
      const env = { HTTPS_PROXY: proxy.url, HTTP_PROXY: proxy.url };
      // On this computer: directly.
      expect((await token({}, {}, env)).code).to.equal(0);
      expect(proxy.asked).to.deep.equal([]);
      const outside = { token_url: 'https://sts.nowhere.invalid/v1/token' };
      expect((await token({}, outside, env)).stderr)
        .to.include('HTTPS_PROXY')
        .and.include('407');
      expect(new Set(proxy.asked)).to.deep.equal(new Set(['CONNECT sts.nowhere.invalid:443']));
      const asked = proxy.asked.length;
      const direct = await token({}, outside, { ...env, NO_PROXY: 'nowhere.invalid:443' });
      expect(direct.stderr).to.include('ENOTFOUND');
      expect(proxy.asked).to.have.length(asked);
    } finally {
      await proxy.close();
    }
  });
});
