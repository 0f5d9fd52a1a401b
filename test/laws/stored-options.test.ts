/**
 * A record from before a flag existed goes on as if the flag had its default: all options that have one are taken out of a
 * stored record; every step in the cloud runs, and no call or file holds what is not there.
 */
import { expect } from 'chai';
import { graphOf } from '../../functions/engine/graph.js';
import { planOf } from '../../functions/engine/plan.js';
import { BootstrapRecord, optionsOf } from '../../functions/engine/record/documents.js';
import { stepsOf } from '../../functions/steps/index.js';
import { flagOf, isLocal, isSecret, type Option, optionNames } from '../../shared/bootstrap/options.js';
import { collections } from '../../shared/names.js';
import { keysAtHand } from '../install-config/made-bootstrap.js';
import { acceptOptions } from '../support/accept-options.js';
import { createEngineLab, type EngineLab, type Saved } from './engine-lab.js';
import { inventory } from './inventory.js';

/** Of the rest, required ones are in every record, and others may be missing from any. */
const withDefaults = optionNames.filter(
  (option) => !isLocal(option) && !isSecret(option) && flagOf(option).default !== undefined,
);

describe('a record from before a flag existed', function () {
  this.timeout(60_000);
  let lab: EngineLab;
  let empty: Saved;
  let made: object;

  before(async function () {
    await keysAtHand.call(this);
    lab = await createEngineLab();
    empty = await lab.save();
    made = await madeWithout([]);
  });
  after(() => lab?.close());

  /** What stands when it has succeeded, of a record that has nothing of these options. */
  async function madeWithout(missing: readonly Option[]): Promise<object> {
    await lab.restore(empty);
    const id = await lab.begin('of-before');
    const [stored] = await lab.store.query({ collection: collections.bootstraps });
    if (stored === undefined) throw new Error('nothing was begun');
    const record = BootstrapRecord.parse(stored.data);
    for (const option of missing) delete record.options[option];
    await lab.store.commit([{ kind: 'set', collection: collections.bootstraps, id, data: record }]);
    await lab.drain();
    const after = await lab.record(id);
    expect(after.state, JSON.stringify(after.problem)).to.equal('succeeded');
    const { tables, documents } = await lab.save();
    const disks = tables['compute.disks'];
    const text = JSON.stringify([tables, documents.filter(({ collection }) => collection === collections.files)]);
    expect(text).not.to.match(/\b(?:undefined|NaN)\b/);
    const sizes = Object.values(disks ?? {}).map((disk) => (disk as { sizeGb?: unknown }).sizeGb);
    const named = JSON.stringify(inventory(lab.cloud))
      .replaceAll(after.projectId, 'P')
      .replaceAll(id, 'B')
      // Each zone has another set of name servers.
      .replaceAll(/ns-cloud-[a-z]/g, 'ns-cloud-x');
    return { sizes: sizes.sort(), named };
  }

  it('without any option that has a default comes to the same', async () => {
    expect(await madeWithout(withDefaults)).to.deep.equal(made);
  });

  it('has every step described alike', () => {
    const { options } = acceptOptions({
      projectName: 'of-before',
      billingAccount: '012345-6789AB-CDEF01',
      baseDomain: 'example.com',
      forge1AppClientId: 'client',
      forge1AppClientSecret: 'planted-secret',
    });
    const graph = graphOf(stepsOf({ hosts: true }));
    const told = (stored: Readonly<Record<string, unknown>>) => {
      const read = optionsOf({ options: stored });
      return [...planOf(graph, { options: read, machineAccess: 'iap' }).values()].map(({ id, needs, step, key }) => [
        id,
        needs,
        step.describe(read, key, 'iap'),
      ]);
    };
    for (const option of withDefaults) {
      const { [option as keyof typeof options]: _, ...without } = options;
      expect(told(without)).to.deep.equal(told({ ...options }));
    }
  });
});
