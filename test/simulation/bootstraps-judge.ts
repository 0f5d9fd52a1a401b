/** What must hold of bootstraps at every commit and call, and at the end. Written from what people were told, not from the product's rules. */

import { projectTable } from '../../local/cloud/projects/projects.js';
import { local } from '../../local/stack/deployment.js';
import type { StepMessage } from '../../shared/bootstrap/message.js';
import { collections } from '../../shared/names.js';
import { mostAheadSeconds, type Stage } from './bootstraps-stage.js';

/** A word of each secret that people give. It may stand in Secret Manager alone. */
export const secretWord = 'planted-secret';

interface Promised {
  /** Somebody asked for the removal, or began something whose answer was lost. */
  asked: boolean;
  /** By the last answer that told one, in milliseconds since 1970. */
  until: number;
}

interface Row {
  /** Of the document. */
  readonly id: string;
  readonly name: string;
  readonly projectId: string;
  readonly state: string;
  readonly events: number;
  readonly problem?: unknown;
}

interface LeaseRow {
  readonly bootstrapId: string;
  readonly instance: string;
  readonly holder?: string;
  readonly expiresAt?: string;
}

export interface Judge {
  readonly promised: Map<string, Promised>;
  /** After each commit. */
  look(): void;
  /** A message is sent that names an instance. */
  sent(message: StepMessage): void;
  /** After all is over. */
  end(): void;
}

const standing: ReadonlySet<string> = new Set([local.project, local.dnsProject, local.standingZone.project]);

export function createJudge(stage: Stage): Judge {
  const { memory, direct, teller, scheduler } = stage;
  const promised = new Map<string, Promised>();
  const made = new Map<string, number>();
  /** As the last look found them. */
  let held = new Map<string, LeaseRow>();
  /** All instances that were ever there to be run. */
  const wereReady = new Set<string>();
  let seenCalls = 0;
  let looks = 0;
  const wrong = (what: string): void => teller.wrong(scheduler.time(), what);
  const rows = (collection: string): Record<string, unknown>[] =>
    Object.values(memory.dump([collection])[collection] ?? {});
  const bootstraps = (): Row[] =>
    Object.entries(memory.dump([collections.bootstraps])[collections.bootstraps] ?? {}).map(
      ([id, data]) => ({ ...data, id }) as Row,
    );

  function judgeCalls(): void {
    for (const { method, params, named, status } of direct.calls.list({ since: seenCalls })) {
      if (status !== 200) continue;
      if (method === 'cloudresourcemanager.projects.create') {
        const times = (made.get(named ?? '') ?? 0) + 1;
        made.set(named ?? '', times);
        if (times > 1) wrong(`project ${named} is made ${times} times`);
      }
      if (method === 'cloudresourcemanager.projects.delete')
        judgeDeletion(params['projectsId'] ?? params['name'] ?? '');
    }
    seenCalls = direct.calls.last();
  }

  function judgeDeletion(given: string): void {
    const wanted = given.replace(/^projects\//, '');
    const project = Object.values(projectTable(direct.world)).find(
      ({ projectId, projectNumber }) => projectId === wanted || projectNumber === wanted,
    );
    const row = bootstraps().find(({ projectId }) => projectId === project?.projectId);
    teller.tell(scheduler.time(), 'cloud', `project ${project?.projectId} is deleted`);
    if (row === undefined) {
      wrong(`project ${project?.projectId} is deleted, and no bootstrap has it`);
      return;
    }
    const { asked, until } = promised.get(row.name) ?? { asked: true, until: 0 };
    if (!asked && scheduler.time() + mostAheadSeconds * 1000 < until)
      wrong(
        `project ${row.projectId} of ${row.name} is deleted ${Math.round((until - scheduler.time()) / 1000)} s too early`,
      );
  }

  function judgeCounters(all: readonly Row[]): void {
    const [counters] = rows(collections.counters) as {
      readonly inAll?: number;
      readonly byOwner?: Record<string, number>;
    }[];
    const living = all.filter(({ state }) => state !== 'removed').length;
    const owned = Object.values(counters?.byOwner ?? {}).reduce((sum, each) => sum + each, 0);
    if ((counters?.inAll ?? 0) !== living)
      wrong(`${living} bootstraps live, and the counter says ${counters?.inAll ?? 0}`);
    if (owned !== living) wrong(`${living} bootstraps live, and their owners' counters come to ${owned}`);
  }

  function judgeEvents(all: readonly Row[]): void {
    const told = rows(collections.events) as { readonly bootstrapId: string; readonly n: number }[];
    for (const { id, events } of all) {
      const numbers = told.filter(({ bootstrapId }) => bootstrapId === id).map(({ n }) => n);
      const isWhole = numbers.length === events && numbers.every((n, i) => n === i + 1);
      if (!isWhole) wrong(`${id} says that it has ${events} events, and these are there: ${numbers.join(' ')}`);
    }
  }

  const placeOf = ({ bootstrapId, instance }: Pick<LeaseRow, 'bootstrapId' | 'instance'>): string =>
    `${bootstrapId} ${instance}`;

  /** Nobody takes an instance from a function that may still be at it. */
  function judgeLeases(): void {
    const leases = rows(collections.leases) as unknown as LeaseRow[];
    for (const { holder, ...lease } of leases) {
      const place = placeOf(lease);
      wereReady.add(place);
      const before = held.get(place);
      if (before?.holder === undefined || holder === undefined || before.holder === holder) continue;
      const leftSeconds = (Date.parse(before.expiresAt ?? '') - scheduler.time()) / 1000;
      if (leftSeconds > mostAheadSeconds)
        wrong(`${place} is taken from its holder ${Math.round(leftSeconds)} s too early`);
    }
    held = new Map(leases.map((each) => [placeOf(each), each]));
  }

  return {
    promised,
    sent(message) {
      if (!wereReady.has(placeOf(message))) wrong(`a message names ${placeOf(message)}, which is not there yet`);
    },
    look() {
      const all = bootstraps();
      judgeCounters(all);
      judgeLeases();
      const projects = all.map(({ projectId }) => projectId);
      if (new Set(projects).size < projects.length) wrong('two bootstraps have one project');
      const names = all.filter(({ state }) => state !== 'removed').map(({ name }) => name);
      if (new Set(names).size < names.length) wrong(`two living bootstraps have one name: ${names.join()}`);
      looks += 1;
      // Each look at the events reads all of them.
      if (looks % 16 === 0) judgeEvents(all);
      judgeCalls();
    },
    end() {
      judgeCalls();
      judgeEvents(bootstraps());
      for (const { id, state, problem } of bootstraps()) {
        if (state !== 'removed') wrong(`${id} has come to no end: ${state}, ${JSON.stringify(problem)}`);
      }
      for (const { projectId, state } of Object.values(projectTable(direct.world))) {
        if (state === 'ACTIVE' && !standing.has(projectId)) wrong(`project ${projectId} is left`);
      }
      for (const collection of [collections.leases, collections.names, collections.files]) {
        const left = rows(collection).length;
        if (left > 0) wrong(`${left} documents are left in ${collection}`);
      }
      const secrets = Object.keys(direct.world.table('secretmanager.secrets')).filter((name) =>
        /\/secrets\/b-/.test(name),
      );
      if (secrets.length > 0) wrong(`secrets are left: ${secrets.join(', ')}`);
      const zones = Object.keys(direct.world.table('dns.zones'));
      if (zones.length > 0) teller.tell(scheduler.time(), 'judge', `zones: ${zones.join(', ')}`);
      const documents = JSON.stringify(memory.dump());
      if (documents.includes(secretWord)) wrong('a document holds a secret');
      if (teller.told().timeline.some((line) => line.includes(secretWord))) wrong('the timeline holds a secret');
    },
  };
}
