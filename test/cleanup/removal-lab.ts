/** One bootstrap in a lab, made once: each test removes it in its own way, from the same saved world. */
import { expect } from 'chai';
import { cleanup } from '../../functions/cleanup/cleanup.js';
import { findProofKey, proofOf } from '../../functions/engine/proof.js';
import type { BootstrapRecord } from '../../functions/engine/record/documents.js';
import { stepsOf } from '../../functions/steps/index.js';
import type { CleanupReport } from '../../shared/bootstrap/cleanup.js';
import type { GivenOptions } from '../../shared/bootstrap/options.js';
import { collections, functionNames, labels } from '../../shared/names.js';
import { createEngineLab, type EngineLab } from '../laws/engine-lab.js';

export interface RemovalLab {
  readonly lab: EngineLab;
  readonly id: string;
  readonly projectId: string;
  /** As the cloud keeps it. */
  project(): Record<string, unknown>;
  /** The world as it was when the bootstrap had just been made. */
  restore(): Promise<void>;
  record(): Promise<BootstrapRecord>;
  change(data: Readonly<Record<string, unknown>>): Promise<void>;
  /** Past its time. */
  expire(): Promise<void>;
  /** The record is lost, and these of its notes. */
  lose(...notes: readonly string[]): Promise<void>;
  /** Labels as if it had been made with a deadline in the past. */
  makeLate(): Promise<void>;
  /** What a run would do now. */
  dryRun(): Promise<CleanupReport>;
  /** A run, and all that follows from it. */
  cleaned(): Promise<CleanupReport>;
  /** Runs once, and the bootstrap is removed. */
  removed(): Promise<BootstrapRecord>;
}

export async function createRemovalLab(
  name: string,
  options: Partial<GivenOptions>,
  prepare: (lab: EngineLab) => void | Promise<void> = () => undefined,
): Promise<RemovalLab> {
  const lab = await createEngineLab();
  await prepare(lab);
  const id = await lab.begin(name, options);
  await lab.drain();
  const { state, projectId, problem } = await lab.record(id);
  expect(state, JSON.stringify(problem)).to.equal('succeeded');
  const saved = await lab.save();
  const project = () => lab.cloud.world.table<Record<string, unknown>>('projects')[projectId] ?? {};

  const at: RemovalLab = {
    lab,
    id,
    projectId,
    project,
    async restore() {
      lab.cloud.faults.clear();
      await lab.restore(saved);
    },
    record: () => lab.record(id),
    async change(data) {
      await lab.store.commit([{ kind: 'update', collection: collections.bootstraps, id, data }]);
    },
    async expire() {
      const past = new Date(Date.now() - 60_000).toISOString();
      await at.change({ deadlineAt: past, removeAt: past });
    },
    async lose(...notes) {
      await lab.store.commit([
        { kind: 'delete', collection: collections.bootstraps, id },
        ...notes.map((note) => ({ kind: 'delete', collection: collections.files, id: `${id}~${note}` }) as const),
      ]);
    },
    async makeLate() {
      const key = (await findProofKey(lab.context(functionNames.runCloudStep))) ?? '';
      const { labels: standing, projectNumber } = project() as {
        readonly labels: Readonly<Record<string, string>>;
        readonly projectNumber: string;
      };
      const expiry = `t${Math.floor(Date.now() / 1000) - 60}`;
      const proven = { projectNumber, bootstrapId: id, owner: standing[labels.owner] ?? '', expiry };
      project()['labels'] = { ...standing, [labels.deleteAfter]: expiry, [labels.proof]: proofOf(key, proven) };
    },
    dryRun: () => cleanup(lab.context(functionNames.cleanup), stepsOf({ hosts: false }), { dryRun: true }),
    async cleaned() {
      const report = await lab.cleanup();
      await lab.drain();
      return report;
    },
    async removed() {
      expect((await at.cleaned()).failed).to.deep.equal([]);
      const record = await at.record();
      expect(record, JSON.stringify(record.problem)).to.include({ state: 'removed' });
      return record;
    },
  };
  return at;
}
