/**
 * Makes the X.509 certificates that steps need: plinth's own CAs, and server certificates for PostgreSQL and the registry.
 * node-forge writes them, node:crypto signs and reads them.
 */
import { sign, X509Certificate } from 'node:crypto';
import { isIP } from 'node:net';
import type { asn1, pki } from 'node-forge';
import { isPemPair } from '../../../shared/openssh.js';
import type { StepCall } from '../../engine/step.js';

type KeyPair = Awaited<ReturnType<StepCall['context']['keys']['make']>>;

export interface Means {
  readonly now: Date;
  readonly random: Pick<StepCall['context']['random'], 'bytes'>;
}

/** Self-signed, valid for three years. */
export async function makeCaCertificate(key: KeyPair, commonName: string, means: Means): Promise<string> {
  const certificate = await emptyCertificate(key.publicKey, means, 3);
  const name = [{ name: 'commonName', value: commonName }];
  certificate.setSubject(name);
  certificate.setIssuer(name);
  certificate.setExtensions([
    { name: 'basicConstraints', critical: true, cA: true },
    { name: 'keyUsage', critical: true, keyCertSign: true, cRLSign: true },
    { name: 'subjectKeyIdentifier' },
  ]);
  return signed(certificate, key.privateKey);
}

export interface ServerName {
  readonly hostname: string;
  readonly ip: string;
}

/** For TLS servers, by hostname and address. Valid for two years. */
export async function makeServerCertificate(
  ca: { readonly privateKey: string; readonly certPem: string },
  serverPublicKey: string,
  { hostname, ip }: ServerName,
  means: Means,
): Promise<string> {
  const forge = await loadForge();
  const issuer = forge.pki.certificateFromPem(ca.certPem);
  const certificate = await emptyCertificate(serverPublicKey, means, 2);
  certificate.setSubject([{ name: 'commonName', value: hostname }]);
  certificate.setIssuer(issuer.subject.attributes);
  certificate.setExtensions([
    { name: 'basicConstraints', critical: true, cA: false },
    { name: 'keyUsage', critical: true, digitalSignature: true, keyEncipherment: true },
    { name: 'extKeyUsage', serverAuth: true },
    { name: 'subjectKeyIdentifier' },
    { name: 'authorityKeyIdentifier', keyIdentifier: issuer.generateSubjectKeyIdentifier().getBytes() },
    {
      name: 'subjectAltName',
      altNames: [
        { type: 2, value: hostname },
        { type: 7, ip },
      ],
    },
  ]);
  return signed(certificate, ca.privateKey);
}

/**
 * Whether the certificate is still good. This CA signed it, for this key and for exactly this hostname and address, and it has
 * not expired.
 */
export function servesAs(
  certPem: string,
  caCertPem: string,
  serverKeyPem: string,
  { hostname, ip }: ServerName,
  now: Date,
): boolean {
  try {
    const certificate = new X509Certificate(certPem);
    const names = (certificate.subjectAltName ?? '').split(', ');
    return (
      certificate.verify(new X509Certificate(caCertPem).publicKey) &&
      isCertificateOf(certPem, serverKeyPem) &&
      names.length === 2 &&
      names.includes(`DNS:${hostname}`) &&
      (isIP(ip) === 6 ? certificate.checkIP(ip) !== undefined : names.includes(`IP Address:${ip}`)) &&
      new Date(certificate.validTo) > now
    );
  } catch {
    return false;
  }
}

/** Whether the certificate is for this private key. */
export function isCertificateOf(certPem: string, privateKeyPem: string): boolean {
  try {
    const spki = new X509Certificate(certPem).publicKey.export({ type: 'spki', format: 'pem' }).toString();
    return isPemPair(privateKeyPem, spki);
  } catch {
    return false;
  }
}

/** Loaded on first use. The HTTP functions load the steps too, but make no certificates. */
const loadForge = async () => (await import('node-forge')).default;

async function emptyCertificate(publicKeyPem: string, { now, random }: Means, years: number): Promise<pki.Certificate> {
  const forge = await loadForge();
  const certificate = forge.pki.createCertificate();
  // Positive and of fixed length: the first byte is between 1 and 127.
  const serial = random.bytes(16);
  serial[0] = ((serial[0] ?? 0) & 0x7f) | 0x01;
  certificate.serialNumber = serial.toString('hex');
  certificate.publicKey = forge.pki.publicKeyFromPem(publicKeyPem);
  // A few minutes back, for slow clocks.
  certificate.validity.notBefore = new Date(now.getTime() - 5 * 60_000);
  const notAfter = new Date(now);
  notAfter.setUTCFullYear(notAfter.getUTCFullYear() + years);
  certificate.validity.notAfter = notAfter;
  return certificate;
}

/** node-forge's own RSA is JavaScript. A 4096-bit signature would block everything else for a quarter of a second. */
async function signed(certificate: pki.Certificate, privateKeyPem: string): Promise<string> {
  const forge = await loadForge();
  const key = {
    sign() {
      const { tbsCertificate } = certificate as unknown as { readonly tbsCertificate: asn1.Asn1 };
      const toSign = Buffer.from(forge.asn1.toDer(tbsCertificate).getBytes(), 'binary');
      return sign('sha256', toSign, privateKeyPem).toString('binary');
    },
  };
  certificate.sign(key as unknown as pki.rsa.PrivateKey, forge.md.sha256.create());
  return forge.pki.certificateToPem(certificate).replaceAll('\r\n', '\n');
}
