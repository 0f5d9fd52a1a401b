/** What a recording must not tell: each kind is planted, and gone. */
import { expect } from 'chai';
import { createRedactor } from '../../tools/first-contact/redact.js';

const planted: Readonly<Record<string, string>> = {
  'access token': 'ya29.a0AfB_byC-secret.more_of_it',
  'ID token': 'eyJhbGciOiJSUzI1NiJ9.eyJlbWFpbCI6Inh5eiJ9.c2lnbmF0dXJl',
  'refresh token': '1//0gAbCdEfGhIjKlMnOpQrStUvWx',
  'API key': 'AIzaSyA-1234567890abcdefghijklmnopqrstuv',
  'client secret': 'GOCSPX-abcdefghijklmnop',
  'private key': '-----BEGIN PRIVATE KEY-----\nMIIEvQ\n-----END PRIVATE KEY-----',
  'SSH key': 'AAAAC3NzaC1lZDI1NTE5AAAAIJbMeSoMeThInGsEcReTaBcDeFgH',
  'e-mail': 'jane.doe+cloud@corp.example.org',
  'e-mail of an account': 'robot@other-project.iam.gserviceaccount.com',
  'billing account': '0A1B2C-3D4E5F-6A7B8C',
  'project id': 'contact-project-1',
  'project number': '876543210123',
  'id of another project': 'somebody-elses',
  organization: '112233445566',
  folder: '99887',
  customer: 'C0abc1de2',
  IPv4: '34.91.12.7',
  IPv6: '2600:1900:4060:abcd:0:1::',
  UUID: '3f2b8c1d-1234-4abc-9def-0123456789ab',
  'serial id': '4611686018427387904',
  etag: 'BwYx+Z3/abc=',
  fingerprint: 'xYz123abcDE=',
  'page token': 'CgwKCm5leHQtcGFnZQ',
};

const tree = () => ({
  plain: Object.values(planted).slice(0, 7),
  text: `Made by ${planted['e-mail']} as serviceAccount:${planted['e-mail of an account']} at ${planted['IPv4']} (${planted['IPv6']}).`,
  url: `https://console.developers.google.com/x?project=${planted['project number']}&billing=${planted['billing account']}`,
  projectNumber: planted['project number'],
  name: `projects/${planted['id of another project']}/x/${planted['serial id']}`,
  own: `projects/${planted['project id']}/zones/z`,
  parents: [`organizations/${planted['organization']}`, `folders/${planted['folder']}`, planted['customer']],
  requestId: planted['UUID'],
  etag: planted['etag'],
  fingerprint: planted['fingerprint'],
  nextPageToken: planted['page token'],
  nested: {
    [`projects/${planted['project number']}`]: { keys: `ubuntu:ssh-ed25519 ${planted['SSH key']} jane@laptop` },
  },
});

describe('the redaction of recordings', () => {
  const redactor = () => createRedactor({ project: planted['project id'], parent: `folders/${planted['folder']}` });

  for (const [kind, value] of Object.entries(planted)) {
    it(`leaves no ${kind}`, () => {
      const text = JSON.stringify(redactor().json(tree()));
      expect(text).to.not.include(JSON.stringify(value).slice(1, -1));
      expect(text).to.not.include('jane');
    });
  }

  it('gives a value the same placeholder everywhere, and another value another one', () => {
    const both = redactor().json({ a: planted['IPv4'], b: `at ${planted['IPv4']}`, c: '34.91.12.8' });
    expect(both).to.deep.equal({ a: '{ip-1}', b: 'at {ip-1}', c: '{ip-2}' });
  });

  it('keeps an etag that comes back in the other alphabet apart, and tells whose it is', () => {
    const made = redactor();
    expect(made.json({ etag: 'BwYx+Z3/abc=' })).to.deep.equal({ etag: '{etag-1}' });
    expect(made.json({ etag: 'BwYx-Z3_abc=' })).to.deep.equal({ etag: '{etag-1~}' });
  });

  it('keeps what everybody may know', () => {
    const open = {
      image: 'projects/ubuntu-os-cloud/global/images/family/ubuntu-2204-lts',
      ranges: ['35.191.0.0/16', '10.10.0.0/20'],
      time: '2026-01-31T10:11:12.123456789Z',
      host: 'ns-cloud-a1.googledomains.com.',
      quota: 5000,
    };
    expect(redactor().json(open)).to.deep.equal(open);
  });
});
