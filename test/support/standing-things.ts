/** All that stands in the cloud and that a removal could take away, one text for each thing. */
import { expect } from 'chai';
import type { Scene } from './scene.js';
import { askDns, type RecordSet, sharedZone } from './shared-zone.js';

export async function standingThings(scene: Scene): Promise<ReadonlySet<string>> {
  const projects = Object.entries(scene.cloud.world.table<{ state: string }>('projects'));
  const secrets = Object.keys(scene.cloud.world.table('secretmanager.secrets'));
  const { rrsets } = (await askDns(scene, `${sharedZone}/rrsets`)) as unknown as { rrsets: RecordSet[] };
  const policy = scene.cloud.world.policies.get(sharedZone, 3) as { bindings?: { members: string[] }[] };
  return new Set([
    ...projects.flatMap(([id, { state }]) => (state === 'ACTIVE' ? [`project ${id}`] : [])),
    ...secrets.map((path) => `secret ${path.replace(/^.*\//, '')}`),
    ...rrsets.map(({ type, name }) => `${type} record ${name}`),
    ...(policy.bindings ?? []).flatMap(({ members }) => members.map((member) => `role of ${member}`)),
  ]);
}

/** What is gone must stand in the plan, line by line. */
export function expectPlanned(
  before: ReadonlySet<string>,
  after: ReadonlySet<string>,
  lines: readonly string[],
): readonly string[] {
  const gone = [...before].filter((thing) => !after.has(thing));
  const unplanned = gone.filter(
    (thing) => !lines.some((line) => `${line} `.startsWith(`${thing} `) || line.startsWith(`${thing},`)),
  );
  expect(unplanned, lines.join('\n')).to.deep.equal([]);
  return gone;
}
