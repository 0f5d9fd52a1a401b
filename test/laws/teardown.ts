/**
 * The laws of teardown, over the whole bootstrap and the engine itself: interrupted before or after any cloud call, begun at any
 * moment of the making, or after a process died in it, it ends removed; nothing is left, nothing goes twice, nothing else is
 * touched. The short and the long test differ in how many moments they try, and of which projects.
 */
import { expect } from 'chai';
import { local } from '../../local/stack/deployment.js';
import type { GivenOptions } from '../../shared/bootstrap/options.js';
import { collections } from '../../shared/names.js';
import { keysAtHand } from '../install-config/made-bootstrap.js';
import { createEngineLab, type EngineLab, type Saved } from './engine-lab.js';
import { inventory } from './inventory.js';

/** Whether the n-th of `of` moments is tried. */
export type Chosen = (nth: number, of: number) => boolean;

type Variant = readonly [name: string, options: Partial<GivenOptions>];

export const ownZone: Variant = ['with a zone of its own', {}];
/** What it leaves in projects that stay has to be undone as well. */
export const sharedZone: Variant = [
  'with a zone in a shared DNS project',
  { dnsProjectId: local.dnsProject, dnsZoneName: 'shared', cloudAcmeIssuer: true },
];

type Inventory = Record<string, unknown>;

export function teardownEnds(variants: readonly Variant[], chosen: Chosen): void {
  for (const [name, options] of variants) {
    describe(`teardown ${name}`, function () {
      this.timeout(1_200_000);
      let lab: EngineLab;
      let empty: Saved;
      let made: Saved;
      let id: string;
      let projectId: string;
      /** Without the bootstrap. */
      let clean: Inventory;
      let makingCalls: number;

      before(async function () {
        await keysAtHand.call(this);
        lab = await createEngineLab();
        // What is there already, and must not be touched.
        await lab.begin('bystander', { ...options, baseDomain: 'example.com' });
        await lab.drain();
        clean = inventory(lab.cloud);
        empty = await lab.save();
        const since = lab.cloud.calls.last();
        ({ id, projectId } = await begun());
        await lab.drain();
        makingCalls = lab.cloud.calls.last() - since;
        expect((await lab.record(id)).state).to.equal('succeeded');
        made = await lab.save();
      });
      after(() => lab?.close());

      async function begun(): Promise<{ id: string; projectId: string }> {
        const id = await lab.begin('torn-down', options);
        return { id, projectId: (await lab.record(id)).projectId };
      }

      /** Its project is on its way out, or was never made; all else is as it was without it. */
      async function expectGone(where: string, id: string, projectId: string, since: number): Promise<void> {
        const record = await lab.record(id);
        const why = `${where}: ${JSON.stringify(record.problem ?? record.instances)}`;
        expect(record.state, why).to.equal('removed');
        const project = lab.cloud.world.table('projects')[projectId];
        expect([undefined, 'DELETE_REQUESTED'], where).to.include(project?.['state']);
        expect(project?.['billingAccountName'] ?? '', where).to.equal('');
        expect(others(inventory(lab.cloud), projectId), where).to.deep.equal(others(clean, projectId));
        const deletions = lab.cloud.calls
          .list({ since, method: 'cloudresourcemanager.projects.delete' })
          .filter(({ status, message }) => status < 300 || message === undefined);
        expect(deletions.length, `${where}: deletions`).to.be.at.most(1);
        for (const collection of [collections.leases, collections.files]) {
          const left = await lab.store.query({ collection, where: [['bootstrapId', '==', id]] });
          expect(left, `${where}: ${collection}`).to.deep.equal([]);
        }
      }

      it('interrupted before or after any cloud call, ends removed', async () => {
        await lab.restore(made);
        const since = lab.cloud.calls.last();
        await lab.remove(id);
        await lab.drain();
        await expectGone('not interrupted', id, projectId, since);
        const calls = lab.cloud.calls.last() - since;
        expect(calls).to.be.greaterThan(8);
        for (let nth = 1; nth <= calls; nth++) {
          if (!chosen(nth, calls)) continue;
          for (const when of ['before', 'after'] as const) {
            await lab.restore(made);
            const from = lab.cloud.calls.last();
            lab.die({ nth, when });
            await lab.remove(id);
            await lab.drain();
            await lab.recover();
            const method = lab.cloud.calls.list({ since: from })[nth - 1]?.method;
            await expectGone(`${when} call ${nth}, ${method}`, id, projectId, from);
          }
        }
      });

      it('asked for at any moment of the making, ends removed', async () => {
        for (let nth = 1; nth <= makingCalls; nth++) {
          if (!chosen(nth, makingCalls)) continue;
          await lab.restore(empty);
          const from = lab.cloud.calls.last();
          const { id, projectId } = await begun();
          lab.at(nth, () => lab.remove(id));
          await lab.drain();
          await lab.remove(id);
          await lab.drain();
          const method = lab.cloud.calls.list({ since: from })[nth - 1]?.method;
          await expectGone(`at call ${nth}, ${method}`, id, projectId, from);
        }
      });

      it('after a process died in the making, ends removed', async () => {
        for (let nth = 1; nth <= makingCalls; nth++) {
          if (!chosen(nth, makingCalls)) continue;
          for (const when of ['before', 'after'] as const) {
            await lab.restore(empty);
            const from = lab.cloud.calls.last();
            const { id, projectId } = await begun();
            lab.die({ nth, when });
            await lab.drain();
            lab.cloud.faults.clear();
            lab.revive();
            await lab.remove(id);
            await lab.recover();
            const method = lab.cloud.calls.list({ since: from })[nth - 1]?.method;
            await expectGone(`${when} call ${nth}, ${method}`, id, projectId, from);
          }
        }
      });
    });
  }
}

/** Without what is the project's own: it goes with it, in thirty days. */
function others(found: Inventory, projectId: string): Inventory {
  const isOthers = (entry: unknown): boolean => !JSON.stringify(entry).includes(projectId);
  return Object.fromEntries(
    Object.entries(found).flatMap(([name, entries]) => {
      const kept = (entries as unknown[]).filter(isOthers);
      return kept.length === 0 ? [] : [[name, kept]];
    }),
  );
}
