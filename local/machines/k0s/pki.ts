/** Keys and certificates of a cluster: its CA, the certificates it signs, and the requests of new nodes. */
import { generateKeyPair, randomBytes, X509Certificate } from 'node:crypto';
import { isIP } from 'node:net';
import { join } from 'node:path';
import { promisify } from 'node:util';
import forge from 'node-forge';
import { place, readIfThere, writeWhole } from './place.js';

export interface Identity {
  /** PEM. */
  readonly certificate: string;
  readonly key: string;
}

const days = 24 * 3_600_000;

export async function makeKey(): Promise<string> {
  const { privateKey } = await promisify(generateKeyPair)('rsa', { modulusLength: 2048 });
  // node-forge reads this form.
  return privateKey.export({ type: 'pkcs1', format: 'pem' }).toString();
}

const subject = (name: string, organization?: string) => [
  { name: 'commonName', value: name },
  ...(organization === undefined ? [] : [{ name: 'organizationName', value: organization }]),
];

interface Wanted {
  readonly name: string;
  readonly organization?: string | undefined;
  readonly publicKey: forge.pki.PublicKey;
  readonly extensions: readonly object[];
}

function sign(
  { name, organization, publicKey, extensions }: Wanted,
  ca: { certificate?: string; key: string },
): string {
  const made = forge.pki.createCertificate();
  made.serialNumber = `01${randomBytes(15).toString('hex')}`;
  made.publicKey = publicKey;
  made.validity.notBefore = new Date(Date.now() - 300_000);
  made.validity.notAfter = new Date(Date.now() + 365 * days);
  made.setSubject(subject(name, organization));
  const issuer = ca.certificate === undefined ? undefined : forge.pki.certificateFromPem(ca.certificate);
  made.setIssuer(issuer === undefined ? subject(name, organization) : issuer.subject.attributes);
  made.setExtensions([...extensions]);
  made.sign(forge.pki.privateKeyFromPem(ca.key), forge.md.sha256.create());
  return forge.pki.certificateToPem(made).replaceAll('\r\n', '\n');
}

const leaf = (usage: object) => [
  { name: 'basicConstraints', critical: true, cA: false },
  { name: 'keyUsage', critical: true, digitalSignature: true, keyEncipherment: true },
  { name: 'extKeyUsage', ...usage },
];

/** Makes the CA once and stores it. */
export async function clusterCa(): Promise<Identity> {
  const [key, certificate] = [readIfThere(join(place.pki, 'ca.key')), readIfThere(join(place.pki, 'ca.crt'))];
  if (key !== undefined && certificate !== undefined) return { key, certificate };
  const made = await makeKey();
  const publicKey = forge.pki.setRsaPublicKey(...publicParts(made));
  const extensions = [
    { name: 'basicConstraints', critical: true, cA: true },
    { name: 'keyUsage', critical: true, keyCertSign: true, cRLSign: true, digitalSignature: true },
    { name: 'subjectKeyIdentifier' },
  ];
  const signed = sign({ name: 'kubernetes-ca', publicKey, extensions }, { key: made });
  writeWhole(join(place.pki, 'ca.key'), made);
  writeWhole(join(place.pki, 'ca.crt'), signed, 0o644);
  return { key: made, certificate: signed };
}

function publicParts(keyPem: string): [forge.jsbn.BigInteger, forge.jsbn.BigInteger] {
  const { n, e } = forge.pki.privateKeyFromPem(keyPem);
  return [n, e];
}

/** Signs a new certificate at each start, as k0s does when names change. The key stays. */
async function identity(file: string, ca: Identity, wanted: Omit<Wanted, 'publicKey'>): Promise<Identity> {
  const path = join(place.pki, file);
  const key = readIfThere(`${path}.key`) ?? (await makeKey());
  const certificate = sign({ ...wanted, publicKey: forge.pki.setRsaPublicKey(...publicParts(key)) }, ca);
  writeWhole(`${path}.key`, key);
  writeWhole(`${path}.crt`, certificate, 0o644);
  return { key, certificate };
}

export const serverIdentity = (ca: Identity, names: readonly string[]): Promise<Identity> => {
  const altNames = [...new Set(names)].map((name) =>
    isIP(name) === 0 ? { type: 2, value: name } : { type: 7, ip: name },
  );
  const extensions = [...leaf({ serverAuth: true }), { name: 'subjectAltName', altNames }];
  return identity('server', ca, { name: 'kubernetes', organization: 'kubernetes', extensions });
};

export const adminIdentity = (ca: Identity): Promise<Identity> =>
  identity('admin', ca, {
    name: 'kubernetes-admin',
    organization: 'system:masters',
    extensions: leaf({ clientAuth: true }),
  });

/** The request of a kubelet, as PEM. */
export function makeRequest(keyPem: string, name: string): string {
  const request = forge.pki.createCertificationRequest();
  request.publicKey = forge.pki.setRsaPublicKey(...publicParts(keyPem));
  request.setSubject(subject(name, 'system:nodes'));
  request.sign(forge.pki.privateKeyFromPem(keyPem), forge.md.sha256.create());
  return forge.pki.certificationRequestToPem(request);
}

/** Undefined if the request asks for more than a kubelet may have. */
export function signRequest(pem: string, ca: Identity): string | undefined {
  const request = forge.pki.certificationRequestFromPem(pem);
  const value = (field: string) => String((request.subject.getField(field) as { value?: string } | null)?.value ?? '');
  const name = value('CN');
  const isNode = request.verify() && name.startsWith('system:node:') && value('O') === 'system:nodes';
  if (!isNode || request.publicKey === null) return undefined;
  const extensions = leaf({ clientAuth: true });
  return sign({ name, organization: 'system:nodes', publicKey: request.publicKey, extensions }, ca);
}

/** The name and groups in a client certificate. Undefined unless the CA signed it and it is still valid. */
export function whoOf(
  raw: Buffer,
  caPem: string,
): { readonly name: string; readonly groups: readonly string[] } | undefined {
  const certificate = new X509Certificate(raw);
  if (!certificate.verify(new X509Certificate(caPem).publicKey) || new Date(certificate.validTo) < new Date()) {
    return undefined;
  }
  const parts = certificate.subject.split('\n').map((line) => line.split('=') as [string, string]);
  const of = (field: string) => parts.filter(([name]) => name === field).map(([, text]) => text);
  return { name: of('CN')[0] ?? '', groups: of('O') };
}
