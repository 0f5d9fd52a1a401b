/** `npm run first-contact` against the simulated cloud, over the wire, in each of its worlds. */
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { needsOf, spotMetric } from '../../functions/steps/topology.js';
import type { SimulatedCloud } from '../../local/cloud/index.js';
import { type WorldName, worldNames } from '../../local/cloud/worlds/table.js';
import { checks, chosen, mainChecks } from '../../tools/first-contact/checks/index.js';
import { neededMetrics } from '../../tools/first-contact/checks/quotas.js';
import { ceiling } from '../../tools/first-contact/plan.js';
import { limit } from '../../tools/first-contact/price.js';
import { type Exchange, type Recording, readRecording } from '../../tools/first-contact/recording.js';
import { makeOptions } from '../install-config/make-options.js';
import {
  billingAccount,
  contact,
  delegating,
  dns,
  environmentOf,
  given,
  inFolder,
  operator,
  operatorsCloud,
  parent,
  watcher,
} from './contacted.js';
import { replay } from './replay.js';

/** What the simulated cloud cannot show in any world. */
const always = ['billing.limit', 'tokens.custom-audience', 'logins.admin'];

/** What policies forbid in a world, or what they leave nothing to see of. */
const alsoUnknown: Readonly<Record<WorldName, readonly string[]>> = {
  seasoned: [],
  fresh: [],
  hardened: ['policies.unset', 'controller.forwarding-rule', 'machines.early-attributes', 'machines.host-keys'],
};

/**
 * They are unknown, too, where a slow computer misses the moment, or where both zones get the same one of five sets of name
 * servers, by chance.
 */
const ofTheMoment = ['compute.not-ready', 'machines.early-attributes', 'dns.delegation', 'dns.undelegation'];

async function projectsOf(cloud: SimulatedCloud): Promise<Record<string, string>> {
  const reply = await fetch(`${cloud.endpoints.cloudresourcemanager}/v3/projects?parent=${parent}&showDeleted=true`, {
    headers: { authorization: `Bearer ${cloud.identity.accessToken(watcher)}` },
  });
  const { projects = [] } = (await reply.json()) as { projects?: { projectId: string; state: string }[] };
  return Object.fromEntries(projects.map(({ projectId, state }) => [projectId, state]));
}

async function delegationsOf(cloud: SimulatedCloud): Promise<string[]> {
  const path = `/dns/v1/projects/${dns.project}/managedZones/${dns.zone}/rrsets`;
  const reply = await fetch(`${cloud.endpoints.dns}${path}`, {
    headers: { authorization: `Bearer ${cloud.identity.accessToken(operator)}` },
  });
  const { rrsets } = (await reply.json()) as { rrsets: { name: string; type: string }[] };
  return rrsets.filter(({ name, type }) => type === 'NS' && name !== `${dns.domain}.`).map(({ name }) => name);
}

const verdicts = (recording: Recording): Record<string, string> =>
  Object.fromEntries(recording.results.map(({ check, verdict }) => [check, verdict]));

/** The signal comes when the line of a check appears: Ctrl-C, unless told otherwise. */
function stopped(
  env: Record<string, string>,
  args: readonly string[],
  before: string,
  { signal = 'SIGINT', hangUp = false }: { signal?: NodeJS.Signals; hangUp?: boolean } = {},
) {
  let isStopped = false;
  return contact(env, args, {
    onOutput: (stdout, running) => {
      if (isStopped || !stdout.includes(before)) return;
      isStopped = true;
      if (hangUp) running.hangUp();
      running.kill(signal);
    },
  });
}

const recordings = new Map<WorldName, Recording>();

/** Anything in it that tells whose it is. */
function tellsIn(text: string, projects: readonly string[]): string[] {
  const own = [billingAccount, parent, operator, dns.project, dns.domain, 'ya29.', ...projects];
  return own.filter((each) => text.includes(each));
}

describe('first contact', function () {
  this.timeout(240_000);

  for (const world of worldNames) {
    it(`holds in the world ${world}, removes what it made, and tells in its recording of nobody`, () =>
      inFolder(async (folder) => {
        const cloud = await operatorsCloud({ world });
        try {
          const out = join(folder, 'recording.jsonl');
          const ran = await contact(environmentOf(cloud), [...given, ...delegating, '--yes', '--out', out]);
          expect(ran.code, ran.stdout + ran.stderr).to.equal(0);
          const recording = readRecording(out);
          recordings.set(world, recording);
          expect(recording.header).to.include({ origin: 'settings', form: 1 });
          const found = verdicts(recording);
          expect(Object.keys(found)).to.deep.equal(checks.map(({ id }) => id));
          const unknown = Object.keys(found).filter((id) => found[id] === 'unknown' && !ofTheMoment.includes(id));
          const expected = [...always, ...alsoUnknown[world]].filter((id) => !ofTheMoment.includes(id));
          expect(unknown).to.have.members(expected);
          const projects = await projectsOf(cloud);
          expect(Object.values(projects)).to.deep.equal(['DELETE_REQUESTED']);
          expect(await delegationsOf(cloud)).to.deep.equal([]);
          expect(tellsIn(readFileSync(out, 'utf8'), Object.keys(projects))).to.deep.equal([]);
        } finally {
          await cloud.close();
        }
      }));
  }

  // The second is on the way when the first is told.
  for (const [before, at] of [
    ['billing.may-link', 'projects.create'],
    ['dns.zone', 'dns.delegation'],
  ] as const) {
    it(`removes what it made when it is stopped in ${at}, and says so by 130`, () =>
      inFolder(async (folder) => {
        // Both take a while, so that the signal comes in time.
        const cloud = await operatorsCloud({ worldSettings: { 'pace.dns': 100, 'delay.project': 500 } });
        try {
          const out = join(folder, 'recording.jsonl');
          const args = [...given, ...delegating, '--yes', '--out', out, '--only', 'dns.delegation'];
          const ran = await stopped(environmentOf(cloud), args, before);
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

  for (const { how, ...way } of [
    { how: 'by SIGTERM', signal: 'SIGTERM' },
    { how: 'by SIGHUP', signal: 'SIGHUP' },
    { how: 'by SIGHUP as its terminal is closed', signal: 'SIGHUP', hangUp: true },
    { how: 'by Ctrl-C that ends its reader, too', signal: 'SIGINT', hangUp: true },
  ] as const) {
    it(`removes what it made when it is stopped ${how}`, () =>
      inFolder(async (folder) => {
        const cloud = await operatorsCloud({ worldSettings: { 'pace.dns': 100 } });
        try {
          const out = join(folder, 'recording.jsonl');
          const args = [...given, ...delegating, '--yes', '--out', out, '--only', 'dns.delegation'];
          const ran = await stopped(environmentOf(cloud), args, 'dns.zone', way);
          expect(Object.values(await projectsOf(cloud)), ran.stderr).to.deep.equal(['DELETE_REQUESTED']);
          expect(await delegationsOf(cloud)).to.deep.equal([]);
          expect(verdicts(readRecording(out))).to.include({ 'dns.delegation': 'unknown', 'removal.unlink': 'held' });
          expect(ran.code, ran.stderr).to.equal(130);
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

  it('makes nothing where the recording cannot be begun', async () => {
    const ran = await contact({ GOOGLE_CLOUD_PROJECT: 'p' }, [
      ...given,
      '--yes',
      '--out',
      '/no/such/folder/recording.jsonl',
    ]);
    expect([ran.code, ran.stderr]).to.satisfy(
      ([code, said]: [number, string]) => code === 2 && said.includes('--out') && !said.includes('    at '),
    );
  });

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

  it('makes nothing without consent', async () => {
    const ran = await contact({}, [...given]);
    expect([ran.code, ran.stderr]).to.satisfy(
      ([code, said]: [number, string]) => code === 2 && said.includes('at most') && said.includes('--yes'),
    );
  });

  it('refuses what it does not know, and lists its checks', async () => {
    const ran = await contact({}, [...given, '--yes', '--only', 'no.such']);
    expect([ran.code, ran.stderr.split('\n')[0]]).to.deep.equal([
      2,
      'There is no check no.such. --list shows them all.',
    ]);
    const listed = await contact({}, ['--list']);
    expect(listed.stdout.trim().split('\n').length).to.equal(checks.length);
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

  const replayed = async (world: WorldName, change: (exchanges: Exchange[]) => Exchange[] = (same) => same) => {
    const recording = recordings.get(world);
    if (recording === undefined) throw new Error(`no recording of ${world} was made`);
    const cloud = await operatorsCloud({ world });
    try {
      return await replay({ ...recording, exchanges: change([...recording.exchanges]) }, cloud);
    } finally {
      await cloud.close();
    }
  };

  it('of the simulated cloud differs in nothing from a new one', async () => {
    expect(await replayed('seasoned')).to.deep.equal([]);
  });

  it('that was altered differs, and the difference is named', async () => {
    const asked = new Set(chosen(['quotas.id', 'secrets.absent-to-owner']).map(({ id }) => id));
    const found = await replayed('seasoned', (exchanges) =>
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
