/** A world of the engine with a pool: toy steps of which some are prepared, and sweeps that keep the pool. */
import type { Begun } from '../../functions/bootstraps/begin/begin-facts.js';
import { liftBootstrap, read, type StoredBootstrap } from '../../functions/engine/record/documents.js';
import type { AnyStep, StepCall } from '../../functions/engine/step.js';
import { keepPools } from '../../functions/pools/keep.js';
import type { GivenOptions } from '../../shared/bootstrap/options.js';
import { collections } from '../../shared/names.js';
import { toy } from '../engine/toys.js';
import { alice, createWorld, given, type World } from '../engine/world.js';

export const region = 'europe-west4';
export const parent = 'folders/1';

export interface PoolWorld {
  readonly world: World;
  readonly steps: readonly AnyStep[];
  /** Steps whose next runs fail for good. */
  readonly broken: Set<string>;
  /** As Cloud Scheduler has sweep called, until the pool wants nothing more. */
  fill(): Promise<void>;
  keep(): ReturnType<typeof keepPools>;
  begin(name: string, changes?: Partial<GivenOptions>, caller?: typeof alice): Promise<Begun>;
  /** All that are there, also those that nobody may see. */
  records(): Promise<StoredBootstrap[]>;
}

/** Each project has things of its own. */
function own(world: World, name: string, more: object, broken: ReadonlySet<string>): AnyStep {
  const thing = ({ bootstrap }: StepCall) => `${bootstrap.projectId}/${name}`;
  const wanted = ({ bootstrap }: StepCall) => (name === 'project' ? { of: bootstrap.name } : { of: 'everybody' });
  return {
    ...toy(world, name),
    ...more,
    output: toy(world, name).output,
    async observe(call: StepCall) {
      if (broken.has(name)) throw new Error('it is broken');
      const found = world.things.get(thing(call)) as { readonly of: string } | undefined;
      return found?.of === wanted(call).of ? { thing: thing(call), from: call.needs } : undefined;
    },
    async run(call: StepCall) {
      world.make(thing(call), wanted(call));
      return { kind: 'done' };
    },
  } as unknown as AnyStep;
}

export function createPoolWorld(size: number, settings: Readonly<Record<string, string>> = {}): PoolWorld {
  const pool = { parent, billingAccount: given.billingAccount, region, size };
  const world = createWorld({
    PLINTH_PARENTS: parent,
    PLINTH_BILLING_ACCOUNTS: '*',
    PLINTH_POOLS: JSON.stringify([pool]),
    ...settings,
  });
  const projects = {
    find: async (projectId: string) =>
      world.things.has(`${projectId}/project`) ? { projectId, state: 'ACTIVE' } : undefined,
  };
  Object.assign(world.context.cloud, { projects });
  const broken = new Set<string>();
  const policies = own(world, 'policies', { prepares: 'again' }, broken);
  const project = own(world, 'project', { prepares: 'again', needs: { policies } }, broken);
  const network = own(world, 'network', { prepares: 'kept', needs: { project } }, broken);
  const vm = own(world, 'vm', { needs: { network, project } }, broken);
  const steps = [policies, project, network, vm];
  const poolWorld: PoolWorld = {
    world,
    steps,
    broken,
    async fill() {
      for (let run = 0; run < 100; run++) {
        const { made } = await poolWorld.keep();
        await world.drain(steps);
        if (made === 0) return;
      }
      throw new Error('the pool is never full');
    },
    keep: () => keepPools(world.context),
    begin: (name, changes = {}, caller = alice) =>
      world.begin(steps, { projectName: name, region, ...changes }, caller),
    async records() {
      const found = await world.store.query({ collection: collections.bootstraps });
      return found.flatMap((document) => read(document, liftBootstrap) ?? []);
    },
  };
  return poolWorld;
}
