/** All steps as one plan, for every kind of bootstrap: what waits for what where it matters. */
import { expect } from 'chai';
import { graphOf } from '../../functions/engine/graph.js';
import { planOf } from '../../functions/engine/plan.js';
import { costlySteps } from '../../functions/steps/cloud/outputs.js';
import { stepsOf } from '../../functions/steps/index.js';
import type { MachineAccess } from '../../shared/bootstrap/bootstrap.js';
import type { BootstrapOptions } from '../../shared/bootstrap/options.js';
import { makeOptions } from '../install-config/make-options.js';

const plan = (options: Partial<BootstrapOptions>, machineAccess: MachineAccess = 'direct') =>
  planOf(graphOf(stepsOf({ hosts: true })), { options: makeOptions(options), machineAccess });
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

  it('names as costly just the steps that tell what is there of what they have not finished', () => {
    const telling = stepsOf({ hosts: true }).filter(({ unfinished }) => unfinished !== undefined);
    expect(telling.map(({ name }) => name)).to.have.members(costlySteps);
  });

  it('makes nothing that costs before the quota is known to suffice', () => {
    for (const kind of kinds) {
      const all = plan(kind);
      const costly = [...all.values()].filter(({ step }) => ['vm', 'address', 'network'].includes(step.name));
      expect(costly.filter(({ needs }) => !needs.includes('quota')).map(({ id }) => id)).to.deep.equal([]);
      // A router has its NAT, and a network before it.
      expect(all.get('router')?.needs).to.deep.equal(['network']);
    }
  });

  it('reaches no machine by way of IAP before it may, and before that machine reaches the internet', () => {
    const all = [...plan({ installVersion: '1.0.0', registryType: 'local-container' }, 'iap').values()];
    const onMachines = all.filter(({ lane }) => lane === 'host');
    expect(onMachines).to.have.length.above(20);
    for (const { id, needs } of onMachines)
      expect(needs, id).to.include.members(['tunnel-access', 'router', 'firewall']);
    expect(plan({}, 'direct').has('tunnel-access')).to.equal(false);
  });

  it('installs the second datacenter after the first, and makes the test user after both', () => {
    const options = { multiDc: true, installVersion: '1.0.0', createTestUser: true };
    expect(needsOf(options, 'install-second:dc2')).to.include.members(['install:dc1', 'k0s-ready:dc2', 'handover:dc2']);
    expect(needsOf(options, 'install:dc1')).not.to.include('k0s-ready:dc2');
    expect(needsOf(options, 'test-user')).to.include.members(['install:dc1', 'install-second:dc2']);
  });

  it('begins nothing of an install that lacks what only a person can give', () => {
    const options = { multiDc: true, installVersion: '1.0.0', customPgIp: '10.1.2.3' };
    const values = ['install-values:dc1', 'install-values:dc2'];
    expect(needsOf(options, 'package')).to.include.members(values);
    for (const { id, step } of plan(options).values()) {
      if (step.name === 'k0s-binary')
        expect(needsOf(options, id).filter((need) => values.includes(need))).to.have.length(1);
    }
    expect(needsOf({ customPgIp: '10.1.2.3' }, 'handover:dc1')).not.to.include('install-values:dc1');
  });

  it('goes on with a machine as soon as that machine is there', () => {
    const vms = needsOf({}, 'host-setup:ceph-1').filter((id) => id.startsWith('vm:'));
    expect(vms).to.have.members(['vm:ceph-1', 'vm:jumpbox']);
  });

  describe('of images', () => {
    const installVersion = '1.0.0';
    const types = ['forge1', 'artifact-registry', 'local-container'] as const;
    const steps = ['registry-tools', 'registry', 'registry-trust', 'images', 'repository'];
    const stepsIn = (options: Partial<BootstrapOptions>) =>
      steps.filter((name) => [...plan(options).values()].some(({ step }) => step.name === name));

    it('has a registry where its type wants one, and copies where something is installed', () => {
      expect(types.map((registryType) => stepsIn({ registryType }))).to.deep.equal([
        [],
        ['repository'],
        ['registry-tools', 'registry', 'registry-trust'],
      ]);
      expect(types.map((registryType) => stepsIn({ registryType, installVersion }))).to.deep.equal([
        [],
        ['registry-tools', 'images', 'repository'],
        ['registry-tools', 'registry', 'registry-trust', 'images'],
      ]);
    });

    it('copies once registry and package are there, and installs after that, on machines that trust it', () => {
      const local = { registryType: 'local-container', installVersion, multiDc: true } as const;
      expect(needsOf(local, 'images')).to.include.members([
        ...['registry-tools', 'registry', 'registry-trust:jumpbox', 'package', 'plinth-binary', 'handover:dc1'],
      ]);
      expect(needsOf(local, 'install:dc1')).to.include.members([
        'images',
        'registry-trust:k0s-1',
        'registry-trust:ceph-3',
      ]);
      expect(needsOf(local, 'install-second:dc2')).to.include.members(['images', 'registry-trust:k0s-1-dc2']);
      const project = { registryType: 'artifact-registry', installVersion } as const;
      expect(needsOf(project, 'images'))
        .to.include.members(['repository-roles', 'package'])
        .and.not.include('registry');
      expect(needsOf(project, 'install:dc1')).to.include('images');
    });

    it('makes the registry, Kubernetes and the package at once', () => {
      const local = plan({ registryType: 'local-container', installVersion });
      const beneath = (id: string): Set<string> => {
        const needs = local.get(id)?.needs ?? [];
        return new Set([...needs, ...needs.flatMap((need) => [...beneath(need)])]);
      };
      const apart = ['registry', 'registry-trust:k0s-2', 'k0s-ready:dc1', 'package'];
      for (const id of apart)
        expect(
          [...beneath(id)].filter((need) => apart.includes(need)),
          id,
        ).to.deep.equal([]);
      expect([...beneath('k0s-ready:dc1')]).not.to.include('registry-tools');
      expect([...beneath('registry')]).not.to.include('config:dc1');
    });
  });
});
