/** What a recovery learns of options and secrets from the files of the jumpbox alone. */
import { expect } from 'chai';
import { checkOptions } from '../../shared/bootstrap/rules.js';
import {
  asGiven,
  optionsIn,
  optionsInConfig,
  optionsText,
  secretsIn,
} from '../../shared/install-config/recovered-options.js';
import { keysAtHand, makeBootstrap } from './made-bootstrap.js';
import { makeOptions } from './make-options.js';

const given = {
  datacenterId: 7,
  datacenterName: 'mine',
  customPgIp: '10.99.0.7',
  kubeDistroVersion: 'v1.30.1+k0s.0',
  installSkipSteps: ['ceph'],
  featureFlags: ['one'],
  internalFlags: ['two'],
  previewFlags: [],
  clusterAdminEmail: 'ada@example.com',
  registryUser: 'somebody',
  forge1AppName: 'my app',
  forge2AppClientId: 'client-2',
  oidcClientId: 'client-5',
  oidcIssuerUrl: 'https://id.example.com',
  oidcProviderName: 'Corp',
  vaultUri: 'https://vault.example.com',
  vaultUser: 'keeper',
  vaultEngine: 'engine',
  secretsDir: '/etc/mine',
  centralOtelEndpoint: 'https://otel.example.com',
  centralOtelUsername: 'otel',
  centralOtelSpanMetrics: true,
  localTraceEndpoint: 'traces:4317',
  externalLogstoreEndpoint: 'https://logs.example.com',
  externalLogstoreUser: 'logger',
  metricsRemoteWriteUrl: 'https://metrics.example.com',
  metricsRemoteWriteUser: 'writer',
} as const;
const caller = {
  forge1AppClientSecret: 'planted-1',
  forge1Pat: 'planted-pat',
  forge2AppClientSecret: 'planted-2',
  oidcClientSecret: 'planted-5',
  vaultPassword: 'planted-vault',
  centralOtelPassword: 'planted-otel',
  externalLogstoreSecret: 'planted-logs',
  metricsRemoteWritePassword: 'planted-metrics',
};

describe('options that are recovered', () => {
  before(keysAtHand);

  it('are in the file of options as they were, defaults left out', () => {
    const options = makeOptions({ ...given, zone: 'us-central1-b', installVersion: '1.0.0' });
    const read = optionsIn(optionsText('b1', options), 'b1') ?? {};
    expect(checkOptions(read).options).to.deep.equal(options);
    expect(read).to.not.have.any.keys('rootDiskSize', 'registryType', 'multiDc');
  });

  it('come from no other file: another bootstrap’s, a damaged one, or none', () => {
    const text = optionsText('b1', makeOptions());
    for (const other of [undefined, '', text.slice(0, 40), 'version: 1'])
      expect(optionsIn(other, 'b1')).to.equal(undefined);
    expect(optionsIn(text, 'b2')).to.equal(undefined);
    // What a later release knows, and a secret that somebody wrote there.
    const more = JSON.stringify({
      version: 1,
      bootstrap: 'b1',
      options: { later: 1, forge1Pat: 'x', baseDomain: 'a.b' },
    });
    expect(optionsIn(more, 'b1')).to.deep.equal({ baseDomain: 'a.b' });
  });

  it('are in the config without that file, and the caller’s secrets in the secrets file', async () => {
    const bootstrap = makeBootstrap({ options: given, caller });
    const { dc1 } = await bootstrap.go();
    if (dc1 === undefined) throw new Error('no files');
    expect(asGiven(optionsInConfig(dc1.config, dc1.secrets))).to.deep.equal({
      ...given,
      baseDomain: 'example.com',
      forge1AppClientId: 'client-1',
    });
    expect(secretsIn(dc1.secrets, 'forge1')).to.deep.equal(caller);
    expect(secretsIn(dc1.secrets, 'artifact-registry')).to.not.have.property('forge1Pat');
  });

  it('show two datacenters', async () => {
    const { dc1 } = await makeBootstrap({ options: { multiDc: true }, caller }).go();
    if (dc1 === undefined) throw new Error('no files');
    expect(
      checkOptions({
        ...asGiven(optionsInConfig(dc1.config, dc1.secrets)),
        projectName: 'demo',
        billingAccount: '012345-6789AB-CDEF01',
        forge1AppClientSecret: 'x',
      }).faults,
    ).to.deep.equal([]);
    expect(asGiven(optionsInConfig(dc1.config, dc1.secrets))).to.include({ multiDc: true });
  });
});
