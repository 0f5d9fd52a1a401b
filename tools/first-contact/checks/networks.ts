/** Operations of Compute Engine, on the network that everything else stands on. */
import { randomUUID } from 'node:crypto';
import { type Check, differs, held, heldIf, unknown } from '../check.js';
import { computePath, ended, linkOf, operationIn, saidBy } from '../compute.js';

export const network = 'first-contact-vpc';
export const subnet = 'first-contact-subnet';
export const router = 'first-contact-router';

export const networkChecks: readonly Check[] = [
  {
    id: 'compute.first-reply',
    believes: 'The first reply of an insert shows an operation that is not done.',
    source: 'documented',
    makes: 'a network',
    needs: ['services.first-call'],
    async run({ cloud, project, facts }) {
      const body = { name: network, autoCreateSubnetworks: false };
      const { name, done, failure } = await cloud.compute.createNetwork(project, body, randomUUID());
      if (failure !== undefined) throw failure;
      facts.set('network-operation', name);
      return heldIf(!done, done ? 'done' : 'not done');
    },
  },
  {
    id: 'compute.not-ready',
    believes: 'A subnet in a network that is being made is refused with 400 resourceNotReady.',
    source: 'reported',
    makes: 'a subnet',
    needs: ['compute.first-reply'],
    async run(bench) {
      const { region, facts, ask, until } = bench;
      const body = {
        name: subnet,
        ipCidrRange: '10.10.0.0/20',
        network: linkOf(bench, `global/networks/${network}`),
      };
      const line = `POST ${computePath(bench, `regions/${region}/subnetworks`)}`;
      const first = await ask('compute', line, body);
      const made = await until(180, async () => {
        const reply = first.status === 200 ? first : await ask('compute', line, body);
        return reply.reasons.includes('resourceNotReady') ? undefined : reply;
      });
      if (made?.value.status !== 200) return differs(`the subnet can't be made: ${saidBy(made?.value ?? first)}`);
      facts.set('subnet-operation', operationIn(made.value));
      if (first.status === 200) return unknown('the network was ready before the subnet was asked for');
      return heldIf(first.status === 400 && first.reasons.includes('resourceNotReady'), saidBy(first));
    },
  },
  {
    id: 'compute.wait',
    believes: 'wait answers within two minutes, and may answer before the operation is done.',
    source: 'documented',
    needs: ['compute.first-reply'],
    async run(bench) {
      const { region, ask, fact } = bench;
      const begun = performance.now();
      const name = fact('subnet-operation');
      const reply = await ask('compute', `POST ${computePath(bench, `regions/${region}/operations/${name}/wait`)}`);
      const seconds = Math.round((performance.now() - begun) / 1000);
      const over = await ended(bench, `regions/${region}`, name);
      if (over === undefined || over.error !== '') return differs(over?.error ?? 'the subnet was not there after it');
      return heldIf(reply.status === 200 && seconds <= 125, `${String(reply.body['status'])} after ${seconds} s`);
    },
  },
  {
    id: 'compute.nat',
    believes: 'A router and its NAT are made by one operation.',
    source: 'documented',
    makes: 'a router with a NAT',
    costs: ['address'],
    needs: ['compute.wait'],
    async run(bench) {
      const { region, facts, ask } = bench;
      const nat = {
        name: 'first-contact-nat',
        natIpAllocateOption: 'AUTO_ONLY',
        sourceSubnetworkIpRangesToNat: 'ALL_SUBNETWORKS_ALL_IP_RANGES',
      };
      const body = { name: router, network: linkOf(bench, `global/networks/${network}`), nats: [nat] };
      const reply = await ask('compute', `POST ${computePath(bench, `regions/${region}/routers`)}`, body);
      if (reply.status === 412) return unknown(saidBy(reply));
      if (reply.status !== 200) return differs(saidBy(reply));
      const over = await ended(bench, `regions/${region}`, operationIn(reply));
      if (over === undefined || over.error !== '') return differs(over?.error ?? 'it was not there after two minutes');
      facts.set('router', router);
      return held(`${over.seconds} s`);
    },
  },
  {
    id: 'compute.page-token',
    believes: 'A page token that was not given out answers 400.',
    source: 'reported',
    needs: ['services.first-call'],
    async run(bench) {
      const reply = await bench.ask('compute', `GET ${computePath(bench, 'global/networks')}?pageToken=nonsense`);
      return heldIf(reply.status === 400, saidBy(reply));
    },
  },
  {
    id: 'compute.absent',
    believes: 'A missing resource answers 404 notFound, with "The resource \'…\' was not found".',
    source: 'documented',
    needs: ['services.first-call'],
    async run(bench) {
      const reply = await bench.ask('compute', `GET ${computePath(bench, 'global/networks/nothing')}`);
      const text = `The resource 'projects/${bench.project}/global/networks/nothing' was not found`;
      return heldIf(
        reply.status === 404 && reply.reasons.includes('notFound') && reply.message === text,
        saidBy(reply),
      );
    },
  },
];
