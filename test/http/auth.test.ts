import { expect } from 'chai';
import { SignJWT, UnsecuredJWT } from 'jose';
import { createVerifier } from '../../functions/identity/auth.js';
import { Problem } from '../../shared/problems.js';
import { createIssuer, type Issuer, type TokenShape } from './issuer.js';

const now = () => Math.floor(Date.now() / 1000);

describe('who calls', () => {
  let issuer: Issuer;
  before(async () => {
    issuer = await createIssuer();
  });
  after(() => issuer.close());

  const verifierFor = (auth: Partial<Record<'issuer' | 'jwksUrl', string>> = {}, audiences = [issuer.audience]) =>
    createVerifier({
      config: {
        auth: { issuer: issuer.url, jwksUrl: issuer.jwksUrl, audiences, operators: ['Ops@example.com'], ...auth },
      },
      clock: { now: () => new Date() },
    });

  async function problemOf(work: Promise<unknown>): Promise<Problem> {
    try {
      await work;
    } catch (error) {
      expect(error).to.be.instanceOf(Problem);
      return error as Problem;
    }
    return expect.fail('nothing was thrown');
  }

  const bearer = (token: string) => ({ authorization: `Bearer ${token}` });

  it('is the verified e-mail, lower-cased, with the domain that the issuer vouches for', async () => {
    const token = await issuer.token('Alice@Example.com', { claims: { hd: 'Example.com', sub: '42' } });
    expect(await verifierFor().authenticate(bearer(token))).to.deep.equal({
      email: 'alice@example.com',
      identity: `${issuer.url} 42`,
      member: 'user:alice@example.com',
      domain: 'example.com',
      operator: false,
    });
  });

  it('has no domain by the ending of an e-mail alone', async () => {
    const caller = await verifierFor().authenticate(bearer(await issuer.token('alice@example.com')));
    expect(caller.domain).to.equal(undefined);
  });

  it('knows operators whatever their case, and service accounts by how IAM names them', async () => {
    const { authenticate } = verifierFor();
    expect((await authenticate(bearer(await issuer.token('oPS@example.com')))).operator).to.equal(true);
    const robot = 'robot@some-project.iam.gserviceaccount.com';
    expect((await authenticate(bearer(await issuer.token(robot)))).member).to.equal(`serviceAccount:${robot}`);
  });

  const refusedTokens: Record<string, TokenShape> = {
    'of another issuer': { claims: { iss: 'https://accounts.example.org' } },
    'for another audience': { claims: { aud: 'https://elsewhere.example.com' } },
    'without an audience': { claims: { aud: undefined } },
    'that has expired': { claims: { exp: now() - 60 } },
    'without an expiry': { claims: { exp: undefined } },
    'that is not valid yet': { claims: { nbf: now() + 600 } },
    'with an unverified e-mail': { claims: { email_verified: false } },
    'whose e-mail is verified in words only': { claims: { email_verified: 'true' } },
    'that says nothing of verification': { claims: { email_verified: undefined } },
    'without an e-mail': { claims: { email: undefined } },
    'without a subject': { claims: { sub: undefined } },
    'with an empty subject': { claims: { sub: '' } },
    "signed with a stranger's key": { strangersKey: true },
    'with an unknown key id': { header: { kid: 'k2' } },
    'with a critical header we do not know': { header: { crit: ['x'], x: 1 } },
  };
  for (const [name, shape] of Object.entries(refusedTokens)) {
    it(`refuses a token ${name}`, async () => {
      let token: string;
      try {
        token = await issuer.token('alice@example.com', shape);
      } catch {
        // jose itself does not sign such a header; a forger would.
        const [, payload, signature] = (await issuer.token('alice@example.com')).split('.');
        const header = Buffer.from(JSON.stringify({ alg: 'RS256', kid: 'k1', ...shape.header })).toString('base64url');
        token = `${header}.${payload}.${signature}`;
      }
      const problem = await problemOf(verifierFor().authenticate(bearer(token)));
      expect(problem.code).to.equal('unauthenticated');
      expect(problem.detail).not.to.contain(token.split('.')[1]);
    });
  }

  for (const email of [
    'alice',
    'mi\u212Ae@example.com',
    '\u00A0alice@example.com',
    'alice@example.com ',
    '"a,zoe@x"@evil',
    `${'x'.repeat(250)}@example.com`,
  ]) {
    it(`knows nobody by ${JSON.stringify(email.slice(0, 20))}, and says why`, async () => {
      const problem = await problemOf(verifierFor().authenticate(bearer(await issuer.token(email))));
      expect(problem.code).to.equal('forbidden');
      expect(problem.detail).to.contain('ASCII');
    });
  }

  it('folds A to Z alone in a domain, too', async () => {
    const token = await issuer.token('alice@example.com', { claims: { hd: '\u212Aelvin.EXAMPLE' } });
    expect((await verifierFor().authenticate(bearer(token))).domain).to.equal('\u212Aelvin.example');
  });

  it('is one account in both ways that Google writes itself', async () => {
    const { authenticate } = verifierFor({ issuer: 'https://accounts.google.com' });
    const identities = await Promise.all(
      ['https://accounts.google.com', 'accounts.google.com'].map(
        async (iss) =>
          (await authenticate(bearer(await issuer.token('alice@example.com', { claims: { iss, sub: '42' } }))))
            .identity,
      ),
    );
    expect(new Set(identities)).to.deep.equal(new Set(['https://accounts.google.com 42']));
  });

  it('refuses an unsigned token, and one signed with the public key as a shared secret', async () => {
    const claims = { iss: issuer.url, aud: issuer.audience, email: 'alice@example.com', email_verified: true };
    const none = new UnsecuredJWT({ ...claims, exp: now() + 60, iat: now() }).encode();
    const pem = issuer.publicKey.export({ type: 'spki', format: 'pem' }) as string;
    const hmac = await new SignJWT({ ...claims, exp: now() + 60, iat: now() })
      .setProtectedHeader({ alg: 'HS256', kid: 'k1' })
      .sign(Buffer.from(pem));
    for (const token of [none, `${none}AAAA`, hmac]) {
      expect((await problemOf(verifierFor().authenticate(bearer(token)))).code).to.equal('unauthenticated');
    }
  });

  const refusedHeaders: Record<string, Record<string, string>> = {
    'no header': {},
    'an empty header': { authorization: '' },
    'another scheme': { authorization: 'Basic YTpi' },
    'a word': { authorization: 'Bearer abc' },
    'three words of garbage': { authorization: 'Bearer a.b.c' },
    'a token for the front end alone': { 'x-serverless-authorization': 'Bearer a.b.c' },
    'a token whose signature the front end took': { authorization: 'Bearer e30.e30.SIGNATURE_REMOVED_BY_GOOGLE' },
  };
  for (const [name, headers] of Object.entries(refusedHeaders)) {
    it(`refuses ${name}`, async () => {
      expect((await problemOf(verifierFor().authenticate(headers))).code).to.equal('unauthenticated');
    });
  }

  it('bears with clocks that differ by a few seconds', async () => {
    const token = await issuer.token('alice@example.com', { claims: { exp: now() - 3 } });
    expect((await verifierFor().authenticate(bearer(token))).email).to.equal('alice@example.com');
  });

  it('asks the issuer for its keys once', async () => {
    const { authenticate } = verifierFor();
    const token = await issuer.token('alice@example.com');
    const before = issuer.asked();
    await Promise.all([authenticate(bearer(token)), authenticate(bearer(token))]);
    await authenticate(bearer(token));
    expect(issuer.asked() - before).to.equal(1);
  });

  it('is unavailable, not forbidding, while the keys cannot be read', async () => {
    const { authenticate } = verifierFor({ jwksUrl: 'http://127.0.0.1:1/keys' });
    const problem = await problemOf(authenticate(bearer(await issuer.token('alice@example.com'))));
    expect(problem.code).to.equal('unavailable');
    expect(problem.retryAfterSeconds).to.be.greaterThan(0);
  });

  it('lets nobody in where no audience is set', async () => {
    const token = await issuer.token('alice@example.com');
    expect((await problemOf(verifierFor({}, []).authenticate(bearer(token)))).code).to.equal('unauthenticated');
  });

  it('takes an issuer on plain http on loopback only', () => {
    expect(() => verifierFor({ issuer: 'http://issuer.example.com' })).to.throw('https');
    expect(() => verifierFor({ jwksUrl: 'http://127.0.0.1.example.com/keys' })).to.throw('https');
    expect(() => verifierFor({ issuer: 'https://accounts.google.com' })).not.to.throw();
  });

  it('lets the scheduler call what it was made to call, and nobody else', async () => {
    const { authenticateInvoker } = verifierFor();
    const email = 'scheduler@some-project.iam.gserviceaccount.com';
    const audiences = ['https://sweep.example.com/'];
    const aud = { claims: { aud: audiences[0] } };
    const expected = { email, audiences };
    await authenticateInvoker(bearer(await issuer.token(email, aud)), expected);
    const stranger = authenticateInvoker(bearer(await issuer.token('alice@example.com', aud)), expected);
    expect((await problemOf(stranger)).code).to.equal('forbidden');
    const elsewhere = authenticateInvoker(bearer(await issuer.token(email)), expected);
    expect((await problemOf(elsewhere)).code).to.equal('unauthenticated');
  });
});
