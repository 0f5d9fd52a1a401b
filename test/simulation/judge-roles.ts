/** Who has roles on a project, once nobody is at it any more: its owner, those whom it is shared with and its teams, and no other person. */

import type { BootstrapRecord, LeaseRecord } from '../../functions/engine/record/documents.js';
import { iamMember } from '../../shared/iam-member.js';
import type { Stage } from './bootstraps-stage.js';
import { membersIn } from './judge-teams.js';

/** What functions asked for before they died or lost their lease is over by then. */
const quietSeconds = 900;

interface Binding {
  readonly role: string;
  readonly members: readonly string[];
}

export interface RolesJudge {
  /** At bootstraps that stand. Called each minute. */
  look(records: ReadonlyMap<string, BootstrapRecord>, leases: readonly LeaseRecord[]): void;
  /** A policy of a project was written. */
  written(records: ReadonlyMap<string, BootstrapRecord>): void;
}

export function createRolesJudge(stage: Stage, wrong: (what: string) => void): RolesJudge {
  const { direct, scheduler } = stage;
  const quiet = new Map<string, { readonly by: string; readonly from: number; isJudged: boolean }>();

  /** What belongs to a team is its owner's while they are in it. */
  function peopleOf({ owner, sharedWith = [], team, sharedTeams = [] }: BootstrapRecord): string[] {
    const members = membersIn(stage);
    const inTeam = team === undefined ? [] : (members.get(team) ?? []);
    const owners = team === undefined || inTeam.includes(owner) ? [owner] : [];
    const people = [...owners, ...sharedWith, ...inTeam, ...sharedTeams.flatMap((each) => members.get(each) ?? [])];
    return [...new Set(people.map(iamMember))].sort();
  }

  /** Roles of service accounts by project. */
  const held = new Map<string, ReadonlySet<string>>();

  const bindingsOf = (projectId: string): readonly Binding[] =>
    (direct.world.policies.get(`projects/${projectId}`, 3).bindings ?? []) as unknown as Binding[];

  return {
    written(records) {
      for (const { projectId, removal, state } of records.values()) {
        if (removal !== undefined || state === 'removed') continue;
        const now = new Set(
          bindingsOf(projectId).flatMap(({ role, members }) =>
            members.filter((each) => each.startsWith('serviceAccount:')).map((each) => `${role} of ${each}`),
          ),
        );
        const lost = [...(held.get(projectId) ?? [])].filter((each) => !now.has(each));
        if (lost.length > 0) wrong(`nobody took ${lost.join(', ')} on ${projectId}, and it is gone`);
        held.set(projectId, now);
      }
    },

    look(records, leases) {
      for (const [id, record] of records) {
        const { state, events, projectId, owner } = record;
        if (state !== 'succeeded' || owner === 'pool' || leases.some(({ bootstrapId }) => bootstrapId === id)) {
          quiet.delete(id);
          continue;
        }
        const before = quiet.get(id);
        const meant = peopleOf(record).join(', ');
        const by = `${events} ${meant}`;
        const since = before?.by === by ? before : { by, from: scheduler.time(), isJudged: false };
        quiet.set(id, since);
        if (since.isJudged || scheduler.time() - since.from < quietSeconds * 1000) continue;
        since.isJudged = true;
        const having = bindingsOf(projectId)
          .flatMap(({ members }) => members)
          .filter((member) => member.startsWith('user:'));
        const have = [...new Set(having)].sort().join(', ');
        if (have !== meant) wrong(`roles on ${projectId} are had by ${have}, and it is of ${meant}`);
      }
    },
  };
}
