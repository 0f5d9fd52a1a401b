/** The release before reads what this one writes, so that operators can roll back while bootstraps are under way. */
import { expect } from 'chai';
import type { Document } from '../../functions/store/store.js';
import { collections } from '../../shared/names.js';
import { makeScene, type Scene, succeeded } from '../support/scene.js';
import { readRecording, recordingsOf, releases } from '../upgrade/recording.js';

type Written = Pick<Document, 'collection' | 'data'>;

/** Of each document: its fields, with the JSON types that they hold. */
const fieldsOf = (documents: readonly Written[], collection: string): Map<string, string>[] =>
  documents
    .filter((each) => each.collection === collection)
    .map(
      ({ data }) =>
        new Map(
          Object.entries(data)
            .filter(([, value]) => value !== undefined)
            .map(([name, value]) => [name, Array.isArray(value) ? 'array' : typeof value]),
        ),
    );

describe('a roll-back', () => {
  let scene: Scene;
  before(async () => {
    scene = await makeScene();
  });
  after(() => scene?.close());

  it('finds every field that the last release always wrote, in its type', async () => {
    const alice = await scene.caller();
    succeeded(await alice.bootstrap('compared'));
    const release = releases().at(-1) ?? '';
    const recorded = recordingsOf(release, { machines: false })
      .flatMap((file) => readRecording(release, file))
      .flatMap((entry) => (entry.kind === 'commit' ? entry.documents : []))
      .flatMap(({ collection, data }) => (data === undefined ? [] : [{ collection, data }]));
    const missing = new Set<string>();
    for (const collection of [collections.bootstraps, collections.events, collections.names]) {
      const before = fieldsOf(recorded, collection);
      const now = fieldsOf((await scene.stack.functionsHalf?.store.query({ collection })) ?? [], collection);
      expect(now, collection).not.to.deep.equal([]);
      const always = [...(before[0]?.keys() ?? [])].filter((name) => before.every((each) => each.has(name)));
      expect(always, collection).not.to.deep.equal([]);
      for (const name of always) {
        const types = new Set(before.map((each) => each.get(name)));
        for (const each of now) {
          if (!types.has(each.get(name))) missing.add(`${collection}.${name}: ${each.get(name)}`);
        }
      }
    }
    expect([...missing]).to.deep.equal([]);
  });
});
