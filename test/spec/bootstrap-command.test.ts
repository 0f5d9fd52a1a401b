/**
 * `plinth beta bootstrap-cloud` is what was specified: its flags, their types and defaults, which are required, and which
 * exclude each other. Flags of plinth's own may stand beside them. Pinned: see test/house/spec-is-pinned.test.ts.
 */
import { expect } from 'chai';
import { type Answer, type Flags, useCommand } from '../support/spec-world.js';
import { type FlagType, type SpecFlag, specFlags } from './bootstrap-flags.js';
import { errorRules, meaningRules, type RuleCase, requiredFive } from './bootstrap-rules.js';

const samplesOf = (flags: readonly SpecFlag[]): Flags =>
  Object.fromEntries(flags.map(({ name, sample }) => [name, sample]));

/** What is no value of the type, as arguments of the command line. */
const misfits: Readonly<Record<FlagType, readonly string[]>> = {
  string: [''],
  int: ['=many', '=1.5'],
  bool: ['=many'],
  stringArray: [''],
};

const textOf = (value: SpecFlag['default']): string | undefined => {
  // Help names no default where there is nothing to say: off, or none.
  if (value === undefined || value === false) return undefined;
  return [value].flat().join(', ');
};

describe('the bootstrap command, as specified', () => {
  const command = useCommand();

  describe('has', () => {
    let help: Awaited<ReturnType<typeof command.help>>;
    let misread: readonly ReadonlySet<string>[];
    let taken: readonly (Answer & { readonly asked: Flags })[];
    before(async () => {
      help = await command.help('--help');
      misread = await Promise.all(
        [0, 1].map((n) =>
          command.refusedOf(
            specFlags.flatMap(({ name, type }) => {
              const misfit = misfits[type][n];
              return misfit === undefined ? [] : [`--${name}${misfit}`];
            }),
          ),
        ),
      );
      const attempts = [
        specFlags.filter(({ apart }) => apart !== true),
        specFlags.filter(({ apart, required }) => apart === true || required === true),
      ];
      const answers: (Answer & { readonly asked: Flags })[] = [];
      // One after the other: what was asked is what was asked last.
      for (const flags of attempts) {
        answers.push({ ...(await command.run(samplesOf(flags))), asked: command.asked().flags });
      }
      taken = answers;
    });

    for (const flag of specFlags) {
      const { name, type } = flag;
      const notes = [
        flag.short === undefined ? '' : `, short -${flag.short}`,
        flag.required === true ? ', required' : '',
        flag.default === undefined ? '' : `, by default ${[flag.default].flat().join(', ')}`,
      ];
      it(`--${name}, ${type}${notes.join('')}`, () => {
        expect(help.flags.get(name)).to.deep.equal({
          short: flag.short,
          type,
          default: textOf(flag.default),
          required: flag.required === true,
        });
        misfits[type].forEach((misfit, n) => {
          expect(misread[n], `--${name}${misfit} is refused`).to.include(name);
        });
        const answer = taken[flag.apart === true ? 1 : 0];
        expect(answer?.refused, answer?.said).not.to.include(name);
      });
    }

    it('75 flags, beside those of its own', () => {
      const names = new Set(specFlags.map(({ name }) => name));
      expect([...help.flags.keys()].filter((name) => names.has(name))).to.have.lengthOf(75);
    });

    it('-s for --install-skip-steps', async () => {
      expect(await command.refusedOf(['-s'])).to.include('install-skip-steps');
    });

    it('no flag that refuses a value of its type, or that turns it into another', () => {
      for (const { accepted, said } of taken) expect(accepted, said).to.equal(true);
      const asked = taken[0]?.asked ?? {};
      for (const { name, type, sample } of specFlags) {
        if (type === 'int') expect(asked[name], name).to.equal(sample);
        if (type === 'stringArray') expect(asked[name], name).to.be.an('array').with.lengthOf(2);
      }
      // As they were written: digits stay text.
      expect(asked).to.include({ 'folder-id': '0123456789', 'install-hash': '0123', 'spot-vms': true });
      expect(asked['preview-flags']).to.deep.equal(['five', 'six']);
    });
  });

  it('prints its help with -h and with --help, and that is no failure', async () => {
    const [short, long] = [await command.help('-h'), await command.help('--help')];
    expect([short.exitCode, long.exitCode]).to.deep.equal([0, 0]);
    expect(short.flags.size).to.equal(long.flags.size).and.to.be.at.least(75);
  });

  it('is of the version that was specified, or of a later one', async () => {
    const [major = 0, minor = 0] = (await command.version()).split('.').map(Number);
    expect(major * 1000 + minor).to.be.at.least(2113);
  });

  /** A dry run makes nothing, so that the same flags have the same answer. */
  function once(attempt: (flags: Flags) => Promise<Answer>): (flags: Flags) => Promise<Answer> {
    const answers = new Map<string, Promise<Answer>>();
    return (flags) => {
      const key = JSON.stringify(flags);
      const answer = answers.get(key) ?? attempt(flags);
      answers.set(key, answer);
      return answer;
    };
  }
  const doors = [
    ['on the command line', once((flags) => command.run(flags))],
    ['by HTTP', once((flags) => command.ask(flags))],
  ] as const;
  const flagsOf = ({ given, without }: RuleCase): Flags =>
    Object.fromEntries(Object.entries({ ...requiredFive, ...given }).filter(([flag]) => flag !== without));

  for (const [where, attempt] of doors) {
    describe(where, () => {
      for (const rule of [...errorRules, ...meaningRules]) {
        const { name, refused } = rule;
        it(`${refused === undefined ? 'accepts' : 'refuses'} ${name}`, async () => {
          const answer = await attempt(flagsOf(rule));
          expect(answer.accepted, answer.said).to.equal(refused === undefined);
          if (refused !== undefined) {
            expect(
              answer.refused.some((flag) => refused.includes(flag)),
              `${answer.said} names one of ${refused.join(', ')}`,
            ).to.equal(true);
          }
        });
      }

      it('takes a registry on the jumpbox for an airgapped install', async () => {
        const plans = await Promise.all(
          [{}, { airgapped: true }, { airgapped: true, 'registry-type': 'local-container' }].map((flags) =>
            attempt({ ...requiredFive, ...flags }),
          ),
        );
        const [without, selected, named] = plans.map(({ plan }) => plan?.text);
        expect(selected).to.be.a('string').that.equals(named).and.not.equals(without);
      });

      it('makes 14 VMs with about 100 vCPUs and 6 addresses for two datacenters that share a PostgreSQL server', async () => {
        const one = (await attempt(requiredFive)).plan;
        const two = (await attempt({ ...requiredFive, 'multi-dc': true })).plan;
        expect(two).to.include({ vms: 14, addresses: 6, datacenters: 2, postgresServers: 1 });
        expect(two?.vcpus).to.be.within(90, 110);
        expect(one).to.include({ addresses: 3, datacenters: 1, postgresServers: 1 });
        // Ceph and Kubernetes are doubled.
        expect(two?.nodes).to.equal(2 * (one?.nodes ?? 0));
      });

      it('gives every VM a root disk of 50 GB, or of the size that is asked for', async () => {
        expect((await attempt(requiredFive)).plan?.rootDiskGb).to.deep.equal([50]);
        expect((await attempt({ ...requiredFive, 'root-disk-size': 77 })).plan?.rootDiskGb).to.deep.equal([77]);
      });
    });
  }

  describe('takes defaults', () => {
    const named = (project: string): Flags => ({
      ...requiredFive,
      'project-name': project,
      'registry-user': 'somebody',
    });

    it('of region, zone and time to live: two hours', async () => {
      const { created, region, zone, lifeSeconds, said } = await command.begin(named('bare'));
      expect({ created, region, zone }, said).to.deep.equal({
        created: true,
        region: 'europe-west4',
        zone: 'europe-west4-a',
      });
      expect(lifeSeconds).to.be.closeTo(2 * 3600, 1);
    });

    it('of all that the service is told, so that giving them changes nothing', async () => {
      await command.run(samplesOf(specFlags.filter(({ apart }) => apart !== true)));
      const first = Object.keys(command.asked().flags);
      await command.run(samplesOf(specFlags.filter(({ apart, required }) => apart === true || required === true)));
      const told = new Set([...first, ...Object.keys(command.asked().flags)]);
      const defaults = specFlags.filter((flag) => flag.default !== undefined && told.has(flag.name));
      expect(defaults).to.have.length.above(20);

      const project = named('defaults');
      expect((await command.begin(project)).created).to.equal(true);
      const again = await command.begin({
        ...project,
        ...Object.fromEntries(defaults.map((flag) => [flag.name, flag.default ?? ''])),
      });
      expect(again, again.said).to.deep.include({ accepted: true, created: false, changed: [] });
      // That a value which is not the default would have been seen.
      const other = await command.begin({ ...project, 'kube-distro-version': 'v1.30.0+k0s.0' });
      expect(other.changed).to.deep.equal(['kube-distro-version']);
    });

    it('of the files that it reads and writes', async () => {
      const [flags, paths] = [
        ['install-config', 'secrets-file'],
        ['config.yaml', 'prod.vault.yaml'],
      ];
      expect(await command.refusedWithFoldersAt(...paths)).to.include.all.keys(...flags);
      expect(await command.refusedWithFoldersAt(...paths.map((path) => `other-${path}`))).not.to.have.any.keys(
        ...flags,
      );
      await command.run(requiredFive);
      expect(command.asked().sshPublicKey).to.equal(command.sshPublicKey);
    });
  });
});
