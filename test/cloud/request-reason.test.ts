/** Google's audit logs say which instance of which bootstrap a call was made for. */
import { expect } from 'chai';
import { createCloud } from '../../functions/cloud/index.js';
import { readConfig } from '../../functions/config.js';
import { createSimulatedCloud, type SimulatedCloud } from '../../local/cloud/index.js';
import { createClock } from '../../local/functions/clock.js';
import { environmentOf, functionAccount, initialState, local } from '../../local/stack/deployment.js';
import { functionNames } from '../../shared/names.js';

describe('the reason of a call', () => {
  let simulated: SimulatedCloud;
  const hostBefore = process.env['GCE_METADATA_HOST'];

  before(async () => {
    simulated = await createSimulatedCloud({
      initial: initialState(),
      metadata: { project: local.project, serviceAccount: functionAccount(functionNames.runCloudStep) },
    });
    process.env['GCE_METADATA_HOST'] = simulated.metadataHost;
    process.env['METADATA_SERVER_DETECTION'] = 'assume-present';
  });
  after(async () => {
    if (hostBefore === undefined) delete process.env['GCE_METADATA_HOST'];
    else process.env['GCE_METADATA_HOST'] = hostBefore;
    await simulated.close();
  });

  it('goes with every call made on behalf of an instance, by whichever client, and with no other', async () => {
    const config = readConfig(
      environmentOf(functionNames.runCloudStep, {
        origin: 'http://127.0.0.1:1',
        endpoints: simulated.endpoints,
        issuerUrl: simulated.issuerUrl,
        forge1Url: 'http://127.0.0.1:1',
      }),
    );
    const cloud = createCloud({ config, clock: createClock(0) });
    const lookAround = async ({ secretManager, compute }: Pick<typeof cloud, 'secretManager' | 'compute'>) => {
      await secretManager.find('b1-nothing');
      await compute.region(local.project, local.region).catch(() => undefined);
    };
    const since = simulated.calls.last();
    await lookAround(cloud.reportingTo(() => undefined, 'b1/vm:k0s-1'));
    await lookAround(cloud.reportingTo(() => undefined, 'b2/network'));
    await lookAround(cloud);
    const calls = simulated.calls.list({ since });
    expect(calls.map(({ method, reason }) => [method, reason])).to.deep.equal(
      ['b1/vm:k0s-1', 'b2/network', undefined].flatMap((reason) => [
        ['secretmanager.projects.secrets.versions.access', reason],
        ['compute.regions.get', reason],
      ]),
    );
  });
});
