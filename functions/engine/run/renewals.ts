/** Leases of one bootstrap that are renewed at the same moment share a commit, such as those of all VMs that start. */
import { Problem } from '../../../shared/problems.js';
import type { Context } from '../../context.js';
import { persist } from '../../store/persist.js';
import type { Version, Write } from '../../store/store.js';
import { type Outcome, togetherInTurn } from '../../store/turns.js';

type Renewal = Extract<Write, { kind: 'update' }>;

/** Timers of the same moment come within this time. */
const gatherMilliseconds = 25;

/** Returns the version that its lease has then. Throws `Conflict` only for what has changed itself. */
export const renewTogether = (
  { store, clock }: Pick<Context, 'store' | 'clock'>,
  bootstrapId: string,
  renewal: Renewal,
): Promise<Version> => {
  const write = async (renewals: readonly Renewal[]): Promise<readonly Outcome<Version>[]> => {
    try {
      const versions = await persist(() => store.commit([...renewals]));
      return renewals.map((_, i) => ({ value: versions[i] ?? '' }));
    } catch (error) {
      const isOfAll = error instanceof Problem && error.code === 'unavailable';
      if (renewals.length === 1 || isOfAll) throw error;
      const alone = (each: Renewal) => write([each]).catch((own: unknown): Outcome<Version>[] => [{ error: own }]);
      return (await Promise.all(renewals.map(alone))).flat();
    }
  };
  return togetherInTurn(store, `renewals of ${bootstrapId}`, renewal, {
    gather: () => clock.pause(gatherMilliseconds / 1000),
    work: write,
  });
};
