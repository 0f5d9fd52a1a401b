import { expect } from 'chai';
import { delegationOf } from '../../cli/identity/delegation.js';
import { makeView } from './service.js';

describe('whether the base domain is delegated', () => {
  const view = makeView({ options: { baseDomain: 'demo.example.com' } });
  const found = (servers: Readonly<Record<string, readonly string[]>>) =>
    delegationOf(view, async (domain) => {
      const named = servers[domain];
      if (named === undefined) throw Object.assign(new Error('no such name'), { code: 'ENOTFOUND' });
      return named;
    });

  it('is told by its own name servers', async () => {
    expect(await found({ 'demo.example.com': ['NS-1.example.net'] })).to.deep.equal({ state: 'delegated' });
    expect(await found({ 'demo.example.com': ['ns.old.example'], 'example.com': ['ns-1.example.net'] })).to.deep.equal({
      state: 'elsewhere',
      domain: 'demo.example.com',
      servers: ['ns.old.example'],
    });
  });

  it('is only in part where others are named beside them', async () => {
    expect(
      await found({ 'demo.example.com': ['ns-1.example.net', 'ns.old.example'], 'example.com': ['a.example'] }),
    ).to.deep.equal({ state: 'partly', domain: 'demo.example.com', servers: ['ns.old.example'] });
  });

  it('is lame where only the domain above is answered for', async () => {
    const failing = (lame: readonly string[], of = view) =>
      delegationOf(of, async (domain) => {
        throw Object.assign(new Error('no answer'), { code: lame.includes(domain) ? 'ESERVFAIL' : 'ENODATA' });
      });
    expect(await failing(['demo.example.com'])).to.deep.equal({ state: 'lame', domain: 'demo.example.com' });
    expect(await failing(['demo.example.com', 'example.com'])).to.have.property('state', 'unknown');
    const short = makeView({ options: { baseDomain: 'example.com' } });
    expect(await failing(['example.com'], short)).to.deep.equal({ state: 'lame', domain: 'example.com' });
    expect(await failing(['example.com', 'com'], short)).to.have.property('state', 'unknown');
  });

  it('is told by those of the domain above, of whose zone it may be a part', async () => {
    expect(await found({ 'example.com': ['ns-1.example.net.'] })).to.deep.equal({ state: 'delegated' });
    expect(await found({ 'example.com': ['b.example', 'a.example'] })).to.deep.equal({
      state: 'elsewhere',
      domain: 'example.com',
      servers: ['a.example', 'b.example'],
    });
    expect(await found({})).to.deep.equal({ state: 'nowhere' });
  });

  it('is not known when the DNS does not answer, and no question before there is a zone', async () => {
    const silent = async () => {
      throw Object.assign(new Error('no answer'), { code: 'ETIMEOUT' });
    };
    expect(await delegationOf(view, silent)).to.have.property('state', 'unknown');
    const { dns: _, ...early } = view.result;
    expect(await delegationOf({ ...view, result: early }, silent)).to.equal(undefined);
  });
});
