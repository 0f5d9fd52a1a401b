/** Which way a request takes, by the variables of the environment. */
import { expect } from 'chai';
import { wayTo } from '../../cli/network/way.js';
import { Problem } from '../../shared/problems.js';

const HTTPS_PROXY = 'http://proxy.example:3128';
const way = (url: string, env: Readonly<Record<string, string>>): string => {
  const { proxy, ...found } = wayTo(new URL(url), env);
  return proxy === undefined ? 'direct' : `${proxy.href} by ${'variable' in found ? found.variable : ''}`;
};

describe('the way of a request', () => {
  const named: readonly (readonly [url: string, env: Readonly<Record<string, string>>, way: string])[] = [
    ['https://a.example', {}, 'direct'],
    ['https://a.example', { HTTPS_PROXY }, `${HTTPS_PROXY}/ by HTTPS_PROXY`],
    ['wss://a.example', { HTTPS_PROXY }, `${HTTPS_PROXY}/ by HTTPS_PROXY`],
    ['https://a.example', { https_proxy: 'proxy.example:3128' }, `${HTTPS_PROXY}/ by https_proxy`],
    ['https://a.example', { HTTPS_PROXY, https_proxy: 'http://other:1' }, `${HTTPS_PROXY}/ by HTTPS_PROXY`],
    ['https://a.example', { HTTPS_PROXY: ' ', https_proxy: HTTPS_PROXY }, `${HTTPS_PROXY}/ by https_proxy`],
    ['https://a.example', { HTTPS_PROXY: 'https://proxy.example' }, 'https://proxy.example/ by HTTPS_PROXY'],
    ['https://a.example', { HTTP_PROXY: HTTPS_PROXY, ALL_PROXY: HTTPS_PROXY }, 'direct'],
    ['http://a.example', { HTTP_PROXY: HTTPS_PROXY }, `${HTTPS_PROXY}/ by HTTP_PROXY`],
    ['http://a.example', { HTTPS_PROXY }, 'direct'],
  ];
  for (const [url, env, expected] of named) {
    it(`to ${url} with ${JSON.stringify(env)} is ${expected}`, () => expect(way(url, env)).to.equal(expected));
  }

  for (const host of ['localhost', 'x.localhost', '127.0.0.1', '127.8.9.10', '[::1]', '[::ffff:127.0.0.1]']) {
    it(`is direct to ${host}`, () => expect(way(`https://${host}`, { HTTPS_PROXY })).to.equal('direct'));
  }

  const without: readonly (readonly [noProxy: string, direct: readonly string[], proxied: readonly string[]])[] = [
    ['*', ['a.example', '10.0.0.1'], []],
    ['a.example', ['a.example', 'b.a.example', 'A.EXAMPLE.'], ['aa.example', 'example']],
    ['.a.example', ['a.example', 'b.a.example'], ['aa.example']],
    ['*.a.example', ['b.a.example'], ['aa.example']],
    ['b, A.example c', ['a.example', 'b', 'c'], ['d']],
    ['a.example:8443', ['a.example:8443'], ['a.example', 'a.example:443']],
    ['a.example:443', ['a.example'], ['a.example:8443']],
    ['10.1.2.3', ['10.1.2.3'], ['10.1.2.4', '110.1.2.3']],
    ['10.0.0.0/8', ['10.1.2.3'], ['11.1.2.3', 'a10.0.0.0.example']],
    ['2001:db8::/32', ['[2001:db8::7]'], ['[2001:db9::7]']],
    ['2001:db8::7', ['[2001:db8::7]'], ['[2001:db8::8]']],
    ['[2001:db8::7]:8443', ['[2001:db8::7]:8443'], ['[2001:db8::7]']],
    ['10.0.0.0/99, ,/8,:,[', [], ['10.0.0.1', 'a.example']],
  ];
  for (const [noProxy, direct, proxied] of without) {
    it(`is direct to what NO_PROXY=${noProxy} names, and to nothing else`, () => {
      const env = { HTTPS_PROXY, no_proxy: noProxy };
      for (const host of direct) expect(way(`https://${host}`, env), host).to.equal('direct');
      for (const host of proxied) expect(way(`https://${host}`, env), host).to.not.equal('direct');
    });
  }

  for (const value of ['socks5://proxy:1080', 'http://', '://', 'http://a:%zz@proxy:1', 'http://proxy:99999']) {
    it(`is refused with HTTPS_PROXY=${value}, without a word of the value`, () => {
      expect(() => way('https://a.example', { HTTPS_PROXY: value }))
        .to.throw(Problem)
        .with.property('detail')
        .that.equals('HTTPS_PROXY must be http://<host>:<port> or https://<host>:<port>.');
    });
  }
});
