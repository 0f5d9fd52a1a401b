/** `npm run first-contact` in a world of the simulated cloud, and stopped by a signal: what must hold, and what must be gone. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import type { SimulatedCloud } from '../../local/cloud/index.js';
import type { WorldName } from '../../local/cloud/worlds/table.js';
import { checks } from '../../tools/first-contact/checks/index.js';
import { type Recording, readRecording } from '../../tools/first-contact/recording.js';
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

/** What the simulated cloud cannot show in any world. */
const always = [
  'billing.limit',
  'tokens.custom-audience',
  'tokens.invoker',
  'logins.admin',
  'controller.health-check',
  'controller.pool',
  'controller.forwarding-rule',
  'controller.removal',
];

/** What policies forbid in a world, or what they leave nothing to see of. */
const alsoUnknown: Readonly<Record<WorldName, readonly string[]>> = {
  seasoned: [],
  fresh: [],
  hardened: ['policies.unset', 'machines.early-attributes', 'machines.host-keys'],
};

/**
 * They are unknown, too, where a slow computer misses the moment, or where both zones get the same one of five sets of name
 * servers, by chance.
 */
const ofTheMoment = ['compute.not-ready', 'machines.early-attributes', 'dns.delegation', 'dns.undelegation'];

export async function projectsOf(cloud: SimulatedCloud): Promise<Record<string, string>> {
  const reply = await fetch(`${cloud.endpoints.cloudresourcemanager}/v3/projects?parent=${parent}&showDeleted=true`, {
    headers: { authorization: `Bearer ${cloud.identity.accessToken(watcher)}` },
  });
  const { projects = [] } = (await reply.json()) as { projects?: { projectId: string; state: string }[] };
  return Object.fromEntries(projects.map(({ projectId, state }) => [projectId, state]));
}

export async function delegationsOf(cloud: SimulatedCloud): Promise<string[]> {
  const path = `/dns/v1/projects/${dns.project}/managedZones/${dns.zone}/rrsets`;
  const reply = await fetch(`${cloud.endpoints.dns}${path}`, {
    headers: { authorization: `Bearer ${cloud.identity.accessToken(operator)}` },
  });
  const { rrsets } = (await reply.json()) as { rrsets: { name: string; type: string }[] };
  return rrsets.filter(({ name, type }) => type === 'NS' && name !== `${dns.domain}.`).map(({ name }) => name);
}

export const verdicts = (recording: Recording): Record<string, string> =>
  Object.fromEntries(recording.results.map(({ check, verdict }) => [check, verdict]));

/** Anything in it that tells whose it is. */
function tellsIn(text: string, projects: readonly string[]): string[] {
  const own = [billingAccount, parent, operator, dns.project, dns.domain, 'ya29.', ...projects];
  return own.filter((each) => text.includes(each));
}

/** Runs all checks in a world of its own. Returns the recording. */
export const holdsIn = (world: WorldName): Promise<Recording> =>
  inFolder(async (folder) => {
    const cloud = await operatorsCloud({ world });
    try {
      const out = join(folder, 'recording.jsonl');
      const ran = await contact(environmentOf(cloud), [...given, ...delegating, '--yes', '--out', out]);
      expect(ran.code, ran.stdout + ran.stderr).to.equal(0);
      const recording = readRecording(out);
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
      return recording;
    } finally {
      await cloud.close();
    }
  });

/** The signal comes when the line of a check appears: Ctrl-C, unless told otherwise. */
export function stopped(
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

interface Way {
  readonly signal: NodeJS.Signals;
  readonly hangUp?: boolean;
}

/** Stopped in its delegation, it removes what it made. */
export const goesWhenStopped = (way: Way): Promise<void> =>
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
  });
