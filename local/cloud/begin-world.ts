/** Makes the simulated cloud one of its worlds, at its start and while it runs. */
import type { World } from './kernel/api.js';
import { writeWorldPolicies } from './org-policy/policies.js';
import { type ConstraintName, isConstraint } from './worlds/constraints.js';
import { changeSettings, chooseWorld, readSettings, type WorldSettings, worldName } from './worlds/settings.js';
import type { WorldName } from './worlds/table.js';

/** The constraints among the keys of settings. */
const constraintsIn = (settings: WorldSettings): ConstraintName[] =>
  Object.keys(settings)
    .map((key) => key.replace(/^policy\./, ''))
    .filter(isConstraint);

/** Changes the world, or single settings of it. Policies are in force at once. */
export function changeWorld(world: World, name: WorldName | undefined, given: WorldSettings = {}): void {
  const settings = readSettings(given);
  const changes = name !== undefined && name !== worldName(world);
  if (name !== undefined) chooseWorld(world, name);
  changeSettings(world, settings);
  writeWorldPolicies(world, changes ? undefined : constraintsIn(settings));
}

/** A cloud that goes on from a snapshot keeps its world and its policies, unless it is told otherwise. */
export function beginWorld(world: World, name: WorldName | undefined, given: WorldSettings | undefined): void {
  const isNew = Object.keys(world.table('world')).length === 0;
  changeWorld(world, name, given);
  if (isNew) writeWorldPolicies(world);
}
