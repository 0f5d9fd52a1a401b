/** What a bootstrap consists of, for one and for two datacenters. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import {
  addressesOf,
  datacenterOf,
  datacenters,
  datacentersOf,
  isPublic,
  needsOf,
  recordsOf,
  vmSpec,
  vms,
  vmsOf,
} from '../../functions/steps/topology.js';
import type { MachineAccess } from '../../shared/bootstrap/bootstrap.js';
import { makeOptions } from '../install-config/make-options.js';
import { projectFolder } from '../support/recording-store.js';

const one = makeOptions({ baseDomain: 'd.example.com' });
const two = makeOptions({ baseDomain: 'd.example.com', multiDc: true });

describe('topology', () => {
  it('is what docs/operate/deploy.md has operators ask Google for', () => {
    const deploy = readFileSync(join(projectFolder, 'docs/operate/deploy.md'), 'utf8');
    for (const metric of Object.keys(needsOf(one, 'direct'))) {
      const [inOne, inTwo] = [one, two].map((options) => needsOf(options, 'direct')[metric]);
      expect(deploy, metric).to.match(new RegExp(`^\\| \`${metric}\`.*\\| ${inOne} \\| ${inTwo} \\|$`, 'm'));
    }
  });

  it('has 8 VMs with 52 vCPUs in one datacenter', () => {
    expect(vms.keys(one)).to.deep.equal([
      'jumpbox',
      'postgres',
      'ceph-1',
      'ceph-2',
      'ceph-3',
      'k0s-1',
      'k0s-2',
      'k0s-3',
    ]);
    expect(needsOf(one, 'iap')).to.deep.include({
      CPUS: 52,
      INSTANCES: 8,
      STATIC_ADDRESSES: 3,
      SSD_TOTAL_GB: 8 * 50 + 3 * 110,
    });
  });

  it('has 14 VMs with 100 vCPUs in two, the second ones named -dc2', () => {
    expect(needsOf(two, 'iap')).to.deep.include({ CPUS: 100, INSTANCES: 14, STATIC_ADDRESSES: 6 });
    expect(vmsOf(two, 'dc2').map(({ name }) => name)).to.deep.equal([
      'ceph-1-dc2',
      'ceph-2-dc2',
      'ceph-3-dc2',
      'k0s-1-dc2',
      'k0s-2-dc2',
      'k0s-3-dc2',
    ]);
  });

  it('has no postgres VM where an address is given', () => {
    expect(vms.keys(makeOptions({ customPgIp: '10.0.0.9' }))).to.not.include('postgres');
  });

  it('gives each role its machine', () => {
    expect(vmSpec(one, 'jumpbox')).to.include({ machineType: 'e2-medium', identity: undefined });
    expect(vmSpec(one, 'postgres')).to.include({ machineType: 'e2-standard-2' });
    expect(vmSpec(one, 'ceph-2')).to.deep.include({
      machineType: 'e2-standard-8',
      dataDisks: [10, 100],
      tags: ['ceph'],
    });
    expect(vmSpec(one, 'k0s-3')).to.deep.include({ identity: 'cloud-controller', tags: ['k0s'], dataDisks: [] });
    const pushing = makeOptions({ registryType: 'artifact-registry' });
    expect(vmSpec(pushing, 'jumpbox').identity).to.equal('registry-writer');
  });

  it('has one public address besides those of load balancers, the jumpbox’s, and none by way of IAP', () => {
    const publicOnes = (machineAccess: MachineAccess) =>
      vmsOf(two)
        .filter((vm) => isPublic(vm, machineAccess))
        .map(({ name }) => name);
    expect([publicOnes('direct'), publicOnes('iap')]).to.deep.equal([['jumpbox'], []]);
    const inUse = (machineAccess: MachineAccess) => needsOf(two, machineAccess)['IN_USE_ADDRESSES'];
    expect([inUse('direct'), inUse('iap')]).to.deep.equal([7, 6]);
  });

  const lines = (options: typeof one) => recordsOf(options).map(({ name, address }) => `${name} ${address}`);

  it('has five records in one datacenter', () => {
    expect(lines(one)).to.deep.equal([
      'cs.d.example.com gateway',
      '*.cs.d.example.com gateway',
      'ws.d.example.com public-gateway',
      '*.ws.d.example.com public-gateway',
      '*.ssh.cs.d.example.com ssh-proxy',
    ]);
  });

  it('has twelve in two, numbered but for the platform itself', () => {
    expect(lines(two)).to.deep.equal([
      'cs.d.example.com gateway',
      '*.cs.d.example.com gateway',
      '1.cs.d.example.com gateway',
      '*.1.cs.d.example.com gateway',
      '1.ws.d.example.com public-gateway',
      '*.1.ws.d.example.com public-gateway',
      '*.1.ssh.cs.d.example.com ssh-proxy',
      '2.cs.d.example.com gateway-dc2',
      '*.2.cs.d.example.com gateway-dc2',
      '2.ws.d.example.com public-gateway-dc2',
      '*.2.ws.d.example.com public-gateway-dc2',
      '*.2.ssh.cs.d.example.com ssh-proxy-dc2',
    ]);
    expect(addressesOf(two)).to.have.length(6);
  });

  it('takes id and name of the first datacenter from the flags, and derives the second', () => {
    const [only] = datacentersOf(makeOptions({ datacenterId: 7, datacenterName: 'lab' }));
    expect(only).to.include({ key: 'dc1', id: 7, name: 'lab', suffix: '' });
    expect(only?.files.config).to.equal('/etc/platform/config.yaml');
    expect(datacenters.keys(two)).to.deep.equal(['dc1', 'dc2']);
    expect(datacenterOf(two, 'dc2')).to.deep.include({
      id: 2,
      name: 'dev-dc2',
      files: {
        config: '/etc/platform/config-dc2.yaml',
        secretsDir: '/etc/platform/secrets-dc2',
        secrets: '/etc/platform/secrets-dc2/prod.vault.yaml',
        identity: '/etc/platform/secrets-dc2/age_key.txt',
      },
      domains: { platform: 'cs.d.example.com', workspaces: '2.ws.d.example.com', ssh: '2.ssh.cs.d.example.com' },
    });
  });
});
