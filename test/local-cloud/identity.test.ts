import { expect } from 'chai';
import { Compute, GoogleAuth } from 'google-auth-library';
import { createRemoteJWKSet, decodeJwt, jwtVerify } from 'jose';
import { owner, project, type ReadyCloud, readyCloud } from './ready-cloud.js';

const first = `plinth-first@${project}.iam.gserviceaccount.com`;
const second = `plinth-second@${project}.iam.gserviceaccount.com`;

describe('who is who in the simulated cloud', () => {
  let cloud: ReadyCloud;
  const metadata = (path: string, headers: Record<string, string> = { 'metadata-flavor': 'Google' }) =>
    fetch(`http://${cloud.metadataHost}/computeMetadata/v1/${path}`, { headers });

  before(async () => {
    cloud = await readyCloud({
      initial: { serviceAccounts: [first, second] },
      metadata: { project, serviceAccount: first },
    });
  });
  after(() => cloud.close());

  describe('the token issuer', () => {
    it('signs ID tokens that can be verified by its published keys', async () => {
      const discovery = (await (await fetch(`${cloud.issuerUrl}/.well-known/openid-configuration`)).json()) as {
        issuer: string;
        jwks_uri: string;
      };
      expect(discovery.issuer).to.equal(cloud.issuerUrl);
      const token = await cloud.identity.idToken({
        email: owner,
        audience: 'https://plinth.example.com',
        hd: 'example.com',
      });
      const { payload, protectedHeader } = await jwtVerify(token, createRemoteJWKSet(new URL(discovery.jwks_uri)), {
        issuer: cloud.issuerUrl,
        audience: 'https://plinth.example.com',
        algorithms: ['RS256'],
      });
      expect(payload).to.include({ email: owner, email_verified: true, hd: 'example.com' });
      expect(Number(payload.exp) - Number(payload.iat)).to.equal(3600);
      expect(protectedHeader).to.include({ alg: 'RS256' });
    });

    it('leaves the domain out where none was said, and the same person has the same subject', async () => {
      const claims = decodeJwt(await cloud.identity.idToken({ email: owner, audience: 'a' }));
      expect(claims).not.to.have.property('hd');
      expect(claims.sub).to.match(/^\d{21}$/);
      expect(decodeJwt(await cloud.identity.idToken({ email: owner, audience: 'b' })).sub).to.equal(claims.sub);
    });

    it('knows its own access tokens while they last, and no others', () => {
      const { accessToken, callerOf } = cloud.identity;
      expect(callerOf(accessToken(owner))).to.deep.equal({ email: owner, kind: 'user' });
      expect(callerOf(accessToken(first))).to.deep.equal({ email: first, kind: 'serviceAccount' });
      expect(callerOf(accessToken(owner, -1))).to.equal(undefined);
      expect(callerOf(`${accessToken(owner).slice(0, -3)}AAA`)).to.equal(undefined);
      expect(callerOf('x')).to.equal(undefined);
    });
  });

  describe('the metadata server', () => {
    it('answers nobody who does not say the flavor', async () => {
      expect((await metadata('project/project-id', {})).status).to.equal(403);
      const reply = await metadata('project/project-id');
      expect(reply.headers.get('metadata-flavor')).to.equal('Google');
      expect(await reply.text()).to.equal(project);
    });

    for (const [path, status, text] of [
      ['instance', 200, /service-accounts/],
      ['project/numeric-project-id', 200, /^\d{12}$/],
      ['universe/universe-domain', 404, /Not Found/],
      ['instance/zone', 200, /^projects\/\d+\/zones\/europe-west4-a$/],
      ['instance/service-accounts/default/email', 200, new RegExp(`^${first}$`)],
      ['instance/service-accounts/default/scopes', 200, /cloud-platform/],
      [`instance/service-accounts/${second}/email`, 200, new RegExp(`^${second}$`)],
      ['instance/service-accounts/default/identity', 404, /Not Found/],
      ['instance/service-accounts/none@example.com/token', 404, /Not Found/],
      ['instance/attributes/none', 404, /Not Found/],
    ] as const) {
      it(`answers ${path} with ${status}`, async () => {
        const reply = await metadata(path);
        expect(reply.status).to.equal(status);
        expect(await reply.text()).to.match(text);
      });
    }

    it('gives each identity its own tokens', async () => {
      const { access_token: token } = (await (
        await metadata(`instance/service-accounts/${second}/token?scopes=x`)
      ).json()) as { access_token: string };
      expect(cloud.identity.callerOf(token)?.email).to.equal(second);
      const idToken = await (
        await metadata(`instance/service-accounts/${second}/identity?audience=https://f.example.com&format=full`)
      ).text();
      expect(decodeJwt(idToken)).to.include({ aud: 'https://f.example.com', email: second });
    });

    it("is all that Google's own client needs", async () => {
      const before = { ...process.env };
      Object.assign(process.env, {
        GCE_METADATA_HOST: cloud.metadataHost,
        METADATA_SERVER_DETECTION: 'assume-present',
        // Else the client looks for two seconds.
        GOOGLE_CLOUD_PROJECT: project,
      });
      try {
        const client = new Compute({ serviceAccountEmail: second });
        const reply = await client.request({
          url: `${cloud.endpoints.cloudresourcemanager}/v3/projects/${project}:testIamPermissions`,
          method: 'POST',
          data: { permissions: [] },
        });
        expect(reply.status).to.equal(200);
        expect(cloud.calls.list().at(-1)).to.include({ caller: second });
        const auth = new GoogleAuth();
        const idTokens = await auth.getIdTokenClient('https://f.example.com');
        const headers = await idTokens.getRequestHeaders();
        expect(decodeJwt((headers.get('authorization') ?? '').slice('Bearer '.length))).to.include({ email: first });
      } finally {
        for (const name of ['GCE_METADATA_HOST', 'METADATA_SERVER_DETECTION', 'GOOGLE_CLOUD_PROJECT']) {
          if (before[name] === undefined) delete process.env[name];
          else process.env[name] = before[name];
        }
      }
    });
  });
});
