/** Who has roles on a project, once nobody is at it any more: its owner and those whom it is shared with, and no other person. */

import type { BootstrapRecord, LeaseRecord } from '../../functions/engine/record/documents.js';
import { iamMember } from '../../shared/iam-member.js';
import type { Stage } from './bootstraps-stage.js';

/** What functions asked for before they died or lost their lease is over by then. */
const quietSeconds = 900;

/** Looks at bootstraps that stand. Called each minute. */
export function createRolesJudge(
  { direct, scheduler }: Stage,
  wrong: (what: string) => void,
): (records: ReadonlyMap<string, BootstrapRecord>, leases: readonly LeaseRecord[]) => void {
  const quiet = new Map<string, { readonly events: number; readonly from: number; isJudged: boolean }>();

  return (records, leases) => {
    for (const [id, { state, events, projectId, owner, sharedWith = [] }] of records) {
      if (state !== 'succeeded' || owner === 'pool' || leases.some(({ bootstrapId }) => bootstrapId === id)) {
        quiet.delete(id);
        continue;
      }
      const before = quiet.get(id);
      const since = before?.events === events ? before : { events, from: scheduler.time(), isJudged: false };
      quiet.set(id, since);
      if (since.isJudged || scheduler.time() - since.from < quietSeconds * 1000) continue;
      since.isJudged = true;
      const { bindings = [] } = direct.world.policies.get(`projects/${projectId}`, 3);
      const having = (bindings as unknown as { readonly members: readonly string[] }[])
        .flatMap(({ members }) => members)
        .filter((member) => member.startsWith('user:'));
      const meant = [owner, ...sharedWith].map(iamMember);
      const words = (members: Iterable<string>): string => [...new Set(members)].sort().join(', ');
      if (words(having) !== words(meant))
        wrong(`roles on ${projectId} are had by ${words(having)}, and it is of ${words(meant)}`);
    }
  };
}
