/** X.509 certificates for the steps that make them: CAs of our own, and the PostgreSQL server's. node-forge writes, node:crypto reads. */
import { randomBytes, X509Certificate } from 'node:crypto';
import { isIP } from 'node:net';
import type { pki } from 'node-forge';
import type { KeyPair } from '../../keys.js';
import { isPemPair } from './openssh.js';

interface CertificateWish {
  readonly subject: { readonly publicKey: string; readonly commonName: string };
  readonly issuer: { readonly privateKey: string; readonly commonName: string };
  readonly now: Date;
  readonly years: number;
  readonly extensions: readonly object[];
}

/** Self-signed; three years. */
export const makeCaCertificate = (key: KeyPair, commonName: string, now: Date): Promise<string> =>
  makeCertificate({
    subject: { publicKey: key.publicKey, commonName },
    issuer: { privateKey: key.privateKey, commonName },
    now,
    years: 3,
    extensions: [
      { name: 'basicConstraints', critical: true, cA: true },
      { name: 'keyUsage', critical: true, keyCertSign: true, cRLSign: true },
      { name: 'subjectKeyIdentifier' },
    ],
  });

export interface ServerName {
  readonly hostname: string;
  readonly ip: string;
}

/** For TLS servers, by hostname and address; two years. */
export const makeServerCertificate = (
  ca: { readonly privateKey: string; readonly certPem: string },
  serverPublicKey: string,
  { hostname, ip }: ServerName,
  now: Date,
): Promise<string> =>
  makeCertificate({
    subject: { publicKey: serverPublicKey, commonName: hostname },
    issuer: { privateKey: ca.privateKey, commonName: commonNameOf(new X509Certificate(ca.certPem)) },
    now,
    years: 2,
    extensions: [
      { name: 'basicConstraints', critical: true, cA: false },
      { name: 'keyUsage', critical: true, digitalSignature: true, keyEncipherment: true },
      { name: 'extKeyUsage', serverAuth: true },
      { name: 'subjectKeyIdentifier' },
      {
        name: 'subjectAltName',
        altNames: [
          { type: 2, value: hostname },
          { type: 7, ip },
        ],
      },
    ],
  });

/** Whether the certificate still serves: signed by this CA, for this key, for exactly this hostname and address, not run out. */
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

async function makeCertificate({ subject, issuer, now, years, extensions }: CertificateWish): Promise<string> {
  // Loaded on first use: the HTTP functions know the steps too, and make no certificates.
  const { default: forge } = await import('node-forge');
  const certificate = forge.pki.createCertificate();
  // Positive and of fixed length: the first byte is between 1 and 127.
  const serial = randomBytes(16);
  serial[0] = ((serial[0] ?? 0) & 0x7f) | 0x01;
  certificate.serialNumber = serial.toString('hex');
  certificate.publicKey = forge.pki.publicKeyFromPem(subject.publicKey) as pki.rsa.PublicKey;
  // A few minutes back, for clocks that are slow.
  certificate.validity.notBefore = new Date(now.getTime() - 5 * 60_000);
  const notAfter = new Date(now);
  notAfter.setUTCFullYear(notAfter.getUTCFullYear() + years);
  certificate.validity.notAfter = notAfter;
  certificate.setSubject([{ name: 'commonName', value: subject.commonName }]);
  certificate.setIssuer([{ name: 'commonName', value: issuer.commonName }]);
  certificate.setExtensions([...extensions]);
  certificate.sign(forge.pki.privateKeyFromPem(issuer.privateKey), forge.md.sha256.create());
  return forge.pki.certificateToPem(certificate).replaceAll('\r\n', '\n');
}

const commonNameOf = (certificate: X509Certificate): string => /(?:^|\n)CN=(.+)/.exec(certificate.subject)?.[1] ?? '';
