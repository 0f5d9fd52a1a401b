/** A watch on the API server of the stand-in for k0s: it begins after what its caller has seen, deletions included. */
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { request } from 'node:https';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import forge from 'node-forge';
import { startApiServer } from '../../local/machines/k0s/api-server.js';
import { kindOf } from '../../local/machines/k0s/kinds.js';
import { createObjects } from '../../local/machines/k0s/objects.js';

/** The certificate of an admin, which is its own authority. */
function adminOfItself() {
  const { publicKey, privateKey } = forge.pki.rsa.generateKeyPair(2048);
  const certificate = forge.pki.createCertificate();
  const subject = [
    { name: 'commonName', value: 'admin' },
    { name: 'organizationName', value: 'system:masters' },
  ];
  Object.assign(certificate, { publicKey, serialNumber: '01' });
  certificate.validity.notBefore = new Date(Date.now() - 3_600_000);
  certificate.validity.notAfter = new Date(Date.now() + 3_600_000);
  certificate.setSubject(subject);
  certificate.setIssuer(subject);
  certificate.sign(privateKey, forge.md.sha256.create());
  return { certificate: forge.pki.certificateToPem(certificate), key: forge.pki.privateKeyToPem(privateKey) };
}

describe('a watch on the stand-in for k0s', () => {
  it('reports what was deleted between the reading of a version and its beginning', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'plinth-watch-'));
    const objects = createObjects(join(folder, 'objects.json'));
    const identity = adminOfItself();
    const server = startApiServer({ objects, identity, ca: identity.certificate, version: 'v1.31.0' });
    try {
      await once(server.listen(0, '127.0.0.1'), 'listening');
      const services = kindOf('services');
      objects.create(services, 'default', { metadata: { name: 'gateway' }, spec: {} });
      const seen = objects.version();
      objects.remove(services, 'default', 'gateway');
      const asked = request({
        host: '127.0.0.1',
        port: (server.address() as AddressInfo).port,
        path: `/api/v1/namespaces/default/services?watch=true&resourceVersion=${seen}&fieldSelector=metadata.name%3Dgateway`,
        cert: identity.certificate,
        key: identity.key,
        rejectUnauthorized: false,
      }).end();
      const [response] = (await once(asked, 'response')) as [import('node:http').IncomingMessage];
      const [line] = (await once(response, 'data')) as [Buffer];
      asked.destroy();
      expect(JSON.parse(line.toString())).to.have.property('type', 'DELETED');
      expect(JSON.parse(line.toString())).to.have.nested.property('object.metadata.name', 'gateway');
    } finally {
      server.closeAllConnections();
      server.close();
      rmSync(folder, { recursive: true, force: true });
    }
  });
});
