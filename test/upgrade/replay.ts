/** Plays recordings into the simulated cloud and a store, and lets this release take over after a commit. */
import { setTimeout as sleep } from 'node:timers/promises';
import { expect } from 'chai';
import { liftBootstrap, liftLease } from '../../functions/engine/record/documents.js';
import type { Host } from '../../functions/remote/remote.js';
import type { Write } from '../../functions/store/store.js';
import { StepMessage } from '../../shared/bootstrap/message.js';
import { collections, functionNames } from '../../shared/names.js';
import { version } from '../../shared/version.js';
import { createEngineLab, type EngineLab } from '../laws/engine-lab.js';
import { plinthOf, upgradeMachines } from './machines.js';
import {
  type CloudCallEntry,
  type CommitEntry,
  type Entry,
  type Exchange,
  type MachineEntry,
  readRecording,
  standInUrl,
  textsIn,
  textsSaid,
} from './recording.js';

/** Other ids and addresses than in any recording: what a release learned of the cloud is replaced, as the cloud may change, too. */
const seed = 2;

/** Whether this release takes over after a commit that did these things, which no earlier one of the recordings did. */
export type Chosen = (firsts: readonly string[]) => boolean;

/** What happened to steps, as `removing vm running`, or to jobs of theirs. */
function doings(entry: Entry, state: string): string[] {
  if (entry.kind === 'machine' && entry.asked.op === 'start') return [`${state} job ${entry.asked.job} begun`];
  if (entry.kind !== 'commit') return [];
  return entry.documents.flatMap(({ collection, id, data }) => {
    if (collection !== collections.leases) return [];
    const [step] = (id.split('~')[1] ?? '').split(':');
    return [`${state} ${step} ${data === undefined ? 'ended' : String(data['state'])}`];
  });
}

/** Instances that were done in the end, or when removal was asked for. */
function endsOf(recording: readonly Entry[]): ReadonlySet<string> {
  const ends = new Set<string>();
  for (const entry of recording) {
    if (entry.kind !== 'commit') continue;
    for (const { collection, data } of entry.documents) {
      if (collection !== collections.bootstraps || data === undefined) continue;
      const { instances } = liftBootstrap(data);
      for (const [id, { state }] of Object.entries(instances)) if (state === 'done') ends.add(id);
    }
  }
  return ends;
}

const writeOf = ({ collection, id, data }: CommitEntry['documents'][number]): Write =>
  data === undefined ? { kind: 'delete', collection, id } : { kind: 'set', collection, id, data: { ...data } };

/** A place in a recording: this release takes over after the entry. */
interface Point {
  readonly index: number;
  /** Milliseconds since the epoch. */
  readonly at: number;
  readonly where: string;
}

function pointsOf(recording: readonly Entry[], known: Set<string>, chosen: Chosen): Point[] {
  let commits = 0;
  let state = '';
  let at = 0;
  return recording.flatMap((entry, index): Point[] => {
    if (entry.kind === 'commit') {
      for (const { collection, data } of entry.documents) {
        if (collection === collections.bootstraps && data !== undefined) state = liftBootstrap(data).state;
      }
      commits += 1;
      at = entry.at;
    }
    const firsts = doings(entry, state).filter((each) => !known.has(each));
    for (const each of firsts) known.add(each);
    return (entry.kind === 'commit' || firsts.length > 0) && chosen(firsts)
      ? [{ index, at, where: `after commit ${commits} (${firsts.join(', ')})` }]
      : [];
  });
}

/** What of the recordings is played, and from how many places of each at most, spread evenly. */
export interface Extent {
  readonly chosen: Chosen;
  readonly most: number;
}

/** Returns how often this release took over. */
export async function replay(
  release: string,
  file: string,
  known: Set<string>,
  { chosen, most }: Extent,
): Promise<number> {
  const recording = readRecording(release, file);
  const points = spread(pointsOf(recording, known, chosen), most);
  const lab = await createEngineLab({ seed });
  try {
    const player = createPlayer(lab, {});
    for (const point of points) {
      await player.playTo(recording, point);
      const standing = await lab.save();
      await takeOver(
        lab,
        player.messages,
        { ...point, where: `${release}/${file}, ${point.where}` },
        endsOf(recording),
      );
      await lab.restore(standing);
    }
  } finally {
    await lab.close();
  }
  return points.length;
}

/** With machines, whose state is not saved: each time from the beginning. At most `most` points, spread evenly. */
export async function replayOnMachines(release: string, file: string, chosen: Chosen, most: number): Promise<number> {
  const recording = readRecording(release, file);
  const [world] = recording;
  if (world?.kind !== 'world') throw new Error(`${release}/${file} tells of no machines`);
  const first = recording.findIndex(({ kind }) => kind === 'machine');
  const onMachines = pointsOf(recording, new Set(), chosen).filter(({ index }) => index >= first);
  const points = spread(onMachines, most);
  for (const point of points) {
    const machines = upgradeMachines(world, plinthOf(`${version}, this build`));
    const lab = await createEngineLab({ seed, machines });
    try {
      const player = createPlayer(lab, machines.urls());
      await player.playTo(recording, point);
      const where = `${release}/${file}, ${point.where}`;
      const before = await keptOn(player.hosts, where);
      await takeOver(lab, player.messages, { ...point, where }, endsOf(recording));
      const after = await keptOn(player.hosts, where);
      for (const [what, text] of Object.entries(before)) expect(after[what], `${where}: ${what}`).to.equal(text);
    } finally {
      await lab.close();
      await machines.close();
    }
  }
  return points.length;
}

/** The first and the last are among them. */
const spread = <T>(all: readonly T[], most: number): readonly T[] =>
  all.length <= most
    ? all
    : Array.from({ length: most }, (_, i) => all[Math.round((i * (all.length - 1)) / (most - 1))] as T);

/** Plays entries in their order, each once. */
function createPlayer(lab: EngineLab, urls: Readonly<Record<string, string>>) {
  const learned = new Map<string, string>();
  for (const [what, url] of Object.entries(urls)) learned.set(standInUrl(what), url);
  const messages: StepMessage[] = [];
  const hosts = new Map<string, () => Promise<Host>>();
  let played = 0;

  async function play(recorded: Entry): Promise<void> {
    const entry = inThisCloud(recorded, learned);
    switch (entry.kind) {
      case 'world':
        return;
      case 'call':
        return call(lab, entry, learned);
      case 'machine': {
        const host = (): Promise<Host> => hostOf(lab, entry);
        if (entry.asRoot) hosts.set(entry.request.machine?.name ?? entry.request.jumpbox.name, host);
        return exchange(lab, await host(), entry, learned);
      }
      case 'message':
        return void messages.push(StepMessage.parse(entry.message));
      case 'commit': {
        await lab.store.commit(entry.documents.map(writeOf));
        for (const { collection, data } of entry.documents) {
          if (collection === collections.leases && data !== undefined) liftLease(data);
        }
      }
    }
  }

  return {
    messages,
    /** Those that were reached so far, as root. */
    hosts,
    async playTo(recording: readonly Entry[], { index }: Point): Promise<void> {
      for (const entry of recording.slice(played, index + 1)) await play(entry);
      played = index + 1;
    },
  };
}

/** With what this cloud chose where the recorded one chose something else. */
function inThisCloud(entry: Entry, learned: ReadonlyMap<string, string>): Entry {
  if (learned.size === 0) return entry;
  const olds = [...learned.keys()]
    .sort((one, other) => other.length - one.length)
    .map((old) => old.replace(/[^\w]/g, '\\$&'));
  const whole = new RegExp(`(?<!\\w)(?:${olds.join('|')})(?!\\w)`, 'g');
  return JSON.parse(JSON.stringify(entry).replace(whole, (old) => learned.get(old) ?? old)) as Entry;
}

async function call(lab: EngineLab, asked: CloudCallEntry, learned: Map<string, string>): Promise<void> {
  const { api, method, path, caller, body, type, used } = asked;
  const url = (lab.cloud.endpoints as Readonly<Record<string, string>>)[api];
  if (url === undefined) throw new Error(`the simulated cloud has no ${api} any more`);
  const reply = await fetch(url + path, {
    method,
    headers: {
      authorization: `Bearer ${lab.cloud.identity.accessToken(caller)}`,
      ...(type && { 'content-type': type }),
    },
    ...(body !== '' && { body }),
  });
  const text = await reply.text();
  expect(reply.ok, `${method} ${api}${path}: ${reply.status} ${text}`).to.equal(true);
  if (Object.keys(used).length === 0) return;
  const places = new Map(textsIn(JSON.parse(text)));
  for (const [place, old] of Object.entries(used)) {
    const now = places.get(place);
    if (now === undefined) throw new Error(`${method} ${api}${path} answers nothing at ${place} any more`);
    if (now !== old) learned.set(old, now);
  }
}

async function hostOf(lab: EngineLab, { request, asRoot }: MachineEntry): Promise<Host> {
  const host = await lab.context(functionNames.runHostStep).remote.host(request);
  return asRoot ? host.asRoot() : host;
}

/** What is made once on the machines of a bootstrap: another release goes on with it. Jobs, as none is begun beside its like. */
const kept = `for file in /root/.ssh/id_ed25519 /usr/local/bin/k0s /var/lib/k0s/pki/ca.crt; do
  [ ! -e "$file" ] || sha256sum "$file"
done
[ ! -d /var/lib/plinth/jobs ] || ls /var/lib/plinth/jobs`;

/** By machine and what it is. */
async function keptOn(
  hosts: ReadonlyMap<string, () => Promise<Host>>,
  where: string,
): Promise<Readonly<Record<string, string>>> {
  const found = await Promise.all(
    [...hosts].map(async ([name, host]) => {
      const { exitCode, stdout, stderr } = await (await host()).exec(kept);
      if (exitCode !== 0) throw new Error(`${name}: ${stderr}`);
      return stdout
        .trim()
        .split('\n')
        .filter(Boolean)
        .map((line): [string, string] => {
          const [, hash, path] = /^([0-9a-f]{64}) {2}(.*)$/.exec(line) ?? [];
          // A job is named by its step, its script and how often it was begun.
          return path === undefined
            ? [`${name}, job ${line.replace(/-[0-9a-f]{12}-\d+$/, '')}`, line]
            : [`${name} ${path}`, hash ?? ''];
        });
    }),
  );
  const all = found.flat();
  const twice = all.filter(([what], i) => all.findIndex(([other]) => other === what) !== i);
  expect(twice, `${where}: jobs that were begun beside their like`).to.deep.equal([]);
  return Object.fromEntries(all);
}

const patienceSeconds = 60;

/** Asked until it answers as it did: what comes up by itself on a machine takes its time. */
async function exchange(lab: EngineLab, host: Host, entry: MachineEntry, learned: Map<string, string>): Promise<void> {
  const what = `${host.name}: ${JSON.stringify(entry.asked).slice(0, 500)}`;
  for (let waited = 0; ; waited += 0.25) {
    const said = await ask(lab, host, entry.asked);
    if (said !== undefined) return learn(said);
    if (waited >= patienceSeconds) throw new Error(`${what} does not come to its recorded end`);
    await sleep(250);
  }

  function learn(said: string | Buffer): void {
    const places = new Map(textsSaid(said));
    for (const [place, old] of Object.entries(entry.used)) {
      const now = places.get(place);
      if (now === undefined) throw new Error(`${what} says nothing at ${place} any more`);
      if (now !== old) learned.set(old, now);
    }
  }
}

/** What it said; undefined: not yet as recorded. */
async function ask(lab: EngineLab, host: Host, asked: Exchange): Promise<string | Buffer | undefined> {
  switch (asked.op) {
    case 'exec': {
      const { command, op: _, ...options } = asked;
      const { exitCode, stdout } = await host.exec(command, options);
      return exitCode === 0 ? stdout : undefined;
    }
    case 'upload': {
      const { path, content, mode } = asked;
      await host.upload(path, await withSignedUrl(lab, content), { mode });
      return '';
    }
    case 'install': {
      const { from, path, mode, sha256 } = asked;
      await host.install(from, path, { mode, sha256 });
      return '';
    }
    case 'read':
      return host.read(asked.path);
    case 'start':
      await host.job(asked.job).start(asked.script);
      return '';
    case 'claim':
      await host.job(asked.job).claim(asked.token);
      return '';
    case 'kill':
      await host.job(asked.job).kill();
      return '';
    case 'ended': {
      const { state, exitCode } = await host.job(asked.job).poll(0, { maxBytes: 1 });
      return state === 'exited' && exitCode === asked.exitCode ? '' : undefined;
    }
  }
}

/** A signature of its day opens nothing here. */
async function withSignedUrl(lab: EngineLab, content: string): Promise<string> {
  const [whole, bucket = '', object = ''] =
    /http:[^"\s]*?:\d+\/([^/"?]+)\/([^"?]+)\?[^"]*X-Goog-Signature=[^"]*/.exec(content) ?? [];
  if (whole === undefined) return content;
  const { storage } = lab.context(functionNames.runHostStep).cloud;
  return content.replace(whole, await storage.signedUrl({ bucket, object }, 3600, new Date()));
}

/** A process of this release hears every message of before, and sweep comes for what nobody holds. */
async function takeOver(
  lab: EngineLab,
  messages: readonly StepMessage[],
  { at, where }: Point,
  ends: ReadonlySet<string>,
): Promise<void> {
  const [stored] = await lab.store.query({ collection: collections.bootstraps });
  if (stored === undefined) throw new Error(`${where}: there is no bootstrap`);
  const before = liftBootstrap(stored.data);
  const toGo = before.removal !== undefined || before.state === 'removed';
  lab.revive();
  lab.setTime(at);
  const since = lab.brokenOff.length;
  lab.deliver(messages);
  await lab.drain();
  await lab.recover();
  expect(lab.brokenOff.slice(since), where).to.deep.equal([]);
  const after = await lab.record(stored.id);
  const why = `${where}: ${JSON.stringify(after.problem ?? after.instances)}`;
  expect(after.state, why).to.equal(toGo ? 'removed' : 'succeeded');
  // A making that forgot an option could succeed with less: all that the recorded release made is made here, too.
  const done = Object.keys(after.instances).filter((id) => after.instances[id]?.state === 'done');
  if (!toGo) expect(done, where).to.include.members([...ends]);
  const { tables, documents } = await lab.save();
  const files = documents.filter(({ collection }) => collection === collections.files);
  // Keys in base64 may hold these letters between signs of their own.
  const nothing = /.{0,80}(?:\bundefined\b|(?<![\w+/])NaN(?![\w+/=])).{0,80}/.exec(JSON.stringify([tables, files]));
  expect(nothing?.[0], where).to.equal(undefined);
  const leases = documents.filter(({ collection }) => collection === collections.leases);
  expect(leases, where).to.deep.equal([]);
}
