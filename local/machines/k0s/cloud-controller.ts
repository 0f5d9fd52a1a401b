/** Replaces Google's cloud controller: gives services of type LoadBalancer an address from the stand-in for Google. */
import { request } from 'node:http';
import { text } from 'node:stream/consumers';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Asked, Given } from '../network/load-balancers.js';
import { kindOf, type Thing } from './kinds.js';
import { nodeName, ownAddress } from './kubelet.js';
import type { Objects } from './objects.js';

interface Spec {
  readonly type?: string;
  readonly loadBalancerIP?: string;
}
interface Status {
  readonly loadBalancer?: { readonly ingress?: readonly { readonly ip: string }[] };
}

const services = kindOf('services');
const nameOf = ({ metadata }: Thing): string => `${metadata.namespace}/${metadata.name}`;
const specOf = (service: Thing): Spec => (service['spec'] as Spec | undefined) ?? {};
const addressOf = (service: Thing): string | undefined =>
  (service['status'] as Status | undefined)?.loadBalancer?.ingress?.[0]?.ip;

/** Runs each second, because a refused service may ask for less later, and a taken address may become free. */
export async function runCloudController(objects: Objects, url: string): Promise<never> {
  const cluster = objects.get(kindOf('namespaces'), undefined, 'kube-system').metadata.uid;
  const said = new Map<string, string>();
  let had = false;
  const look = async (): Promise<void> => {
    const all = objects.list(services).filter((each) => specOf(each).type === 'LoadBalancer');
    // When the last service goes, ask once more to release its address.
    if (all.length === 0 && !had) return;
    const given = await ask(url, {
      cluster,
      node: { name: nodeName(), address: await ownAddress() },
      services: Object.fromEntries(all.map((each) => [nameOf(each), specOf(each).loadBalancerIP ?? null])),
    });
    had = all.length > 0;
    for (const { metadata } of all) {
      // The service may have changed since.
      const service = objects.find(services, metadata.namespace, metadata.name);
      const found = given[`${metadata.namespace}/${metadata.name}`];
      if (service === undefined || found === undefined) continue;
      const why = 'why' in found ? found.why : '';
      if (why !== '' && said.get(nameOf(service)) !== why) {
        process.stderr.write(`Error syncing load balancer of ${nameOf(service)}: ${why}\n`);
      }
      said.set(nameOf(service), why);
      const ip = 'ip' in found ? found.ip : undefined;
      if (addressOf(service) === ip) continue;
      const status = { loadBalancer: ip === undefined ? {} : { ingress: [{ ip, ipMode: 'VIP' }] } };
      objects.replace(services, metadata.namespace, metadata.name, { ...service, status });
    }
  };
  for (;;) {
    await look().catch((error: Error) => void process.stderr.write(`cloud controller: ${error.message}\n`));
    await sleep(1000);
  }
}

/** Goes through the machine's proxy, if it has one. */
function ask(url: string, asked: Asked): Promise<Given> {
  const proxy = process.env['HTTPS_PROXY'];
  const { host, hostname, port } = new URL(url);
  const at = proxy === undefined ? { hostname, port } : new URL(proxy);
  const options = { hostname: at.hostname, port: at.port, method: 'POST', path: `http://${host}/`, headers: { host } };
  return new Promise((resolve, reject) => {
    const asking = request(options, (response) => {
      text(response).then((body) => {
        if (response.statusCode === 200) resolve(JSON.parse(body) as Given);
        else reject(new Error(`${response.statusCode} ${body}`));
      }, reject);
    });
    asking.setTimeout(10_000, () => asking.destroy(new Error('i/o timeout')));
    asking.once('error', reject);
    asking.end(JSON.stringify(asked));
  });
}
