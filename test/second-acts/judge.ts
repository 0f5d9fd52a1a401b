/**
 * The judge of one act. No command ends with exit code 1 or hangs. A refused one changes nothing. What has changed of files,
 * secrets and resources was announced, or follows from what hands did before. No secret is shown.
 */
import type { SecretsFile } from '../../shared/install-config/secrets.js';
import { type Announced, announcedBy } from './announced.js';
import { type Change, changesBetween, type Snapshot } from './snapshot.js';
import type { Ran } from './stage.js';

/** What the play knows before an act, beside what can be seen. */
export interface Known {
  readonly folder: string;
  /** VMs that hands deleted or stopped, and no command has brought back yet. */
  readonly lostVms: ReadonlySet<string>;
  /** Texts that must not be shown. */
  readonly secrets: readonly string[];
  /** Values that a secret of the user's file may have: in the file before, and at the service. */
  readonly values: ReadonlyMap<string, ReadonlySet<string>>;
  /** Options that changed since the files were last written. */
  readonly unwritten: ReadonlySet<string>;
}

interface Judged {
  readonly ran: Ran;
  readonly before: Snapshot;
  readonly after: Snapshot;
  readonly known: Known;
  /** Decrypted after the act, if it can be. */
  readonly secretsAfter: SecretsFile | undefined;
  /** What this command may do at all. */
  readonly powers: Powers;
}

export interface Powers {
  /** It only looks: nothing of the cloud, the record and the user's files changes, except files that it names. */
  readonly looks: boolean;
  /** Whether a project may be deleted. */
  readonly removes: boolean;
  /** It ends with a signal: it cannot announce what it did. */
  readonly killed: boolean;
}

/** plinth's own notes: names for completion, what SSH keeps while it runs. */
const ownNotes = /^\.home\/(?:\.cache\/plinth\/|\.run\/|gcloud\/|\.config\/plinth\/ssh\/known_hosts)|^gcloud\//;

export function judge(judged: Judged): string[] {
  const announced = announcedBy(judged.ran, judged.known.folder);
  return [
    ...endingVerdicts(judged),
    ...shownVerdicts(judged),
    ...(isRefused(judged.ran) ? refusalVerdicts(judged) : []),
    ...fileVerdicts(judged, announced),
    ...cloudVerdicts(judged, announced),
    ...secretVerdicts(judged, announced),
    ...platformVerdicts(judged),
  ];
}

/** The input was refused: nothing was done. */
const isRefused = ({ exitCode }: Ran): boolean => exitCode === 2;

function endingVerdicts({ ran, powers }: Judged): string[] {
  if (ran.ending === 'hung') return ['it hangs'];
  if (ran.exitCode === 1 || /inside plinth/.test(ran.stderr))
    return [`exit code ${ran.exitCode}: ${firstLine(ran.stderr)}`];
  if (ran.exitCode === null && !powers.killed) return [`it ended with ${ran.ending}`];
  return [];
}

const firstLine = (text: string): string => text.trim().split('\n').slice(-2).join(' ').slice(0, 400);

const shownVerdicts = ({ ran, known }: Judged): string[] =>
  known.secrets.flatMap((secret) =>
    ran.stdout.includes(secret) || ran.stderr.includes(secret) ? [`it shows a secret: ${secret.slice(0, 12)}…`] : [],
  );

function refusalVerdicts({ ran, before, after }: Judged): string[] {
  const changes = [
    ...changesBetween(before.cloud, after.cloud),
    ...changesBetween(before.secrets, after.secrets),
    ...changesBetween(before.documents, after.documents),
    ...changesBetween(before.files, after.files).filter(({ name }) => !ownNotes.test(name)),
  ];
  return changes.map((change) => `refused, but ${inWords(change)} (${firstLine(ran.stderr)})`);
}

function fileVerdicts({ before, after, powers, ran }: Judged, { files }: Announced): string[] {
  return changesBetween(before.files, after.files)
    .filter(({ name }) => !ownNotes.test(name))
    .filter(({ name }) => !files.has(name))
    .filter(({ name }) => !(powers.killed && (isOutput(name) || ran.ending === 'SIGKILL')))
    .map((change) => `not announced: the file ${inWords(change)}`);
}

/** Files that a bootstrap command writes. A killed one has no time to name them. */
const isOutput = (name: string): boolean =>
  /^(?:(?:config|prod|other)[\w.-]*|\.home\/\.config\/plinth\/(?:age|ssh)\/[\w.-]+)$/.test(name);

/** The cloud controller changes forwarding rules by itself, as services come and go. */
const ofController = /\/a[0-9a-f]{31}$/;

function cloudVerdicts(judged: Judged, announced: Announced): string[] {
  const { before, after } = judged;
  return changesBetween(before.cloud, after.cloud)
    .filter(({ name }) => !ofController.test(name))
    .filter((change) => !isExplained(change, judged, announced))
    .map((change) => `not announced: in the cloud ${inWords(change)}`);
}

const finished: readonly (string | undefined)[] = ['succeeded', 'succeeded-with-warnings'];
/** Whose change reaches VMs and networks. The others change files and labels alone. */
const reachVms = [
  '--ssh-public-key-path',
  '--spot-vms',
  '--preemptible',
  '--root-disk-size',
  '--multi-dc',
  '--custom-pg-ip',
  '--registry-type',
];

function isExplained({ name, what }: Change, { before, after, known, powers }: Judged, announced: Announced): boolean {
  if (powers.looks) return false;
  if (powers.removes) return true;
  const was = before.bootstrap;
  // A new project, and what was not finished of an old one.
  const isNew = was === undefined || announced.created || was.id !== after.bootstrap?.id;
  if (powers.killed || (isNew && announced.begun)) return true;
  if (!announced.begun) return false;
  if (what !== 'is gone' && !finished.includes(was?.state)) return true;
  if ([...known.lostVms].some((vm) => new RegExp(`/${vm}(?:-[\\w-]+)?$`).test(name))) return true;
  if (/^projects /.test(name)) return [...announced.options].length > 0 || powersOverLabels(announced);
  if (/^iam\./.test(name)) return powersOverLabels(announced);
  return reachVms.some((option) => announced.options.has(option));
}

/** Commands that change life or people show the view, and no `changes`. */
const powersOverLabels = ({ begun, resumes }: Announced): boolean => begun && !resumes;

const platformVerdicts = ({ before, after }: Judged): string[] =>
  before.bootstrap?.installed === true &&
  after.bootstrap?.id === before.bootstrap.id &&
  !(after.bootstrap.installed || after.bootstrap.removal)
    ? ['not announced: what is installed is forgotten']
    : [];

/** Secrets that an option decides, by its flag. */
const decidedBy: Readonly<Record<string, RegExp>> = {
  '--forge1-app-client-secret': /^forge1AppClientSecret$/,
  '--forge1-app-client-id': /^forge1AppClientId$/,
  '--registry-user': /^registry/,
  '--cluster-admin-email': /^cluster-admin-email$/,
  '--metrics-remote-write-password': /^metricsRemoteWrite/,
  '--metrics-remote-write-user': /^metricsRemoteWrite/,
  '--vault-password': /^vaultPassword$/,
};

export const valuesIn = (file: SecretsFile | undefined): Map<string, string> =>
  new Map((file?.secrets ?? []).map((secret) => [secret.name, JSON.stringify([secret.file, secret.fields])]));

/** Everything else was announced only if its option was. */
function secretVerdicts(
  { before, after, known, secretsAfter, powers }: Judged,
  { options, warned, created, begun }: Announced,
): string[] {
  const isNew = created || before.bootstrap?.id !== after.bootstrap?.id;
  const isDecided = (name: string) =>
    Object.entries(decidedBy).some(
      ([flag, names]) => [options, warned, known.unwritten].some((each) => each.has(flag)) && names.test(name),
    );
  const inFile = [...valuesIn(secretsAfter)].flatMap(([name, value]) => {
    const allowed = known.values.get(name);
    if (isNew || powers.killed || allowed === undefined || allowed.has(value) || isDecided(name)) return [];
    return [`not announced: the secret ${name} of the user's file has another value`];
  });
  const kept = changesBetween(before.secrets, after.secrets)
    .filter(() => !(isNew || powers.removes || powers.killed))
    .filter(
      ({ name }) => !(name.endsWith('-caller') && begun && Object.keys(decidedBy).some((flag) => options.has(flag))),
    )
    .filter(({ what }) => !(what === 'is new' && !finished.includes(before.bootstrap?.state)))
    .map((change) => `not announced: in Secret Manager ${inWords(change)}`);
  return [...inFile, ...kept];
}

const inWords = ({ name, what }: Change): string => `${name} ${what}`;
