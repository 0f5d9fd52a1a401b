/** What a jumpbox may put into the caller's kubeconfig: certificates of a cluster, and nothing that runs or leads elsewhere. */
import { expect } from 'chai';
import { parse, stringify } from 'yaml';
import { mergeKubeConfigs } from '../../cli/files/kube-config.js';
import { Problem } from '../../shared/problems.js';

const data = Buffer.from('a certificate').toString('base64');
const cluster = { server: 'https://10.10.0.3:6443', 'certificate-authority-data': data };
const user = { 'client-certificate-data': data, 'client-key-data': data };
const made = (changes: { readonly cluster?: object; readonly user?: object } = {}): string =>
  stringify({
    clusters: [{ name: 'local', cluster: { ...cluster, ...changes.cluster } }],
    users: [{ name: 'user', user: { ...user, ...changes.user } }],
  });
const merged = (text: string) =>
  mergeKubeConfigs([{ path: 'config', text: undefined }], 0, [{ name: 'demo', made: text }]).texts[0] ?? '';

describe('the kubeconfig of a jumpbox', () => {
  it('gives the caller its certificates', () => {
    expect(parse(merged(made()))).to.deep.include({
      clusters: [{ name: 'demo', cluster: { ...cluster, server: 'https://127.0.0.1:6443' } }],
      users: [{ name: 'demo', user }],
    });
  });

  const odd: readonly (readonly [title: string, text: string])[] = [
    ['a program that kubectl would run', made({ user: { exec: { command: 'touch', args: ['owned'] } } })],
    ['a provider of tokens', made({ user: { 'auth-provider': { name: 'gcp', config: { 'cmd-path': 'touch' } } } })],
    ['a file of the caller as a token', made({ user: { tokenFile: '/home/alice/.ssh/id_ed25519' } })],
    ['a proxy of somebody', made({ cluster: { 'proxy-url': 'http://evil.example' } })],
    ['no check of the certificate', made({ cluster: { 'insecure-skip-tls-verify': true } })],
    ['a file of the caller as the authority', made({ cluster: { 'certificate-authority': '/tmp/ca' } })],
    ['a certificate that is none', made({ user: { 'client-key-data': 'a: b' } })],
    ['no mapping', 'touch owned'],
    ['no YAML', 'clusters: ["'],
  ];
  for (const [title, text] of odd) {
    it(`is refused with ${title}, and nothing of it is quoted`, () => {
      let refusal: unknown;
      try {
        merged(text);
      } catch (error) {
        refusal = error;
      }
      expect(refusal).to.be.instanceOf(Problem);
      const { code, detail, advice } = refusal as Problem;
      expect(code).to.equal('conflict');
      expect(`${detail} ${advice}`).not.to.match(/touch|evil|alice|\/tmp/);
    });
  }
});
