/** Which service has which reserved address, by the step that sees to it; the controller's kubectl is played. */
import { expect } from 'chai';
import type { StepCall } from '../../functions/engine/step.js';
import type { Executed, Host } from '../../functions/remote/remote.js';
import { loadBalancers } from '../../functions/steps/install/load-balancers.js';
import type { LoadBalancers } from '../../shared/bootstrap/bootstrap.js';
import { Problem } from '../../shared/problems.js';
import { makeOptions } from '../install-config/make-options.js';
import { makeHostKey } from '../support/host-keys.js';

interface Made {
  readonly name: string;
  readonly label: string;
  readonly type?: string;
  readonly asked?: string;
  readonly has?: readonly string[];
}

const ips = { gateway: '34.1.1.1', 'public-gateway': '34.1.1.2', 'ssh-proxy': '34.1.1.3' };

const serviceOf = ({ name, label, type = 'LoadBalancer', asked, has = [] }: Made) => ({
  metadata: { name, namespace: 'shop', labels: { 'plinth/address': label } },
  spec: { type, ...(asked === undefined ? {} : { loadBalancerIP: asked }) },
  status: { loadBalancer: has.length === 0 ? {} : { ingress: has.map((ip) => ({ ip })) } },
});

/** `applied` gets what the step writes. */
async function callOf(services: readonly Made[], applied: unknown[] = [], kind: LoadBalancers = 'external') {
  const host: Host = {
    name: 'k0s-1',
    async exec(command, options): Promise<Executed> {
      const good = (stdout: string) => ({ exitCode: 0, stdout, stderr: '' });
      if (command.includes('kubectl get services')) {
        // As kubectl with --ignore-not-found.
        return good(services.length === 0 ? '' : JSON.stringify({ items: services.map(serviceOf) }));
      }
      applied.push(...(JSON.parse(String(options?.stdin)) as { items: unknown[] }).items);
      return good('');
    },
    upload: () => Promise.reject(new Error('nothing is uploaded')),
    send: () => Promise.reject(new Error('nothing is sent')),
    install: () => Promise.reject(new Error('nothing is installed')),
    read: () => Promise.reject(new Error('nothing is read')),
    job: () => {
      throw new Error('there are no jobs');
    },
    asRoot: () => host,
  };
  const machine = { internalIp: '10.10.0.2', externalIp: '34.1.1.9' };
  const known = { hostKeys: [makeHostKey()] };
  const call = {
    context: { remote: { host: async () => host } },
    bootstrap: { id: 'b-1', options: makeOptions({ installVersion: '1.0.0' }), loadBalancers: kind },
    key: 'dc1',
    needs: {
      machineKey: { secretVersion: '1' },
      machineLogin: { by: 'keys' },
      machines: { jumpbox: machine, 'k0s-1': machine },
      hostKeys: { jumpbox: known, 'k0s-1': known },
      addresses: Object.fromEntries(Object.entries(ips).map(([name, address]) => [name, { name, address }])),
    },
    secrets: { readJson: async () => ({ privateKey: 'never used', publicKey: 'never used' }) },
    attempt: 0,
    signal: new AbortController().signal,
  };
  return call as unknown as StepCall<typeof loadBalancers.needs, NonNullable<typeof loadBalancers.each>>;
}

const good = (label: keyof typeof ips): Made => ({ name: `svc-${label}`, label, asked: ips[label], has: [ips[label]] });

describe('the step of the addresses of the platform', () => {
  const observe = async (services: readonly Made[]) => loadBalancers.observe(await callOf(services));
  const run = async (services: readonly Made[], applied?: unknown[]) =>
    loadBalancers.run(await callOf(services, applied));

  it('is content when each service has its address, and says which address nobody wants', async () => {
    const all = await observe([good('gateway'), good('public-gateway'), good('ssh-proxy')]);
    expect(all?.free).to.deep.equal([]);
    expect(all?.taken).to.deep.include({ address: 'ssh-proxy', ip: '34.1.1.3', service: 'shop/svc-ssh-proxy' });

    const one = await observe([good('gateway')]);
    expect(one?.free).to.deep.equal(['public-gateway', 'ssh-proxy']);
    expect(one && loadBalancers.summary?.(one)).to.equal(
      "gateway 34.1.1.1 is shop/svc-gateway's; no service of the package wants public-gateway, ssh-proxy",
    );
    expect((await observe([]))?.free).to.have.length(3);
  });

  const notYet: readonly { readonly title: string; readonly service: Made }[] = [
    { title: 'has none yet', service: { ...good('gateway'), has: [] } },
    { title: 'has another one', service: { ...good('gateway'), has: ['35.0.0.1'] } },
    { title: 'has another one, too', service: { ...good('gateway'), has: ['34.1.1.1', '35.0.0.1'] } },
    { title: 'asks for another one', service: { ...good('gateway'), asked: '35.0.0.1' } },
    { title: 'asks for none', service: { name: 'svc', label: 'gateway' } },
  ];
  for (const { title, service } of notYet) {
    it(`is not content when a service ${title}`, async () => expect(await observe([service])).to.equal(undefined));
  }

  it('asks for the address of the config where another or none is asked for, of those services alone', async () => {
    const applied: unknown[] = [];
    const outcome = await run([{ name: 'svc', label: 'gateway', asked: '35.0.0.1' }, good('ssh-proxy')], applied);
    expect(outcome.kind).to.equal('again');
    expect(applied).to.deep.equal([
      {
        apiVersion: 'v1',
        kind: 'Service',
        metadata: { namespace: 'shop', name: 'svc' },
        spec: { loadBalancerIP: '34.1.1.1' },
      },
    ]);
  });

  it('tells the cloud controller which balancers are internal, by the annotation that Google’s own knows', async () => {
    const applied: { readonly metadata: object }[] = [];
    const service = { name: 'svc', label: 'gateway', asked: '34.1.1.1' };
    const outcome = await loadBalancers.run(await callOf([service], applied, 'internal'));
    expect(outcome.kind).to.equal('again');
    expect(applied[0]?.metadata).to.deep.include({
      annotations: { 'networking.gke.io/load-balancer-type': 'Internal' },
    });
  });

  const refusals: readonly { readonly title: string; readonly services: readonly Made[]; readonly says: string[] }[] = [
    {
      title: 'that waits: the service, what it is to have, and what it has',
      services: [{ ...good('public-gateway'), has: ['35.0.0.1'] }],
      says: ['cloud-propagation', 'shop/svc-public-gateway', '34.1.1.2', '35.0.0.1'],
    },
    {
      title: 'that two services want',
      services: [good('gateway'), { ...good('gateway'), name: 'other' }],
      says: ['install-failed', 'shop/svc-gateway and shop/other', 'plinth/address=gateway'],
    },
    {
      title: 'that a service of another type wants',
      services: [{ ...good('ssh-proxy'), type: 'NodePort' }],
      says: ['install-failed', 'shop/svc-ssh-proxy', 'NodePort, not LoadBalancer'],
    },
  ];
  for (const { title, services, says } of refusals) {
    it(`names the address ${title}`, async () => {
      expect(await observe(services)).to.equal(undefined);
      const applied: unknown[] = [];
      const problem = await run(services, applied).then(
        () => undefined,
        (error: unknown) => error,
      );
      expect(problem).to.be.instanceOf(Problem);
      const { code, detail } = problem as Problem;
      for (const text of says) expect(`${code} ${detail}`).to.include(text);
      expect(applied).to.deep.equal([]);
    });
  }
});
