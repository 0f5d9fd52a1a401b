/** What root on a machine may publish as its host keys, and what plinth takes of it, by each way to read them. */
import { expect } from 'chai';
import { hostKey } from '../../functions/steps/hosts/host-key.js';
import { guests } from '../../local/cloud/compute/instance-life.js';
import { local } from '../../local/stack/deployment.js';
import { makeOptions } from '../install-config/make-options.js';
import { createLab, type Lab } from '../laws/lab.js';
import { badKeys, goodKeys } from '../support/host-keys.js';

describe('what a machine publishes as its host keys', () => {
  let lab: Lab;
  let good: readonly string[];
  const guest = () => {
    const found = Object.entries(guests(lab.cloud.world)).find(([path]) => path.endsWith('/instances/jumpbox'));
    if (found === undefined) throw new Error('there is no jumpbox');
    return found[1];
  };
  // It knows the machine by the same key.
  const call = () => lab.call(lab.instance('vm:jumpbox'));
  const look = () => hostKey.observe(call() as Parameters<typeof hostKey.observe>[0]);

  before(async () => {
    lab = await createLab(makeOptions({ billingAccount: local.billingAccount }));
    await lab.make('vm:jumpbox');
    good = goodKeys();
  });
  after(() => lab?.close());

  it('is taken where it is a public key of a known type', async () => {
    guest().attributes['hostkeys'] = Object.fromEntries(good.map((line) => line.split(' ') as [string, string]));
    expect(await look()).to.deep.equal({ hostKeys: good });
  });

  it('is left out where it is anything else, in guest attributes', async () => {
    const [first = ''] = good;
    for (const [title, type, value] of badKeys(first)) {
      guest().attributes['hostkeys'] = { [type]: value };
      expect(await look(), title).to.equal(undefined);
    }
  });

  it('is left out where it is anything else, of a machine without a record', async () => {
    const [first = ''] = good;
    guest().attributes['hostkeys'] = Object.fromEntries([
      ...badKeys(first).map(([, type, value]) => [type, value]),
      first.split(' '),
    ]);
    const { context, bootstrap } = call();
    const found = await context.cloud.vmLookup.find(bootstrap.projectId, bootstrap.options.zone, 'jumpbox');
    expect(found?.hostKeys).to.deep.equal([first]);
  });

  it('is left out of records that hold it already', () => {
    const [first = ''] = good;
    const stored = [...badKeys(first).map(([, type, value]) => `${type} ${value}`), first];
    expect(hostKey.output.parse({ hostKeys: stored })).to.deep.equal({ hostKeys: [first] });
  });
});
