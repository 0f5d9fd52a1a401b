/** Plays recordings into the simulated cloud and a store, and lets this release take over after a commit. */
import { expect } from 'chai';
import { liftBootstrap, liftLease } from '../../functions/engine/record/documents.js';
import type { Write } from '../../functions/store/store.js';
import { StepMessage } from '../../shared/bootstrap/message.js';
import { collections } from '../../shared/names.js';
import { createEngineLab, type EngineLab } from '../laws/engine-lab.js';
import { type CloudCallEntry, type CommitEntry, type Entry, readRecording, textsIn } from './recording.js';

/** Other ids and addresses than in any recording: what a release learned of the cloud is replaced, as the cloud may change, too. */
const seed = 2;

/** Whether this release takes over after a commit that did these things, which no earlier one of the recordings did. */
export type Chosen = (firsts: readonly string[]) => boolean;

/** What happened to steps, as `removing vm running`. */
function doings(commit: CommitEntry, state: string): string[] {
  return commit.documents.flatMap(({ collection, id, data }) => {
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

/** Returns after how many commits this release took over. */
export async function replay(release: string, file: string, known: Set<string>, chosen: Chosen): Promise<number> {
  const lab = await createEngineLab({ seed });
  const learned = new Map<string, string>();
  const messages: StepMessage[] = [];
  let taken = 0;
  let commits = 0;
  let state = '';
  try {
    const recording = readRecording(release, file);
    const ends = endsOf(recording);
    for (const recorded of recording) {
      const entry = inThisCloud(recorded, learned);
      if (entry.kind === 'call') {
        await call(lab, entry, learned);
      } else if (entry.kind === 'message') {
        messages.push(StepMessage.parse(entry.message));
      } else {
        await lab.store.commit(entry.documents.map(writeOf));
        for (const { collection, data } of entry.documents) {
          if (data === undefined) continue;
          if (collection === collections.bootstraps) state = liftBootstrap(data).state;
          if (collection === collections.leases) liftLease(data);
        }
        commits += 1;
        const firsts = doings(entry, state).filter((each) => !known.has(each));
        for (const each of firsts) known.add(each);
        if (!chosen(firsts)) continue;
        const standing = await lab.save();
        await takeOver(
          lab,
          entry.at,
          messages,
          ends,
          `${release}/${file}, after commit ${commits} (${firsts.join(', ')})`,
        );
        await lab.restore(standing);
        taken += 1;
      }
    }
  } finally {
    await lab.close();
  }
  return taken;
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

/** A process of this release hears every message of before, and sweep comes for what nobody holds. */
async function takeOver(
  lab: EngineLab,
  at: number,
  messages: readonly StepMessage[],
  ends: ReadonlySet<string>,
  where: string,
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
  expect(JSON.stringify([tables, files]), where).not.to.match(/\b(?:undefined|NaN)\b/);
  const leases = documents.filter(({ collection }) => collection === collections.leases);
  expect(leases, where).to.deep.equal([]);
}
