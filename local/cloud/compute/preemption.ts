/** Spot VMs that Google takes away by chance, within an hour of running. */
import type { JsonObject, Served, World } from '../kernel/api.js';
import { objectOf, textOf } from '../kernel/json-fields.js';
import { chanceOf } from '../worlds/settings.js';
import { preempt } from './instance-life.js';
import { collections, held } from './resources.js';

const { instances } = collections;

const takeAway = (args: JsonObject, world: World): void => {
  const target = textOf(args['target']) ?? '';
  const resource = held(world, instances)[target]?.resource;
  if (resource?.['id'] === args['id'] && resource?.['status'] === 'RUNNING') preempt(world, target);
};

/** Draws for a VM that begins to run. Draws nothing in a world without preemption. */
const draw = (args: JsonObject, world: World): void => {
  const chance = chanceOf(world, 'preemption');
  const resource = held(world, instances)[textOf(args['target']) ?? '']?.resource;
  if (chance === 0 || objectOf(resource?.['scheduling'])?.['preemptible'] !== true) return;
  if (world.random() >= chance) return;
  world.schedule(3600 * world.random(), 'compute.instances.takeAway', args, { exact: true });
};

export const servedPreemption: Served = {
  handlers: {},
  effects: { 'compute.instances.drawPreemption': draw, 'compute.instances.takeAway': takeAway },
};
