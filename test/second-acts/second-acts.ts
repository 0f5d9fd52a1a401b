/**
 * Second acts: a project is opened by the real command line against the local stack, and then rerun, recovered, edited, damaged
 * and killed in an order that the seed decides. Acts take real time, so a kill may meet another moment the next time.
 */
import { existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import type { SecretsFile } from '../../shared/install-config/secrets.js';
import type { Simulation, Told } from '../simulation/told.js';
import { clientSecret } from '../support/scene.js';
import { announcedBy } from './announced.js';
import { bootstrapArgs, dailyArgs, dummySecret, powersOf, runArgs } from './commands.js';
import { damageFile, editedSecret, editFile, identitiesOf, isObstacle, lose, pathOf, secretsOf } from './hands.js';
import { judge, type Powers, valuesIn } from './judge.js';
import { type Act, flagSets, isByHand, type Plan, planOf, wordsOf } from './plan.js';
import { type Snapshot, takeSnapshot } from './snapshot.js';
import { boundMs, makeUser, openStage, type Ran, runBounded, runKilled, type Stage, type User } from './stage.js';

interface Play {
  readonly stage: Stage;
  readonly user: User;
  readonly timeline: string[];
  readonly faults: string[];
  readonly lostVms: Set<string>;
  /** What stood in a file before it was damaged. */
  readonly whole: Map<string, Buffer>;
  /** Files that would hold up this process. */
  readonly obstacles: Set<string>;
  /** Values of secrets that plinth may hold, by name. */
  readonly held: Map<string, Set<string>>;
  /** Options that changed since the files were last written. */
  readonly unwritten: Set<string>;
  readonly texts: Set<string>;
  /** Of the project whose record is lost. */
  lostProject: string | undefined;
}

type SecondActs = Simulation & { close(): Promise<void> };

export function createSecondActs(options: { readonly machines: boolean }): SecondActs {
  let stage: Promise<Stage> | undefined;
  let plays = 0;
  const close = async (): Promise<void> => {
    const open = stage;
    stage = undefined;
    await (await open)?.close();
  };
  return {
    name: options.machines ? 'second-acts-on-machines' : 'second-acts',
    inRealTime: true,
    size: (seed) => planOf(seed, options).acts.length,
    async play(seed, places) {
      const plan = planOf(seed, options);
      plays += 1;
      // The simulated cloud keeps what was deleted for thirty days.
      if (plays % 40 === 0) await close();
      stage ??= openStage(options);
      const acts = places.map((place) => plan.acts[place] as Act);
      const told = await playPlan(await stage, seed, { ...plan, acts });
      if (told.faults.length > 0) await close();
      return told;
    },
    close,
  };
}

async function playPlan(stage: Stage, seed: number, { opening, acts }: Plan): Promise<Told> {
  const user = await makeUser(stage, stage.nextName(seed));
  const play: Play = {
    ...{ stage, user, timeline: [], faults: [], lostProject: undefined },
    ...{ lostVms: new Set(), whole: new Map(), obstacles: new Set(), held: new Map(), unwritten: new Set() },
    texts: new Set([
      clientSecret,
      dummySecret,
      editedSecret,
      'planted-other-secret-4712',
      'planted-metrics-secret-4713',
    ]),
  };
  try {
    await open(play, opening);
    for (const act of acts) {
      if (play.faults.length > 0) break;
      if (isByHand(act)) await byHand(play, act);
      else await command(play, wordsOf(act), powersOf(act), () => perform(play, act));
    }
    if (play.faults.length === 0) await end(play);
  } catch (error) {
    play.faults.push(`the play itself broke off: ${error instanceof Error ? error.stack : String(error)}`);
  } finally {
    stage.scene.cloud.faults.clear();
    Object.assign(stage.trouble, { fails: 0, dies: 0 });
    user.remove();
  }
  return { timeline: play.timeline, faults: play.faults };
}

async function open(play: Play, { flags, installs, killedAfterMs }: Plan['opening']): Promise<void> {
  const { packageVersion } = play.stage;
  const args = bootstrapArgs(play.user, flags, installs ? { 'install-version': packageVersion } : {});
  const killed = killedAfterMs !== undefined;
  const words = `bootstrap-cloud with ${flags.name}${installs ? ' and an install' : ''}${killed ? `, and SIGKILL after ${killedAfterMs} ms` : ''}`;
  const powers: Powers = { looks: false, removes: false, killed };
  const ran = await command(play, words, powers, () =>
    killed ? runKilled(play.user, args, 'SIGKILL', killedAfterMs) : runBounded(play.user, args),
  );
  if (!killed && ran.exitCode !== 0) play.faults.push(`the opening ended with ${ran.exitCode}: ${ran.stderr}`);
}

function perform({ stage, user, obstacles }: Play, act: Act): Promise<Ran> {
  const apart = obstacles.size > 0;
  switch (act.kind) {
    case 'run':
      return runBounded(user, runArgs(user, act), apart);
    case 'kill':
      return runKilled(user, bootstrapArgs(user, act.flags), act.signal, act.afterMs);
    case 'daily':
      return runBounded(user, dailyArgs(user, act.command), apart);
    case 'disturb':
      disturb(stage, act);
      return runBounded(user, bootstrapArgs(user, act.flags), apart);
    default:
      throw new Error(`${act.kind} is no command`);
  }
}

/** The faults end with the act. */
function disturb({ scene: { cloud }, trouble }: Stage, { how, nth }: Extract<Act, { kind: 'disturb' }>): void {
  const methods = ['compute.*', 'cloudresourcemanager.*', 'dns.*', 'secretmanager.*', 'iam.*', 'serviceusage.*'];
  const method = methods[nth % methods.length] as string;
  if (how === 'answers of the cloud are lost') cloud.faults.add({ method, nth, times: 2, when: 'after', kind: 'drop' });
  if (how === 'the cloud is away for a moment') cloud.faults.add({ method, nth, times: 2, kind: 'unavailable' });
  if (how === 'the cloud refuses for a while')
    cloud.faults.add({ method, nth, times: 0, code: 403, reason: 'forbidden' });
  if (how === 'the store fails') trouble.fails = nth;
  if (how === 'a function dies') trouble.dies = nth;
}

/** Runs it, waits until nothing goes on behind it, and has it judged. */
async function command(play: Play, words: string, powers: Powers, run: () => Promise<Ran>): Promise<Ran> {
  const { stage, user } = play;
  const place = { folder: user.folder, cloud: stage.scene.cloud, store: stage.store, name: user.name };
  const [before, secretsBefore] = [await takeSnapshot(place), await secretsOf(user)];
  const ran = await run();
  stage.scene.cloud.faults.clear();
  Object.assign(stage.trouble, { fails: 0, dies: 0 });
  await stage.scene.stack.settle(boundMs / 1000);
  const [after, secretsAfter] = [await takeSnapshot(place), await secretsOf(user)];
  play.timeline.push(`${words}: ${ran.ending === 'ended' ? `exit code ${ran.exitCode}` : ran.ending}${lastWords(ran)}`);
  noteSecrets(play, secretsAfter);
  const faults = judge({
    ...{ ran, before, after, secretsAfter, powers },
    known: {
      ...{ folder: user.folder, lostVms: play.lostVms },
      ...{ secrets: [...play.texts], values: valuesBefore(play, secretsBefore, ran), unwritten: play.unwritten },
    },
  });
  play.faults.push(...faults);
  if (faults.length > 0) play.timeline.push(...faults.map((each) => `  judge: ${each}`), storyOf(ran));
  remember(play, { ran, after, secretsAfter });
  return ran;
}

const lastWords = ({ exitCode, stderr }: Ran): string =>
  exitCode === 0 ? '' : ` (${stderr.trim().split('\n').slice(-2).join(' ').slice(0, 160)})`;

const storyOf = ({ args, stdout, stderr }: Ran): string =>
  [`  plinth ${args.join(' ')}`, stderr.slice(-2000), stdout.split('\n').slice(-2).join('\n').slice(0, 3000)].join(
    '\n',
  );

/** What is in the file counts. Without one that can be read, or where it is recovered, what plinth holds. */
function valuesBefore(
  { held }: Play,
  inFile: SecretsFile | undefined,
  { args }: Ran,
): Map<string, ReadonlySet<string>> {
  const values = new Map<string, ReadonlySet<string>>(held);
  const isKept = !args.includes('--recover-config');
  for (const [name, value] of valuesIn(inFile))
    values.set(name, new Set([value, ...(isKept ? [] : (held.get(name) ?? []))]));
  return values;
}

function noteSecrets({ texts, user }: Play, file: SecretsFile | undefined): void {
  for (const identity of identitiesOf(user)) texts.add(identity);
  for (const { name, file: content, fields } of file?.secrets ?? []) {
    if (/Public|ClientId|postgresUser|registryUser|MetricsRemoteWriteUser|email/i.test(name)) continue;
    if (content !== undefined) texts.add(content.content.slice(60, 100));
    if (fields?.password !== undefined && fields.password.length > 11) texts.add(fields.password);
  }
}

function remember(
  play: Play,
  { ran, after, secretsAfter }: { ran: Ran; after: Snapshot; secretsAfter: SecretsFile | undefined },
) {
  const { begun, options, created } = announcedBy(ran, play.user.folder);
  if (created) play.held.clear();
  for (const option of options) play.unwritten.add(option);
  if (!begun || ran.exitCode !== 0) return;
  const repairs = ran.args.some((arg) => ['--project-name', 'up', 'restart-vms'].includes(arg));
  if (!repairs) return;
  if (after.bootstrap?.state.startsWith('succeeded') === true) play.lostVms.clear();
  for (const [name, value] of valuesIn(secretsAfter)) play.held.set(name, new Set([value]));
  if (ran.args.every((arg) => !/write-config|secrets-file/.test(arg))) play.unwritten.clear();
}

async function recordOf({ stage, user: { folder, name } }: Play): Promise<Snapshot['bootstrap']> {
  const { bootstrap } = await takeSnapshot({ folder, name, cloud: stage.scene.cloud, store: stage.store });
  return bootstrap;
}

async function byHand(play: Play, act: Act): Promise<void> {
  const { stage, user } = play;
  if (act.kind === 'lose') {
    const bootstrap = await recordOf(play);
    if (bootstrap === undefined || bootstrap.removal || !(await lose(stage, bootstrap, act))) return;
    if (act.what === 'the record') play.lostProject = bootstrap.projectId;
    else play.lostVms.add(act.vm);
  }
  if (act.kind === 'edit' || act.kind === 'damage') {
    const path = pathOf(user, act.file);
    if (path === undefined) return;
    if (act.kind === 'damage') {
      if (!play.whole.has(path)) play.whole.set(path, readFileSync(path));
      damageFile(path, act.how, act.at);
      if (isObstacle(act.how)) play.obstacles.add(path);
    } else if (!play.whole.has(path)) {
      await editFile(user, path, act.how);
    }
  }
  play.timeline.push(wordsOf(act));
}

/** Whatever happened: with the damaged files put back, the same command ends well, and a removal leaves nothing. */
async function end(play: Play): Promise<void> {
  const { user, lostProject } = play;
  for (const [path, bytes] of play.whole) {
    rmSync(path, { recursive: true, force: true });
    writeFileSync(path, bytes);
  }
  play.obstacles.clear();
  const plain = flagSets[0];
  const acts: Powers = { looks: false, removes: false, killed: false };
  if (existsSync(`${user.folder}/plan.json`)) rmSync(`${user.folder}/plan.json`);
  // A command of before may have begun the project with other values than the first one had.
  const more = lostProject === undefined ? (await recordOf(play))?.fixed : ({ 'recover-config': true } as const);
  const args = bootstrapArgs(user, plain, more);
  const ran = await command(play, 'the damaged files are put back; bootstrap-cloud', acts, () =>
    runBounded(user, args),
  );
  if (ran.exitCode !== 0 && play.faults.length === 0) {
    play.faults.push(`the same command does not end well: exit code ${ran.exitCode}`);
    play.timeline.push(storyOf(ran));
  }
  if (play.faults.length > 0) return;
  if ((await recordOf(play))?.installed === true) {
    const opened = await command(play, 'open', { ...acts, looks: true }, () =>
      runBounded(user, dailyArgs(user, 'open')),
    );
    if (opened.exitCode !== 0) play.faults.push(`what was installed cannot be opened: ${opened.stderr}`);
  }
  await command(play, 'unprotect', acts, () => runBounded(user, dailyArgs(user, 'unprotect')));
  const removed = await command(play, 'cleanup', { ...acts, removes: true }, () =>
    runBounded(user, dailyArgs(user, 'cleanup')),
  );
  if (removed.exitCode !== 0) play.faults.push(`cleanup ended with ${removed.exitCode}: ${removed.stderr}`);
}
