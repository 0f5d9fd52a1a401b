/** The functions' way to Google, with a server of the test's own in place of Compute, Scheduler, Pub/Sub and Cloud Quotas. */
import { once } from 'node:events';
import { createServer, type RequestListener } from 'node:http';
import type { AddressInfo } from 'node:net';
import { createCloud } from '../../functions/cloud/index.js';
import { type Config, readConfig } from '../../functions/config.js';
import { createSimulatedCloud } from '../../local/cloud/index.js';
import { createClock } from '../../local/functions/clock.js';
import { environmentOf, functionAccount, initialState, local } from '../../local/stack/deployment.js';
import { functionNames } from '../../shared/names.js';

const name = functionNames.runCloudStep;

export interface ServedCloud {
  readonly cloud: ReturnType<typeof createCloud>;
  readonly config: Config;
  close(): Promise<void>;
}

export async function servedCloud(answer: RequestListener): Promise<ServedCloud> {
  const simulated = await createSimulatedCloud({
    initial: initialState(),
    metadata: { project: local.project, serviceAccount: functionAccount(name) },
  });
  const hostBefore = process.env['GCE_METADATA_HOST'];
  process.env['GCE_METADATA_HOST'] = simulated.metadataHost;
  process.env['METADATA_SERVER_DETECTION'] = 'assume-present';
  const server = createServer(answer).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const config = readConfig(
    environmentOf(name, {
      origin: 'http://127.0.0.1:1',
      endpoints: { ...simulated.endpoints, compute: url, cloudscheduler: url, pubsub: url, cloudquotas: url },
      issuerUrl: simulated.issuerUrl,
      forge1Url: 'http://127.0.0.1:1',
    }),
  );
  return {
    cloud: createCloud({ config, clock: createClock(0) }),
    config,
    async close() {
      if (hostBefore === undefined) delete process.env['GCE_METADATA_HOST'];
      else process.env['GCE_METADATA_HOST'] = hostBefore;
      server.closeAllConnections();
      server.close();
      await simulated.close();
    },
  };
}
