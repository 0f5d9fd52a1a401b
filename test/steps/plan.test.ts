/** All steps as one plan, for every kind of bootstrap: what waits for what where it matters. */
import { expect } from 'chai';
import { graphOf } from '../../functions/engine/graph.js';
import { planOf } from '../../functions/engine/plan.js';
import { stepsOf } from '../../functions/steps/index.js';
import type { BootstrapOptions } from '../../shared/bootstrap/options.js';
import { makeOptions } from '../install-config/make-options.js';

const plan = (options: Partial<BootstrapOptions>) => planOf(graphOf(stepsOf({ hosts: true })), makeOptions(options));
const needsOf = (options: Partial<BootstrapOptions>, id: string) => plan(options).get(id)?.needs ?? [];

describe('the plan of all steps', () => {
  const kinds = [false, true].flatMap((multiDc) =>
    [undefined, '1.0.0'].flatMap((installVersion) =>
      (['forge1', 'artifact-registry', 'local-container'] as const).flatMap((registryType) =>
        [undefined, '10.1.2.3'].map((customPgIp) => ({
          multiDc,
          registryType,
          createTestUser: true,
          ...(installVersion === undefined ? {} : { installVersion }),
          ...(customPgIp === undefined ? {} : { customPgIp }),
        })),
      ),
    ),
  );

  it('holds for every kind of bootstrap', () => {
    for (const kind of kinds) {
      const ids = [...plan(kind).keys()];
      expect(new Set(ids).size, JSON.stringify(kind)).to.equal(ids.length);
      expect(ids.includes('install:dc1')).to.equal('installVersion' in kind);
      expect(ids.includes('install-second:dc2')).to.equal('installVersion' in kind && kind.multiDc);
    }
  });

  it('installs the second datacenter after the first, and makes the test user after both', () => {
    const options = { multiDc: true, installVersion: '1.0.0', createTestUser: true };
    expect(needsOf(options, 'install-second:dc2')).to.include.members(['install:dc1', 'k0s-ready:dc2', 'handover:dc2']);
    expect(needsOf(options, 'install:dc1')).not.to.include('k0s-ready:dc2');
    expect(needsOf(options, 'test-user')).to.include.members(['install:dc1', 'install-second:dc2']);
  });

  it('goes on with a machine as soon as that machine is there', () => {
    const vms = needsOf({}, 'host-setup:ceph-1').filter((id) => id.startsWith('vm:'));
    expect(vms).to.have.members(['vm:ceph-1', 'vm:jumpbox']);
  });
});
