/** `npm run first-contact` against the simulated cloud, over the wire: all checks in the seasoned world, and how it ends. */
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { needsOf, spotMetric } from '../../functions/steps/topology.js';
import { checks, chosen, mainChecks } from '../../tools/first-contact/checks/index.js';
import { neededMetrics } from '../../tools/first-contact/checks/quotas.js';
import { ceiling } from '../../tools/first-contact/plan.js';
import { limit } from '../../tools/first-contact/price.js';
import { type Exchange, type Recording, readRecording } from '../../tools/first-contact/recording.js';
import { makeOptions } from '../install-config/make-options.js';
import { oneAfterAnother, type Run } from '../support/one-after-another.js';
import { contact, delegating, environmentOf, given, inFolder, operatorsCloud, program } from './contacted.js';
import { delegationsOf, holdsIn, projectsOf, stopped, verdicts } from './in-worlds.js';
import { replay } from './replay.js';

let recorded: Recording | undefined;

describe('first contact', function () {
  this.timeout(240_000);

  it('holds in the seasoned world, removes what it made, and tells in its recording of nobody', async () => {
    recorded = await holdsIn('seasoned');
  });

  // The second is on the way when the first is told.
  for (const [before, at, way, how] of [
    ['billing.may-link', 'projects.create', { signal: 'SIGHUP', hangUp: true }, 'as its terminal is closed'],
    ['dns.zone', 'dns.delegation', { signal: 'SIGINT' }, 'by Ctrl-C'],
  ] as const) {
    it(`removes what it made when it is stopped in ${at} ${how}, and says so by 130`, () =>
      inFolder(async (folder) => {
        // Both take a while, so that the signal comes in time.
        const cloud = await operatorsCloud({ worldSettings: { 'pace.dns': 100, 'delay.project': 500 } });
        try {
          const out = join(folder, 'recording.jsonl');
          const args = [...given, ...delegating, '--yes', '--out', out, '--only', 'dns.delegation'];
          const ran = await stopped(environmentOf(cloud), args, before, way);
          expect(ran.code, ran.stdout + ran.stderr).to.equal(130);
          const states = Object.values(await projectsOf(cloud));
          expect(states.filter((state) => state !== 'DELETE_REQUESTED')).to.deep.equal([]);
          expect(await delegationsOf(cloud)).to.deep.equal([]);
          expect(verdicts(readRecording(out))).to.include({ [before]: 'held', 'dns.delegation': 'unknown' });
          // What would be left of a run that is killed.
          if (at === 'dns.delegation')
            expect(ran.stderr).to.match(
              /gcloud dns record-sets delete first-contact-\S+ --type=NS --zone=office --project=office-project/,
            );
        } finally {
          await cloud.close();
        }
      }));
  }

  it('removes what it made, too, when the recording cannot be written any more', () =>
    inFolder(async (folder) => {
      const cloud = await operatorsCloud();
      try {
        const out = join(folder, 'recording.jsonl');
        const ran = await contact(environmentOf(cloud), [...given, '--yes', '--out', out, '--only', 'billing.link'], {
          onOutput: (stdout) => {
            if (!stdout.includes('projects.create') || statSync(out).isDirectory()) return;
            rmSync(out);
            mkdirSync(out);
          },
        });
        expect(ran.code, ran.stdout + ran.stderr).to.equal(0);
        expect(ran.stderr).to.match(/recording ends here, as .* cannot be written/);
        expect(Object.values(await projectsOf(cloud))).to.deep.equal(['DELETE_REQUESTED']);
      } finally {
        await cloud.close();
      }
    }));

  it('says by its exit code that something differs, and what', () =>
    inFolder(async (folder) => {
      const cloud = await operatorsCloud({ worldSettings: { 'quota.CPUS': 4 } });
      try {
        const args = [...given, '--yes', '--out', join(folder, 'recording.jsonl'), '--only', 'quotas.least', '--json'];
        const ran = await contact(environmentOf(cloud), args);
        expect(ran.code, ran.stdout + ran.stderr).to.equal(1);
        const lines = ran.stdout
          .trim()
          .split('\n')
          .map((line) => JSON.parse(line) as Record<string, string>);
        expect(lines.find(({ check }) => check === 'quotas.least')).to.deep.include({ verdict: 'differs' });
      } finally {
        await cloud.close();
      }
    }));

  it('says unknown, and not that something differs, of what the caller may not see', () =>
    inFolder(async (folder) => {
      const cloud = await operatorsCloud({ initial: { bindings: [] } });
      try {
        const out = join(folder, 'recording.jsonl');
        const only = ['--only', 'policies.unset', '--only', 'projects.create'];
        const ran = await contact(environmentOf(cloud), [...given, '--yes', '--out', out, ...only]);
        expect(ran.code, ran.stdout + ran.stderr).to.equal(0);
        expect(verdicts(readRecording(out))).to.deep.equal({
          'policies.unset': 'unknown',
          'projects.create': 'unknown',
        });
      } finally {
        await cloud.close();
      }
    }));

  it('makes nothing where the recording cannot be begun, without consent, or for a check that it does not know, and lists its checks', async () => {
    const runs = [
      [...given, '--yes', '--out', '/no/such/folder/recording.jsonl'],
      given,
      [...given, '--yes', '--only', 'no.such'],
      ['--list'],
    ];
    const path = process.env['PATH'] ?? '';
    const [unwritable, unasked, unknown, listed] = await oneAfterAnother(
      runs.map((args): Run => [program, args]),
      { env: { PATH: path, GOOGLE_CLOUD_PROJECT: 'p' } },
    );
    expect([unwritable, unasked, unknown, listed].map((ended) => ended?.exitCode)).to.deep.equal([2, 2, 2, 0]);
    expect(unwritable?.stderr).to.include('--out').and.not.to.include('    at ');
    expect(unasked?.stderr).to.include('at most').and.to.include('--yes');
    expect(unknown?.stderr.split('\n')[0]).to.equal('There is no check no.such. --list shows them all.');
    expect(listed?.stdout.trim().split('\n').length).to.equal(checks.length);
  });

  it('looks for each quota that a bootstrap needs', () => {
    const needs = Object.keys(needsOf(makeOptions(), 'direct'));
    expect(neededMetrics).to.have.members([...needs, spotMetric]);
  });

  it('costs less than its limit, wherever it runs', () => {
    for (const region of ['europe-west4', 'me-central2', 'nowhere1']) {
      expect(ceiling(mainChecks, region), region).to.be.within(0.01, limit);
    }
  });
});

describe('a recording', function () {
  this.timeout(240_000);

  const replayed = async (change: (exchanges: Exchange[]) => Exchange[] = (same) => same) => {
    if (recorded === undefined) throw new Error('no recording was made');
    const cloud = await operatorsCloud();
    try {
      return await replay({ ...recorded, exchanges: change([...recorded.exchanges]) }, cloud);
    } finally {
      await cloud.close();
    }
  };

  it('of the simulated cloud differs in nothing from a new one', async () => {
    expect(await replayed()).to.deep.equal([]);
  });

  it('of Google may hold calls of methods that the simulated cloud does not serve', async () => {
    const found = await replayed((exchanges) => {
      const unserved = exchanges.find(({ check }) => check === 'controller.health-check');
      if (unserved === undefined) throw new Error('the check made no call');
      expect(unserved.status).to.equal(501);
      const done = { ...unserved, status: 200, response: { name: '{operation-999}', status: 'DONE' } };
      const path = unserved.path.replace('httpHealthChecks', 'operations/{operation-999}');
      return [...exchanges.slice(0, exchanges.indexOf(unserved)), done, { ...done, method: 'GET', path }];
    });
    expect(found).to.deep.equal([]);
  });

  it('that was altered differs, and the difference is named', async () => {
    const asked = new Set(chosen(['quotas.id', 'secrets.absent-to-owner']).map(({ id }) => id));
    const found = await replayed((exchanges) =>
      exchanges
        .filter(({ check }) => asked.has(check))
        .map((exchange) => {
          if (exchange.check === 'secrets.absent-to-owner') return { ...exchange, status: 403 };
          if (exchange.check !== 'quotas.id') return exchange;
          return { ...exchange, response: { ...(exchange.response as object), surprise: 7 } };
        }),
    );
    expect(found.map(({ check, what }) => `${check}: ${what.split(': ').slice(1).join(': ')}`)).to.deep.equal([
      'quotas.id: missing here: surprise: number',
      'secrets.absent-to-owner: status 403, here 404',
    ]);
  });
});

const folder = join('test', 'recordings', 'google');
const real = existsSync(folder) ? readdirSync(folder).filter((file) => file.endsWith('.jsonl')) : [];

describe(`recordings of Google: ${real.length}`, function () {
  this.timeout(240_000);

  it('are told of by the README: without one, it says that nothing ran on Google', () => {
    const says = readFileSync('README.md', 'utf8').includes(
      'No deployment to Google has been made from this repository.',
    );
    expect(says).to.equal(real.length === 0);
  });

  for (const file of real) {
    it(`${file} differs in nothing from the simulated cloud`, async () => {
      const recording = readRecording(join(folder, file));
      expect(recording.header.origin).to.equal('google');
      const cloud = await operatorsCloud();
      try {
        expect(await replay(recording, cloud)).to.deep.equal([]);
      } finally {
        await cloud.close();
      }
    });
  }
});
