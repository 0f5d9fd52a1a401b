/**
 * Calls Compute Engine, reports each call, and turns faults into Problems. A write returns an operation and doesn't wait for
 * its end. Steps look at that later.
 */
import { noWatch } from '../../host/connection-watch.js';
import { faultOfThrown, orUndefined, problemOf } from '../errors.js';
import { type ComputeAnswer, type Operation, readCompute } from '../operations.js';
import { reasonHeader, reportCall, type Transport } from '../rest.js';
import type { ClientName, ComputeClients } from './clients.js';
import type { Resource } from './resources.js';

const timeoutMilliseconds = 60_000;
/** Should Google's `wait` return at once, it is not asked for ever. */
const mostWaits = 5;

export interface ComputeCalls {
  /** One call, never retried here, because the engine owns retries. */
  call<T>(name: ClientName, verb: string, doing: string, request: Resource): Promise<T>;
  /** Undefined if it doesn't exist. */
  get<T>(name: ClientName, doing: string, request: Resource): Promise<T | undefined>;
  /** All pages of a list. */
  list<T>(name: ClientName, verb: string, doing: string, request: Resource): Promise<T[]>;
  /** A change. A repeated `requestId` returns the operation that it began the first time. */
  change(name: ClientName, verb: string, doing: string, request: Resource): Promise<Operation>;
}

export function createComputeCalls(
  clients: ComputeClients,
  transport: Pick<Transport, 'config' | 'clock' | 'onCall' | 'connections' | 'reason'>,
): ComputeCalls {
  const { config, clock, connections = noWatch, reason } = transport;
  const { origin } = new URL(config.endpoints.compute);
  const options = () => ({
    retry: null,
    timeout: timeoutMilliseconds,
    autoPaginate: false,
    // A new object for each call, because the client adds headers to it.
    ...(reason === undefined ? {} : { otherArgs: { headers: { [reasonHeader]: reason } } }),
  });

  async function reported<T>(what: string, doing: string, work: () => Promise<T>): Promise<T> {
    const startedAt = clock.now();
    const report = (result: string) => reportCall(transport, `compute.${what}`, result, startedAt);
    try {
      const answer = await connections.observe('gaxios', origin, work);
      report('ok');
      return answer;
    } catch (error) {
      // If the client cannot write the request, that is a bug in plinth.
      if (error instanceof TypeError) throw error;
      const fault = faultOfThrown(error);
      report(String(fault.http ?? 'no answer'));
      throw problemOf(fault, doing, error);
    }
  }

  async function call<T>(name: ClientName, verb: string, doing: string, request: Resource): Promise<T> {
    const client = await clients(name);
    return reported(`${name}.${verb}`, doing, async () => {
      const method = client[verb];
      if (method === undefined) throw new TypeError(`compute has no ${name}.${verb}`);
      const [answer] = await method.call(client, request, options());
      return answer as T;
    });
  }

  return {
    call,
    get: <T>(name: ClientName, doing: string, request: Resource) => orUndefined(call<T>(name, 'get', doing, request)),
    async list<T>(name: ClientName, verb: string, doing: string, request: Resource) {
      const client = await clients(name);
      return reported(`${name}.${verb}`, doing, async () => {
        const pages = client[`${verb}Async`] as unknown as (...of: readonly unknown[]) => AsyncIterable<T>;
        const found: T[] = [];
        for await (const item of pages.call(client, request, options())) found.push(item);
        return found;
      });
    },
    async change(name, verb, doing, request) {
      const { latestResponse } = await call<{ latestResponse: ComputeAnswer }>(name, verb, doing, request);
      const begun = readCompute(latestResponse, doing);
      return begun.done ? begun : { ...begun, ended: () => untilEnded(call, begun.name, doing, request) };
    },
  };
}

/** Google's `wait` blocks for two minutes at most, and may return earlier. */
async function untilEnded(
  call: ComputeCalls['call'],
  operation: string,
  doing: string,
  { project, region, zone }: Resource,
): Promise<void> {
  const [name, place] =
    zone !== undefined
      ? (['zoneOperations', { zone }] as const)
      : region !== undefined
        ? (['regionOperations', { region }] as const)
        : (['globalOperations', {}] as const);
  for (let asked = 0; asked < mostWaits; asked++) {
    const answer = await call<ComputeAnswer>(name, 'wait', doing, { project, ...place, operation });
    if (readCompute(answer, doing).done) return;
  }
}
