import { createPrivateKey, X509Certificate } from 'node:crypto';
import { setImmediate } from 'node:timers/promises';
import { expect } from 'chai';
import { createKeyMaker, type KeyPair } from '../../functions/host/keys.js';
import { realRandom } from '../../functions/host/random.js';
import {
  isCertificateOf,
  makeCaCertificate,
  makeServerCertificate,
  servesAs,
} from '../../functions/steps/config/certificates.js';
import { isOpenSshPair, isPemPair, openSshPair } from '../../shared/openssh.js';
import { keysAtHand } from './made-bootstrap.js';

const now = new Date('2026-03-04T05:06:07Z');
describe('the OpenSSH form of a key', () => {
  before(keysAtHand);

  it('tells a stranger from the other half', async () => {
    const [one, other] = await Promise.all([createKeyMaker().make('ed25519'), createKeyMaker().make('ed25519')]);
    const [a, b] = [openSshPair(one.privateKey, 'a'), openSshPair(other.privateKey, 'b')];
    expect(isOpenSshPair(a.privateKey, b.publicKey)).to.equal(false);
    expect(isOpenSshPair(a.privateKey, 'nonsense')).to.equal(false);
    expect(isOpenSshPair('nonsense', a.publicKey)).to.equal(false);
    expect(isPemPair(one.privateKey, other.publicKey)).to.equal(false);
    expect(isPemPair(one.privateKey, one.publicKey)).to.equal(true);
  });

  it('is refused to kinds that are never asked for', async () => {
    const { privateKey } = await createKeyMaker().make('ec-p256');
    expect(() => openSshPair(privateKey, '')).to.throw('only RSA and Ed25519');
  });
});

describe('an RSA key that waits for its turn', () => {
  it('is given up as soon as nobody wants it, and holds up none behind it', async () => {
    const ends: (() => void)[] = [];
    const pair = { privateKey: 'private', publicKey: 'public' };
    const { make } = createKeyMaker(() => new Promise((resolve) => ends.push(() => resolve(pair))));
    const going = [make('rsa-2048'), make('rsa-2048')];
    const nobody = new AbortController();
    let why: unknown;
    const given = make('rsa-2048', nobody.signal).catch((error: unknown) => {
      why = error;
    });
    const behind = make('rsa-2048');
    nobody.abort(new Error('the function ends'));
    await setImmediate();
    expect(why).to.be.an('error').with.property('message', 'the function ends');
    ends[0]?.();
    await going[0];
    await setImmediate();
    expect(ends).to.have.length(3);
    for (const end of ends) end();
    expect(await Promise.all([...going, behind, given])).to.deep.equal([pair, pair, pair, undefined]);
  });
});

describe('a certificate', () => {
  let ca: KeyPair;
  let server: KeyPair;
  let caCertPem: string;
  let certPem: string;
  const name = { hostname: 'postgres', ip: '10.10.0.7' };
  before(async () => {
    [ca, server] = await Promise.all([createKeyMaker().make('rsa-2048'), createKeyMaker().make('rsa-2048')]);
    caCertPem = await makeCaCertificate(ca, 'plinth PostgreSQL CA b1', { now, random: realRandom });
    certPem = await makeServerCertificate({ privateKey: ca.privateKey, certPem: caCertPem }, server.publicKey, name, {
      now,
      random: realRandom,
    });
  });

  it('of a CA is self-signed, may sign, and holds three years', () => {
    const certificate = new X509Certificate(caCertPem);
    expect(certificate.ca).to.equal(true);
    expect(certificate.verify(certificate.publicKey)).to.equal(true);
    expect(certificate.checkPrivateKey(createPrivateKey(ca.privateKey))).to.equal(true);
    expect(certificate.subject).to.equal('CN=plinth PostgreSQL CA b1');
    expect(new Date(certificate.validTo)).to.deep.equal(new Date('2029-03-04T05:06:07Z'));
    expect(new Date(certificate.validFrom)).to.be.below(now);
  });

  it('of the server names host and address, is signed by its CA, and holds two years', () => {
    const certificate = new X509Certificate(certPem);
    expect(certificate.ca).to.equal(false);
    expect(certificate.verify(new X509Certificate(caCertPem).publicKey)).to.equal(true);
    expect(certificate.checkIssued(new X509Certificate(caCertPem))).to.equal(true);
    expect(certificate.checkHost('postgres')).to.equal('postgres');
    expect(certificate.checkIP('10.10.0.7')).to.equal('10.10.0.7');
    expect(certificate.subjectAltName).to.equal('DNS:postgres, IP Address:10.10.0.7');
    expect(new Date(certificate.validTo)).to.deep.equal(new Date('2028-03-04T05:06:07Z'));
  });

  it('has a serial number of its own', async () => {
    const again = await makeServerCertificate(
      { privateKey: ca.privateKey, certPem: caCertPem },
      server.publicKey,
      name,
      { now, random: realRandom },
    );
    expect(new X509Certificate(again).serialNumber).not.to.equal(new X509Certificate(certPem).serialNumber);
    expect(new X509Certificate(again).serialNumber).to.have.length(32);
  });

  it('serves an IPv6 address as well', async () => {
    const six = { hostname: 'postgres', ip: '2001:db8::7' };
    const pem = await makeServerCertificate({ privateKey: ca.privateKey, certPem: caCertPem }, server.publicKey, six, {
      now,
      random: realRandom,
    });
    expect(servesAs(pem, caCertPem, server.privateKey, six, now)).to.equal(true);
    expect(servesAs(pem, caCertPem, server.privateKey, { ...six, ip: '2001:db8::8' }, now)).to.equal(false);
  });

  it('serves no longer when name, address, CA, key or time have moved on', async () => {
    const strangers = await createKeyMaker().make('rsa-2048');
    const strangersCa = await makeCaCertificate(strangers, 'plinth PostgreSQL CA b1', { now, random: realRandom });
    const later = new Date('2028-03-04T05:06:08Z');
    expect(servesAs(certPem, caCertPem, server.privateKey, name, now)).to.equal(true);
    expect(servesAs(certPem, caCertPem, server.privateKey, { ...name, ip: '10.10.0.70' }, now)).to.equal(false);
    expect(servesAs(certPem, caCertPem, server.privateKey, { ...name, hostname: 'pg' }, now)).to.equal(false);
    expect(servesAs(certPem, strangersCa, server.privateKey, name, now)).to.equal(false);
    expect(servesAs(certPem, caCertPem, strangers.privateKey, name, now)).to.equal(false);
    expect(servesAs(certPem, caCertPem, server.privateKey, name, later)).to.equal(false);
    expect(servesAs('nonsense', caCertPem, server.privateKey, name, now)).to.equal(false);
    expect(isCertificateOf('nonsense', server.privateKey)).to.equal(false);
  });
});
