import { expect } from 'chai';
import { formatSeconds, parseDuration } from '../../shared/bootstrap/duration.js';
import { flagOf, type GivenOptions, isLocal, optionNames } from '../../shared/bootstrap/options.js';
import { resumeOptions } from '../../shared/bootstrap/resume.js';
import { checkOptions } from '../../shared/bootstrap/rules.js';
import { Problem } from '../../shared/problems.js';

const five: GivenOptions = {
  projectName: 'demo',
  billingAccount: '0A',
  baseDomain: 'demo.example.com',
  forge1AppClientId: 'client',
  forge1AppClientSecret: 'planted-one',
};
const again = (first: GivenOptions, second: GivenOptions, isInstalled = false) => {
  const [before, after] = [checkOptions({ ...five, ...first }), checkOptions({ ...five, ...second })];
  return resumeOptions(before, after, { ...five, ...second }, { holdersOf: () => undefined, isInstalled });
};
const conflict = (first: GivenOptions, second: GivenOptions): Problem => {
  try {
    again(first, second);
  } catch (error) {
    if (error instanceof Problem) return error;
  }
  throw new Error('nothing was refused');
};

describe('the same command again', () => {
  it('changes nothing when nothing is different', () => {
    expect(again({ spotVms: true }, { spotVms: true }).changes).to.deep.equal([]);
  });

  it('shows what changes, and applies it', () => {
    const { changes, options } = again(
      { featureFlags: ['a'] },
      { featureFlags: ['a', 'b'], clusterAdminEmail: 'bob@example.com' },
    );
    expect(changes).to.deep.equal([
      { option: '--feature-flags', from: ['a'], to: ['a', 'b'] },
      { option: '--cluster-admin-email', from: null, to: 'bob@example.com' },
    ]);
    expect(options.featureFlags).to.deep.equal(['a', 'b']);
  });

  it('refuses what cannot change, each with both values', () => {
    const problem = conflict({ region: 'us-central1', rootDiskSize: 100 }, {});
    expect(problem.code).to.equal('conflict');
    expect(problem.errors).to.deep.equal([
      { path: '--region', message: 'is us-central1 and cannot become europe-west4' },
      { path: '--zone', message: 'is us-central1-a and cannot become europe-west4-a' },
      { path: '--root-disk-size', message: 'is 100 and cannot become 50' },
    ]);
  });

  it('keeps the time to live unless another is given', () => {
    expect(again({ projectTtl: '5h' }, {}))
      .to.deep.include({ changes: [] })
      .and.nested.include({ 'options.projectTtl': '5h' });
    expect(again({ projectTtl: '5h' }, { projectTtl: '1h' }).changes).to.deep.equal([
      { option: '--project-ttl', from: '5h', to: '1h' },
    ]);
  });

  describe('that names no package', () => {
    const installed: GivenOptions = {
      installVersion: '1.0.0',
      kubeDistroVersion: 'v1.30.1+k0s.0',
      installSkipSteps: ['ceph'],
      registryUser: 'alice',
      clusterAdminEmail: 'ada@example.com',
      createTestUser: true,
    };

    it('keeps what is installed, with all that it was installed with', () => {
      const { changes, options } = again(installed, {}, true);
      expect(changes).to.deep.equal([]);
      expect(options).to.deep.include(installed);
    });

    it('changes the part of it that is given', () => {
      const { changes, options } = again(installed, { clusterAdminEmail: 'bob@example.com' }, true);
      expect(changes.map(({ option }) => option)).to.deep.equal(['--cluster-admin-email']);
      expect(options).to.deep.include({ ...installed, clusterAdminEmail: 'bob@example.com' });
    });

    it('gives it up where nothing of it was made', () => {
      expect(again(installed, {}).options.installVersion).to.equal(undefined);
    });

    it('is no command that names another one: that is installed as it says', () => {
      const { options } = again(installed, { installHash: 'abc' }, true);
      expect(options).to.include({ installHash: 'abc', kubeDistroVersion: flagOf('kubeDistroVersion').default });
      expect(options.installVersion).to.equal(undefined);
      expect(options.clusterAdminEmail).to.equal(undefined);
    });
  });

  it('keeps secrets that are not given again, and masks those that change', () => {
    const { changes, secrets } = again(
      { vaultPassword: 'planted-two', vaultUri: 'https://v.example.com' },
      { forge1AppClientSecret: 'planted-three', vaultUri: 'https://v.example.com' },
    );
    expect(secrets).to.deep.equal({ forge1AppClientSecret: 'planted-three', vaultPassword: 'planted-two' });
    expect(changes).to.deep.equal([{ option: '--forge1-app-client-secret', from: '<secret>', to: '<secret>' }]);
    const refused = conflict({ region: 'us-central1' }, { forge1AppClientSecret: 'planted-three' });
    expect(JSON.stringify([refused.detail, refused.errors])).to.not.include('planted');
  });

  it('has a rule for every option that travels', () => {
    for (const option of optionNames) {
      if (!isLocal(option)) expect(flagOf(option).onResume).to.be.oneOf(['fixed', 'applies']);
    }
  });
});

describe('durations', () => {
  const right = {
    '90m': 5400,
    '2h': 7200,
    '1h30m': 5400,
    '2d': 172_800,
    '1.5h': 5400,
    '1d2h3m4s': 93_784,
    '1500ms': 2,
  };
  for (const [text, seconds] of Object.entries(right)) {
    it(`${text} is ${seconds} seconds`, () => expect(parseDuration(text)).to.equal(seconds));
  }
  for (const text of ['', '0', '0s', '2', 'h', '-2h', '+2h', ' 2h', '2 h', '2H', '1w', '1e3s', '3651d', '10ms']) {
    it(`${JSON.stringify(text)} is none`, () => expect(parseDuration(text)).to.equal(undefined));
  }
  it('are said in two parts at most', () => {
    expect([0.44, 9.96, 42, 90, 3605, 93_784].map(formatSeconds)).to.deep.equal([
      '0.4s',
      '10s',
      '42s',
      '1m 30s',
      '1h 5s',
      '1d 2h',
    ]);
  });
});
