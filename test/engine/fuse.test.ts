/** Warnings of bootstraps that come to cost more than they were admitted for. Their VMs stand in the records. */
import { readFileSync } from 'node:fs';
import { setImmediate } from 'node:timers/promises';
import { expect } from 'chai';
import * as z from 'zod';
import { lookAtFuses, setFuses } from '../../functions/bootstraps/budget/enforce.js';
import { protect, unprotect } from '../../functions/bootstraps/lifetime/lifetime.js';
import { lookAgain } from '../../functions/bootstraps/lifetime/look-again.js';
import type { Config } from '../../functions/config.js';
import {
  eventId,
  leaseId,
  liftBootstrap,
  read,
  type StoredBootstrap,
} from '../../functions/engine/record/documents.js';
import { readyLease } from '../../functions/engine/record/transition.js';
import type { AnyStep, Needs, StepCall } from '../../functions/engine/step.js';
import { vmsOf } from '../../functions/steps/topology.js';
import type { GivenOptions } from '../../shared/bootstrap/options.js';
import { collections } from '../../shared/names.js';
import type { Problem } from '../../shared/problems.js';
import { acceptOptions } from '../support/accept-options.js';
import { letters, toy } from './toys.js';
import { createWorld, given, Killed, type World } from './world.js';

describe('the fuse', () => {
  let world: World;
  const steps = () => [toy(world, 'project', {}), toy(world, 'vm', { each: letters })];

  /** All VMs of the plan, as this kind; what they cost is to be looked at. */
  async function made(settings: Record<string, string>, provisioning: string, options: GivenOptions = {}) {
    world = createWorld(settings);
    const { bootstrap } = await world.begin(steps(), { spotVms: true, projectTtl: '8h', ...options });
    await world.drain(steps());
    const { data } = await world.read(bootstrap.id);
    expect(data.fuseAt, 'a VM that is made is looked at').to.be.a('string');
    const vms = vmsOf(acceptOptions({ ...given, ...options }).options).map(({ name, machineType }) => [
      `vm:${name}`,
      {
        state: 'done',
        attempt: 0,
        output: {
          name,
          zone: 'europe-west4-a',
          machineType,
          internalIp: '10.10.0.2',
          provisioning,
          createdAt: data.createdAt,
        },
      },
    ]);
    const instances = { ...data.instances, ...Object.fromEntries(vms) };
    const { bootstraps: collection } = collections;
    await world.store.commit([{ kind: 'update', collection, id: bootstrap.id, data: { instances } }]);
    return bootstrap.id;
  }
  /** What is told each quarter of an hour of that time. */
  async function told(id: string, hours: number): Promise<string[]> {
    for (let i = 0; i < hours * 4; i++) {
      await lookAtFuses(world.context);
      world.pass(900);
    }
    const { data } = await world.read(id);
    const ids = Array.from({ length: data.events }, (_, i) => eventId(id, i + 1));
    return (await world.store.getMany(collections.events, ids)).flatMap((document) => {
      const event = document?.data['event'] as { type: string; actor: string; action: string };
      return event.type === 'action' && event.actor === 'plinth' ? [event.action] : [];
    });
  }

  it('warns once when standard VMs in place of spot ones have cost what was admitted', async () => {
    const id = await made({ PLINTH_USD_PER_MONTH: '500' }, 'fallback');
    const early = await told(id, 3);
    expect(early).to.deep.equal([]);
    const { data } = await world.read(id);
    const hours = (Date.parse(data.fuseAt ?? '') - Date.parse(data.createdAt)) / 3_600_000;
    // Spot VMs are admitted at about 1.09 USD an hour for 8 hours. Standard ones without the addresses cost about 2.08.
    expect(hours).to.be.within(4, 4.5);
    const texts = await told(id, 3);
    expect(texts).to.have.length(1);
    expect(texts[0]).to.match(/^The project has cost 8\.\d+ USD by the estimate, and was admitted for 8\.\d+\.$/);
    const after = await world.read(id);
    expect(after.data.fuseAt).to.equal(undefined);
    expect(after.data.warnings.join()).to.contain('was admitted for');
    expect(await told(id, 1)).to.have.length(1);
  });

  it('looks at a VM that waits for its next holder once more before its VMs are stopped', async () => {
    const id = await made({ PLINTH_USD_PER_HOUR: '1.5', PLINTH_BEYOND_CEILING: 'stop' }, 'fallback');
    const { data } = await world.read(id);
    const instances = { ...data.instances, 'vm:a': { state: 'ready', attempt: 0 } };
    const change = { state: 'running', endedAt: undefined, fuseAt: data.createdAt, instances };
    const lease = { ...readyLease(id, data.generation, { id: 'vm:a', lane: 'cloud' }, data.createdAt), number: 1 };
    await world.store.commit([
      { kind: 'update', collection: collections.bootstraps, id, data: change },
      { kind: 'create', collection: collections.leases, id: leaseId(id, 'vm:a'), data: lease },
    ]);
    await lookAtFuses(world.context);
    await world.drain([toy(world, 'vm', { each: letters, unfinished: async () => ({ machineType: 'e2-small' }) })]);
    const after = await world.read(id);
    expect(after.data.state).to.equal('cancelled');
    expect(after.data.instances['vm:a']).to.deep.include({
      state: 'cancelled',
      unfinished: { machineType: 'e2-small' },
    });
  });

  it('counts a protection as long as it lasts, and no longer', async () => {
    const id = await made({ PLINTH_USD_PER_MONTH: '500' }, 'fallback');
    const { data } = await world.read(id);
    const until = new Date(Date.parse(data.createdAt) + 40 * 3_600_000).toISOString();
    const owner = { email: data.owner, operator: false };
    await protect(world.context, steps(), id, owner, { until, reason: 'a demo' });
    // Admitted for 40 hours now, so at twice the price it may go on for about 20.
    expect(await told(id, 6)).to.deep.equal([]);
    await unprotect(world.context, steps(), id, data.owner);
    expect(await told(id, 1)).to.have.length(1);
  });

  it('says nothing of one that is unprotected after its deadline, because cleanup is about to remove it', async () => {
    const id = await made({ PLINTH_USD_PER_MONTH: '500' }, 'fallback');
    const { data } = await world.read(id);
    const until = new Date(Date.parse(data.createdAt) + 40 * 3_600_000).toISOString();
    await protect(world.context, steps(), id, { email: data.owner, operator: false }, { until, reason: 'a demo' });
    expect(await told(id, 9)).to.deep.equal([]);
    await unprotect(world.context, steps(), id, data.owner);
    expect(await told(id, 1)).to.deep.equal([]);
  });

  it('warns at once where it costs more an hour than it may', async () => {
    const id = await made({ PLINTH_USD_PER_HOUR: '1.5' }, 'fallback');
    expect((await told(id, 1))[0]).to.match(/^The project costs 2\.\d+ USD an hour, and 1\.50 is the most here\.$/);
  });

  it('warns of each of two ceilings, once', async () => {
    const id = await made({ PLINTH_USD_PER_HOUR: '1.5', PLINTH_USD_PER_MONTH: '500' }, 'fallback');
    expect(await told(id, 1)).to.have.length(1);
    const texts = await told(id, 6);
    expect(texts).to.have.length(2);
    expect(texts[0]).to.contain('is the most here');
    expect(texts[1]).to.match(/^The project has cost 8\.\d+ USD by the estimate, and was admitted for 8\.\d+\.$/);
    expect(await told(id, 2)).to.have.length(2);
  });

  it('warns of a ceiling that is set later and is passed already, once, though another was told', async () => {
    const id = await made({ PLINTH_USD_PER_HOUR: '1.5' }, 'fallback');
    expect(await told(id, 6)).to.have.length(1);
    Object.assign(world.context.config.ceilings, { monthOfOwner: 500_000_000 });
    for (const again of ['by the next look', 'and not by later ones']) {
      await setFuses(world.context, [await world.read(id)]);
      const texts = await told(id, 0.5);
      expect(texts, again).to.have.length(2);
      expect(texts[1]).to.contain('was admitted for');
    }
  });

  it('does not warn of what costs no more than it was admitted for, or where nothing limits it', async () => {
    const spot = await made({ PLINTH_USD_PER_MONTH: '500', PLINTH_USD_PER_HOUR: '1.5' }, 'spot');
    expect(await told(spot, 9)).to.deep.equal([]);
    const free = await made({}, 'fallback');
    expect(await told(free, 9)).to.deep.equal([]);
    expect((await world.read(free)).data.fuseAt).to.equal(undefined);
  });

  it('that can’t be looked at is logged in words that an alert of its own counts, and the others are looked at', async () => {
    const settings = { PLINTH_USD_PER_HOUR: '1.5' };
    const id = await made(settings, 'fallback');
    const { bootstrap: broken } = await world.begin(steps(), { projectName: 'broken', spotVms: true });
    const fuseAt = world.context.clock.now().toISOString();
    const { bootstraps: collection } = collections;
    // A release that is gone wrote what this one can't read.
    const data = { fuseAt, price: 'unreadable' };
    await world.store.commit([{ kind: 'update', collection, id: broken.id, data }]);
    expect(await told(id, 1)).to.have.length(1);
    const errors = world.logs.filter(({ severity }) => severity === 'ERROR').map(({ message }) => message);
    expect(errors).to.deep.equal([`What ${broken.id} costs could not be found out`]);
    const metrics = readFileSync('terraform/metrics.tf', 'utf8');
    const counted = [...metrics.matchAll(/^ {4}(\w+) = \{[^}]*severity {4}= "ERROR"\n +pattern {5}= "(.*)"/gm)].filter(
      ([, , pattern = '']) => new RegExp(pattern).test(errors[0] ?? ''),
    );
    expect(counted.map(([, name]) => name)).to.deep.equal(['fuse_failures']);
  });

  describe('that a new ceiling sets', () => {
    const teamId = 7;
    const organizationId = '6f1d8a52-3c0e-4b7a-9d21-5e8f7a6b4c30';
    const createdAt = '2026-11-01T00:00:00.000Z';

    /** Bootstraps of one team that nothing limits, as the hourly search reads them. */
    async function unlimited(count: number): Promise<StoredBootstrap[]> {
      const id = await made({}, 'fallback');
      const { data } = await world.read(id);
      const { bootstraps: collection } = collections;
      for (let i = 0; i < count; i++) {
        const copy = { ...data, id: `copy-${i}`, team: teamId, fuseAt: undefined };
        await world.store.commit([{ kind: 'create', collection, id: copy.id, data: copy }]);
      }
      const found = await world.store.query({ collection, where: [['team', '==', teamId]] });
      return found.flatMap((document) => read(document, liftBootstrap) ?? []);
    }
    async function inOrganization(usdPerMonth: string | undefined, teams: number): Promise<void> {
      const organization = {
        schema: 1,
        id: organizationId,
        name: 'acme',
        createdAt,
        ceilings: { living: 90, usdPerMonth },
      };
      const { organizations, teams: collection } = collections;
      await world.store.commit([{ kind: 'create', collection: organizations, id: organizationId, data: organization }]);
      for (let id = teamId; id < teamId + teams; id++) {
        const team = {
          schema: 1,
          teamId: id,
          name: 'a',
          organizationId,
          createdAt,
          changes: 0,
          admins: 1,
          members: 1,
          holds: true,
        };
        await world.store.commit([{ kind: 'create', collection, id: String(id), data: team }]);
      }
    }
    const fuses = async (living: readonly StoredBootstrap[]) =>
      (await Promise.all(living.map(({ id }) => world.read(id)))).filter(({ data }) => data.fuseAt !== undefined)
        .length;

    for (const [of, usdPerMonth] of [
      ['that limits months', '500'],
      ['that limits none', undefined],
    ] as const) {
      it(`reads its team and the organization ${of}, each once, and none of the other teams`, async () => {
        const living = await unlimited(5);
        await inOrganization(usdPerMonth, 9);
        const before = world.counts.reads;
        await setFuses(world.context, living);
        expect(world.counts.reads - before).to.equal(2);
        expect(await fuses(living)).to.equal(usdPerMonth === undefined ? 0 : 5);
      });
    }

    it('is written where its team limits its own months', async () => {
      const living = await unlimited(1);
      await inOrganization(undefined, 1);
      const data = { ceilings: { usdPerMonth: '500' } };
      await world.store.commit([{ kind: 'update', collection: collections.teams, id: String(teamId), data }]);
      await setFuses(world.context, living);
      expect(await fuses(living)).to.equal(1);
    });

    it('is written for 20 at once', async () => {
      const living = await unlimited(45);
      Object.assign(world.context.config.ceilings, { monthOfOwner: 500_000_000 });
      const { store } = world.context;
      let now = 0;
      let most = 0;
      const counting: typeof store = {
        ...store,
        async commit(writes) {
          now += 1;
          most = Math.max(most, now);
          await setImmediate();
          now -= 1;
          return store.commit(writes);
        },
      };
      await setFuses({ ...world.context, store: counting }, living);
      expect(most).to.equal(20);
      expect(await fuses(living)).to.equal(45);
    });

    it('is written for others where one cannot be looked at, which is logged as in sweep', async () => {
      const living = await unlimited(3);
      Object.assign(world.context.config.ceilings, { monthOfOwner: 500_000_000 });
      const { store } = world.context;
      const failing: typeof store = {
        ...store,
        async commit(writes) {
          if (writes.some(({ id }) => id === 'copy-1')) throw new Error('the store is in trouble');
          return store.commit(writes);
        },
      };
      await setFuses({ ...world.context, store: failing }, living);
      expect(await fuses(living)).to.equal(2);
      const errors = world.logs.filter(({ severity }) => severity === 'ERROR').map(({ message }) => message);
      expect(errors).to.deep.equal(['What copy-1 costs could not be found out']);
    });
  });

  describe('that stops VMs', () => {
    const stop = {
      PLINTH_BEYOND_CEILING: 'stop',
      PLINTH_USD_PER_HOUR: '1.5',
      PLINTH_WEBHOOK_URL: 'https://hook.example',
    };
    /** A VM that runs or is stopped, as the record wants it. */
    const vm = (needs: Needs = {}): AnyStep => {
      const thing = ({ key }: StepCall) => `vm:${key}`;
      const isWanted = ({ bootstrap, key }: StepCall) =>
        world.things.get(`vm:${key}`) === (bootstrap.vmsStopped ? 'stopped' : 'running');
      const step = {
        ...toy(world, 'vm', { each: vms, needs }),
        output: z.looseObject({ name: z.string() }),
        async observe(call: StepCall) {
          if (!isWanted(call)) return undefined;
          const { vmsStopped } = call.bootstrap;
          return { ...seen(call.key), ...(vmsStopped ? { stopped: true } : {}) };
        },
        async run(call: StepCall) {
          if (!isWanted(call)) world.make(thing(call), call.bootstrap.vmsStopped ? 'stopped' : 'running');
          return { kind: 'done' };
        },
      };
      return step as unknown as AnyStep;
    };
    const vms = { of: 'vms', keys: () => ['jumpbox', 'k0s-1', 'k0s-2', 'k0s-3'] };
    const seen = (name: string) => ({
      name,
      zone: 'europe-west4-a',
      machineType: 'e2-standard-16',
      internalIp: '10.10.0.2',
      provisioning: 'fallback',
      createdAt: new Date().toISOString(),
    });
    const file = (): AnyStep => toy(world, 'file', { run: async () => ({ kind: 'needsClient', what: 'a file' }) });
    const all = (waits: boolean) => [toy(world, 'project', {}), vm(), ...(waits ? [file()] : [])];

    const running = async (waits: boolean, settings: Record<string, string> = stop) => {
      world = createWorld(settings);
      const { bootstrap } = await world.begin(all(waits), { spotVms: true, projectTtl: '8h' });
      await world.drain(all(waits));
      expect((await world.read(bootstrap.id)).data.state).to.equal(waits ? 'running' : 'succeeded');
      return bootstrap.id;
    };
    /** Sweeps and deliveries until nothing is due any more. */
    async function settle(waits: boolean): Promise<void> {
      for (let i = 0; i < 4; i++) {
        await lookAtFuses(world.context);
        await world.sweep();
        await world.drain(all(waits));
        world.pass(60);
      }
    }
    const notices = async () => (await world.store.query({ collection: collections.notices })).length;
    const areAll = (state: 'stopped' | 'running') =>
      vms.keys().every((name) => world.things.get(`vm:${name}`) === state);
    const isDown = () => areAll('stopped');
    /** As an operator who deploys other settings. */
    const deploy = (ceilings: Partial<Config['ceilings']>) => Object.assign(world.context.config.ceilings, ceilings);
    const restart = (id: string) =>
      lookAgain(
        world.context,
        all(false),
        id,
        { actor: 'alice@example.com', action: 'restart-vms' },
        { step: 'vm', what: 'VM' },
      );
    /** Cleanup's hourly look, and the sweeps after it: the state of all VMs, and how often people were told. */
    async function lookedAt(id: string): Promise<[string, number]> {
      await setFuses(world.context, [await world.read(id)]);
      await settle(false);
      return [isDown() ? 'stopped' : areAll('running') ? 'running' : 'mixed', (await told(id, 0)).length];
    }

    it('stops each once and tells it once where two sweeps look at the same moment', async () => {
      const id = await running(false);
      for (let i = 0; i < 4; i++) {
        await Promise.all([lookAtFuses(world.context), lookAtFuses(world.context), lookAtFuses(world.context)]);
        await Promise.all([world.sweep(), world.sweep()]);
        await world.drain(all(false));
        world.pass(60);
      }
      expect(isDown()).to.equal(true);
      expect(vms.keys().map((name) => world.made.get(`vm:${name}`))).to.deep.equal([2, 2, 2, 2]);
      expect(await told(id, 0)).to.have.length(1);
      expect(await notices()).to.equal(1);
      const { data } = await world.read(id);
      expect(data.warnings.filter((each) => each.includes('is the most here'))).to.have.length(1);
      expect(data.pauses?.map(({ vm }) => vm).sort()).to.deep.equal(vms.keys());
    });

    for (const waits of [false, true]) {
      it(`stops each once and tells it once, killed at any write, ${waits ? 'under way' : 'at its end'}`, async function () {
        this.timeout(60_000);
        await running(waits);
        world.revive();
        await settle(waits);
        const calls = world.calls();
        expect(calls).to.be.above(20);
        for (let call = 1; call <= calls; call++) {
          for (const when of ['before', 'after'] as const) {
            const id = await running(waits);
            world.revive();
            world.kill({ call, when });
            await settle(waits).catch((error: unknown) => {
              if (!(error instanceof Killed)) throw error;
            });
            world.revive();
            // The lease of whoever was killed runs out.
            world.pass(120);
            await settle(waits);
            const { data } = await world.read(id);
            const at = `killed ${when} call ${call}`;
            expect(isDown(), at).to.equal(true);
            expect(data.state, at).to.equal(waits ? 'cancelled' : 'succeeded');
            expect(data.pauses?.map(({ vm }) => vm).sort(), at).to.deep.equal(vms.keys());
            expect(
              vms.keys().map((name) => world.made.get(`vm:${name}`)),
              at,
            ).to.deep.equal([2, 2, 2, 2]);
            expect(await told(id, 0), at).to.have.length(1);
            expect(await notices(), at).to.equal(1);
            expect(data.fuseAt, at).to.equal(undefined);
          }
        }
      });
    }

    it('refuses to start them while they are on their way down, and starts them beneath a higher ceiling', async () => {
      const id = await running(false);
      await lookAtFuses(world.context);
      const refused = async () => ((await restart(id).catch((error: unknown) => error)) as Problem).code;
      expect(await refused()).to.equal('conflict');
      await settle(false);
      expect(isDown()).to.equal(true);
      expect(await refused()).to.equal('over-ceiling');
      Object.assign(world.context.config.ceilings, { microsAnHour: 9_000_000 });
      await restart(id);
      const { data } = await world.read(id);
      expect(data.vmsStopped).to.equal(undefined);
      expect(data.fuseAt, 'it is looked at anew').to.be.a('string');
      expect(data.price?.microsAnHour, 'it is admitted at what it really costs').to.be.above(1_500_000);
      expect(data.pauses?.every(({ until }) => until !== undefined)).to.equal(true);
    });

    it('stops within the hour what was only warned of, once the deployment stops VMs', async () => {
      const id = await running(false, { ...stop, PLINTH_BEYOND_CEILING: 'warn' });
      await settle(false);
      expect(await lookedAt(id), 'told once').to.deep.equal(['running', 1]);
      deploy({ beyond: 'stop' });
      expect(await lookedAt(id)).to.deep.equal(['stopped', 2]);
    });

    it('looks within the hour at a ceiling that is lowered again after VMs were started beneath a higher one', async () => {
      const id = await running(false);
      expect(await lookedAt(id)).to.deep.equal(['stopped', 1]);
      deploy({ microsAnHour: 9_000_000 });
      await restart(id);
      expect(await lookedAt(id)).to.deep.equal(['running', 1]);
      // Where it only warns, too, whoever was told is told of the lower one.
      deploy({ beyond: 'warn', microsAnHour: 1_500_000 });
      expect(await lookedAt(id)).to.deep.equal(['running', 2]);
      expect(await notices()).to.equal(2);
    });

    it('only warns where it is to warn: once of each ceiling that is raised and lowered', async () => {
      const id = await running(false, { ...stop, PLINTH_BEYOND_CEILING: 'warn' });
      expect(await lookedAt(id)).to.deep.equal(['running', 1]);
      deploy({ microsAnHour: 9_000_000 });
      expect(await lookedAt(id)).to.deep.equal(['running', 1]);
      deploy({ microsAnHour: 1_500_000 });
      expect(await lookedAt(id)).to.deep.equal(['running', 2]);
      expect(await lookedAt(id)).to.deep.equal(['running', 2]);
      expect(await notices()).to.equal(2);
    });

    it('only warns where it is to warn: once, although its VMs are looked at again', async () => {
      const id = await running(false, { ...stop, PLINTH_BEYOND_CEILING: 'warn' });
      expect(await lookedAt(id)).to.deep.equal(['running', 1]);
      await restart(id);
      expect(await lookedAt(id)).to.deep.equal(['running', 1]);
      const { data } = await world.read(id);
      expect(data.warnings.filter((each) => each.includes('is the most here'))).to.have.length(1);
      expect(await notices()).to.equal(1);
    });

    it('looks within the hour at a ceiling that is lowered while it would be passed hours later', async () => {
      const { PLINTH_USD_PER_HOUR: _, ...unlimited } = stop;
      const id = await running(false, { ...unlimited, PLINTH_USD_PER_MONTH: '500' });
      await settle(false);
      const { fuseAt = '' } = (await world.read(id)).data;
      const now = world.context.clock.now().getTime();
      expect(Date.parse(fuseAt) - now, 'as far as its month goes').to.be.above(2 * 3_600_000);
      expect(await lookedAt(id)).to.deep.equal(['running', 0]);
      expect((await world.read(id)).data.fuseAt, 'the hourly look changes nothing').to.equal(fuseAt);
      deploy({ microsAnHour: 1_500_000 });
      expect(await lookedAt(id)).to.deep.equal(['stopped', 1]);
    });
  });
});
