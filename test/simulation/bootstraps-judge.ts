/** What must hold of bootstraps at every commit and call, and at the end. Written from what people were told, not from the product's rules. */
import type { BootstrapRecord, EventRecord, LeaseRecord } from '../../functions/engine/record/documents.js';
import type { Data, Write } from '../../functions/store/store.js';
import { projectTable } from '../../local/cloud/kernel/projects.js';
import { local } from '../../local/stack/deployment.js';
import type { StepMessage } from '../../shared/bootstrap/message.js';
import { collections } from '../../shared/names.js';
import { secretWord } from './bootstraps-people.js';
import { type BootstrapsItem, type Difficulty, difficulties, endsOfMishap, onlyOf } from './bootstraps-plan.js';
import { type EndedRun, mostAheadSeconds, type Stage } from './bootstraps-stage.js';
import { createMachinesJudge } from './judge-machines.js';
import { createMoneyJudge } from './judge-money.js';
import type { Promises } from './judge-promises.js';
import { createRolesJudge } from './judge-roles.js';
import { createSecretsJudge } from './judge-secrets.js';
import { createTeamsJudge } from './judge-teams.js';
import { createWaitsJudge } from './judge-waits.js';

export interface Judge {
  /** After each commit, with its writes and the delivery that did it. None: time has passed. */
  look(writes?: readonly Write[], by?: string): void;
  /** A delivery has ended its work at `<bootstrap> <instance>`. */
  over(by: string, ended: EndedRun): void;
  /** A message is sent that names an instance. */
  sent(message: StepMessage): void;
  /** After all is over. */
  end(): void;
}

/** Whose prepared projects are before anybody claims them. */
const nobody = 'pool';
const standing: ReadonlySet<string> = new Set([local.project, local.dnsProject, local.standingZone.project]);
const mostDeaths = 5;
const isLiving = ({ state, owner }: BootstrapRecord): boolean => state !== 'removed' && owner !== nobody;

export function createJudge(stage: Stage, promises: Promises, items: readonly BootstrapsItem[]): Judge {
  const { memory, direct, teller, scheduler } = stage;
  const difficulty = onlyOf(items, 'cloud');
  const { ends }: Pick<Difficulty, 'ends'> = difficulty === undefined ? { ends: [] } : difficulties[difficulty.is];
  const wrong = (what: string): void => teller.wrong(scheduler.time(), what);
  const money = createMoneyJudge(stage, onlyOf(items, 'ceilings')?.month, wrong);
  const deaths = items.filter((each) => each.kind === 'call' && each.how.startsWith('dies')).length;
  // What kills its function so often is given up.
  const mishaps = items.flatMap((each) => (each.kind === 'mishap' ? endsOfMishap[each.how] : []));
  const reasonsToFail = [...ends, ...mishaps, ...(deaths >= mostDeaths ? ['internal'] : [])];
  const waits = createWaitsJudge(stage, new Set(reasonsToFail), wrong);
  const roles = createRolesJudge(stage, wrong);
  const judgeSecret = createSecretsJudge(wrong);
  const judgeTeams = createTeamsJudge(stage, wrong);
  const judgeMachines = createMachinesJudge(stage, wrong);
  const made = new Map<string, number>();
  /** As the last look found them. */
  let leases: readonly LeaseRecord[] = [];
  let held = new Map<string, LeaseRecord>();
  /** Places that another delivery ended, with the delivery that had them, and the generation. */
  const endedFor = new Map<string, { readonly holder: string | undefined; readonly generation: number }>();
  /** The deliveries that took them. A delivery that commits for several takes what another one of its process goes on with. */
  const holders = new Map<string, string | undefined>();
  let known = new Map<string, BootstrapRecord>();
  const told = new Map<string, number>();
  /** Why each is removed, by its events. */
  const reasons = new Map<string, string>();
  /** All instances that were ever there to be run. */
  const wereReady = new Set<string>();
  let seenCalls = 0;
  const documents = (collection: string): [id: string, data: Data][] => Object.entries(memory.seen(collection));
  const records = (): Map<string, BootstrapRecord> =>
    new Map(documents(collections.bootstraps) as unknown as [string, BootstrapRecord][]);
  const placeOf = ({ bootstrapId, instance }: Pick<LeaseRecord, 'bootstrapId' | 'instance'>): string =>
    `${bootstrapId} ${instance}`;

  function judgeCalls(): void {
    for (const { method, params, named, status, at } of direct.calls.list({ since: seenCalls })) {
      if (status !== 200) continue;
      if (method === 'cloudresourcemanager.projects.create') {
        const times = (made.get(named ?? '') ?? 0) + 1;
        made.set(named ?? '', times);
        if (times > 1) wrong(`project ${named} is made ${times} times`);
      }
      if (method === 'cloudresourcemanager.projects.delete')
        judgeDeletion(params['projectsId'] ?? params['name'] ?? '');
      if (method.endsWith('.secrets.addVersion')) judgeSecret(params['secretsId'] ?? params['parent'] ?? '', at);
      if (method === 'cloudresourcemanager.projects.setIamPolicy') roles.written(known);
    }
    seenCalls = direct.calls.last();
  }

  function judgeDeletion(given: string): void {
    const wanted = given.replace(/^projects\//, '');
    const project = Object.values(projectTable(direct.world)).find(
      ({ projectId, projectNumber }) => projectId === wanted || projectNumber === wanted,
    );
    const record = [...known.values()].find(({ projectId }) => projectId === project?.projectId);
    teller.tell(scheduler.time(), 'cloud', `project ${project?.projectId} is deleted`);
    if (record === undefined) {
      wrong(`project ${project?.projectId} is deleted, and no bootstrap has it`);
      return;
    }
    money.leaves(record);
    const until = promises.until(record.name, record.projectId);
    if (scheduler.time() + mostAheadSeconds * 1000 < until)
      wrong(
        `project ${record.projectId} of ${record.name} is deleted ${Math.round((until - scheduler.time()) / 1000)} s too early`,
      );
  }

  function judgeCounters(all: readonly BootstrapRecord[]): void {
    const counts = documents(collections.counters).map(([, data]) => data as { inAll?: number; living?: number });
    const living = all.filter(isLiving).length;
    const counted = counts.reduce((sum, { inAll = 0 }) => sum + inAll, 0);
    const owned = counts.reduce((sum, { living: own = 0 }) => sum + own, 0);
    if (counted !== living) wrong(`${living} bootstraps live, and the counter says ${counted}`);
    if (owned !== living) wrong(`${living} bootstraps live, and their owners' counters come to ${owned}`);
  }

  /** No function takes or ends what another one may still be at. People may: whoever is at it then loses it. */
  function judgeLeases(by: string | undefined): void {
    const now = new Map(leases.map((each) => [placeOf(each), each]));
    for (const [place, { holder, generation, expiresAt = '' }] of held) {
      const after = now.get(place);
      if (holder === undefined || after?.holder === holder) continue;
      const leftSeconds = (Date.parse(expiresAt) - scheduler.time()) / 1000;
      const other = by !== undefined && by !== holders.get(place) && leftSeconds > mostAheadSeconds;
      if (other && after?.holder !== undefined)
        wrong(`${place} is taken from its holder ${Math.round(leftSeconds)} s too early`);
      // One commit ends several. Whether its holder wanted that, it tells afterwards.
      if (other && after?.holder === undefined) endedFor.set(place, { holder: holders.get(place), generation });
    }
    for (const [place, { holder }] of now) {
      wereReady.add(place);
      if (holder !== held.get(place)?.holder) holders.set(place, by);
    }
    held = now;
  }

  function judgeEvents(writes: readonly Write[]): void {
    for (const write of writes) {
      if (write.collection !== collections.events || write.kind === 'delete') continue;
      const record = write.data as unknown as EventRecord;
      const { bootstrapId, n } = record;
      const before = told.get(bootstrapId) ?? 0;
      if (n !== before + 1) wrong(`event ${n} of ${bootstrapId} comes after ${before}`);
      told.set(bootstrapId, Math.max(n, before));
      const { event } = record;
      if (event.type === 'action' && (event.action === 'cleanup' || event.action === 'expired'))
        reasons.set(bootstrapId, event.action === 'expired' ? 'its time was over' : `${event.actor} asked`);
      waits.event(record);
    }
    for (const [id, { events }] of known) {
      if (events !== (told.get(id) ?? 0))
        wrong(`${id} says that it has ${events} events, and ${told.get(id)} are there`);
    }
  }

  /** Who gets a project keeps it under its name, and nobody begins while that is stopped. */
  function judgeOwners(now: ReadonlyMap<string, BootstrapRecord>): void {
    for (const [id, { name, owner, projectId }] of now) {
      const before = known.get(id);
      if (before !== undefined && before.owner !== nobody && (owner === nobody || before.name !== name))
        wrong(`project ${projectId} was of ${before.name}, and is of ${name} now`);
      const begins = owner !== nobody && (before === undefined || before.owner === nobody);
      if (begins && promises.isStopped()) wrong(`${name} begins while new bootstraps are stopped`);
    }
    const living = [...now.values()].filter(({ state }) => state !== 'removed');
    if (new Set([...now.values()].map(({ projectId }) => projectId)).size < now.size)
      wrong('two bootstraps have one project');
    const names = living.map(({ name }) => name);
    if (new Set(names).size < names.length) wrong(`two living bootstraps have one name: ${names.join()}`);
  }

  function look(writes: readonly Write[] = [], by?: string): void {
    const touched = new Set(writes.map(({ collection }) => collection));
    if (JSON.stringify(writes).includes(secretWord)) wrong(`a secret is written to ${[...touched].join(', ')}`);
    // What no write touched is as the last look found it.
    const mayDiffer = (collection: string): boolean => writes.length === 0 || touched.has(collection);
    if (mayDiffer(collections.leases)) {
      leases = documents(collections.leases).map(([, data]) => data as unknown as LeaseRecord);
      judgeLeases(by);
    }
    if (mayDiffer(collections.bootstraps)) {
      const now = records();
      judgeOwners(now);
      known = now;
      judgeEvents(writes);
    }
    if (mayDiffer(collections.bootstraps) || mayDiffer(collections.counters)) {
      judgeCounters([...known.values()]);
      money.look([...known.values()]);
    }
    if ([collections.bootstraps, collections.counters, collections.teams].some(mayDiffer)) judgeTeams(known);
    waits.look(known, leases);
    judgeMachines(known);
    if (writes.length === 0) roles.look(known, leases);
    judgeCalls();
  }

  function judgeEnds(): boolean {
    let whole = true;
    for (const [id, { name, state, problem, removal }] of records()) {
      const isAlone = removal?.quarantinedAt !== undefined && problem !== undefined && ends.length > 0;
      if (state !== 'removed') whole = false;
      if (state !== 'removed' && !isAlone) wrong(`${id} has come to no end: ${state}, ${JSON.stringify(problem)}`);
      const why = reasons.get(id);
      if (why === undefined) wrong(`${id} is ${state}, and nobody knows why`);
      else if (why.endsWith('asked') && !promises.wasAsked(name))
        wrong(`${id} is removed because ${why}, and nobody did`);
    }
    return whole;
  }

  function judgeRest(): void {
    for (const { projectId, state } of Object.values(projectTable(direct.world))) {
      if (state === 'ACTIVE' && !standing.has(projectId)) wrong(`project ${projectId} is left`);
    }
    for (const collection of [collections.leases, collections.names, collections.files]) {
      const left = documents(collection).length;
      if (left > 0) wrong(`${left} documents are left in ${collection}`);
    }
    const secrets = Object.keys(direct.world.table('secretmanager.secrets')).filter((name) =>
      /\/secrets\/b-/.test(name),
    );
    if (secrets.length > 0) wrong(`secrets are left: ${secrets.join(', ')}`);
    const zones = Object.keys(direct.world.table('dns.zones'));
    if (zones.length > 0) teller.tell(scheduler.time(), 'judge', `zones: ${zones.join(', ')}`);
  }

  return {
    over(by, { place, generation, result }) {
      const ended = endedFor.get(place);
      const isTheirs = ended?.holder === by && ended.generation === generation;
      if (isTheirs) endedFor.delete(place);
      if (isTheirs && result === 'lost') wrong(`${place} was ended while its holder was at it`);
    },
    sent(message) {
      if (!wereReady.has(placeOf(message))) wrong(`a message names ${placeOf(message)}, which is not there yet`);
    },
    look,
    end() {
      look();
      if (judgeEnds()) judgeRest();
      if (JSON.stringify(memory.dump()).includes(secretWord)) wrong('a document holds a secret');
      if (teller.told().timeline.some((line) => line.includes(secretWord))) wrong('the timeline holds a secret');
    },
  };
}
