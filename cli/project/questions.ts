/** The questions of `plinth init`: one table, with what is offered and taken by default. */
import { basename, resolve } from 'node:path';
import { formatSeconds, parseDuration } from '../../shared/bootstrap/duration.js';
import { flagName, flagOf, type Option } from '../../shared/bootstrap/options.js';
import { Problem } from '../../shared/problems.js';
import type { CommandContext } from '../frame/command.js';
import { ask } from '../frame/confirm.js';
import { printable } from '../frame/output.js';
import { refusal } from '../frame/required.js';
import { table } from '../frame/table.js';
import type { Answers } from './asked-options.js';
import type { Offers } from './offers.js';

interface Asking {
  readonly offers: Offers;
  /** Given or answered so far. */
  readonly answers: Answers;
  readonly folder: string;
}

interface Question {
  readonly option: keyof Answers;
  readonly text: string;
  /** What people may choose by a number. */
  offered?(asking: Asking): readonly string[];
  /** What Enter takes. */
  fallback(asking: Asking): string | undefined;
  /** What it means to give no value. Without this, one is needed. */
  without?(asking: Asking): string | undefined;
  /** `undefined`: the answer is right. */
  whyBad?(answer: string, asking: Asking): string | undefined;
  /** The options that an answer sets, if not this one alone. */
  set?(answer: string): Answers;
}

const earlier =
  (option: Option) =>
  ({ offers }: Asking): string | undefined => {
    const value: unknown = offers.earlier[option];
    return typeof value === 'string' && value !== '' ? value : undefined;
  };
const isRight = (option: Option, text: string): boolean => flagOf(option).schema.safeParse(text).success;

const zonePattern = /^[^/]+\/[^/]+$/;

const questions: readonly Question[] = [
  {
    option: 'projectName',
    text: 'Name of the project',
    fallback: ({ folder }) => {
      const name = basename(resolve(folder));
      return isRight('projectName', name) ? name : undefined;
    },
  },
  {
    option: 'billingAccount',
    text: 'Billing account that pays',
    offered: ({ offers }) => offers.billingAccounts,
    fallback: (asking) => earlier('billingAccount')(asking) ?? asking.offers.billingAccounts[0],
  },
  {
    option: 'baseDomain',
    text: 'Domain of the platform',
    fallback: (asking) => {
      const above = earlier('baseDomain')(asking)?.replace(/^[^.]+\./, '');
      const label = (asking.answers.projectName ?? '').toLowerCase().replaceAll(/[^a-z0-9]+/g, '-');
      const domain = `${label.replaceAll(/^-|-$/g, '')}.${above ?? ''}`;
      return isRight('baseDomain', domain) ? domain : undefined;
    },
  },
  {
    option: 'folderId',
    text: 'Folder that the project is made in',
    offered: ({ offers }) => offers.folders,
    fallback: (asking) => {
      const { offers } = asking;
      return earlier('folderId')(asking) ?? (offers.defaultParent === undefined ? offers.folders[0] : undefined);
    },
    without: ({ offers }) =>
      offers.defaultParent === undefined ? 'none' : `the deployment's own, ${offers.defaultParent}`,
  },
  {
    option: 'zone',
    text: 'Zone of the machines',
    fallback: (asking) => earlier('zone')(asking) ?? String(flagOf('zone').default),
  },
  {
    option: 'dnsZoneName',
    text: 'DNS zone, as <project>/<zone>',
    offered: ({ offers }) => offers.dnsZones,
    fallback: (asking) => {
      const [project, zone] = [earlier('dnsProjectId')(asking), earlier('dnsZoneName')(asking)];
      return project === undefined || zone === undefined ? undefined : `${project}/${zone}`;
    },
    without: () => 'one in the new project',
    whyBad: (answer) => {
      const [project = '', zone = ''] = answer.split('/');
      const fits = zonePattern.test(answer) && isRight('dnsProjectId', project) && isRight('dnsZoneName', zone);
      return fits ? undefined : 'must be <project>/<zone>';
    },
    set: (answer) => {
      const [dnsProjectId = '', dnsZoneName = ''] = answer.split('/');
      return { dnsProjectId, dnsZoneName };
    },
  },
  {
    option: 'projectTtl',
    text: 'How long the project lives',
    fallback: (asking) => {
      const { longestSeconds = Number.POSITIVE_INFINITY } = asking.offers;
      const usual = earlier('projectTtl')(asking) ?? String(flagOf('projectTtl').default);
      return (parseDuration(usual) ?? 0) <= longestSeconds ? usual : `${longestSeconds}s`;
    },
    whyBad: (answer, { offers: { longestSeconds } }) =>
      longestSeconds === undefined || (parseDuration(answer) ?? 0) <= longestSeconds
        ? undefined
        : `may be at most ${formatSeconds(longestSeconds)} here`,
  },
  { option: 'registryUser', text: 'Your user at the forge1 image registry', fallback: earlier('registryUser') },
  { option: 'forge1AppClientId', text: 'Client ID of the forge1 app', fallback: earlier('forge1AppClientId') },
  {
    option: 'installVersion',
    text: 'Version of the platform to install',
    fallback: earlier('installVersion'),
    without: () => 'none: cloud resources alone',
  },
];

/** `given`: from flags, which are not asked for. With `--yes` nothing is: all takes its default. */
export async function answersTo(call: CommandContext, offers: Offers, given: Answers): Promise<Answers> {
  const answers: Answers = { ...given };
  const asking: Asking = { offers, answers, folder: call.settings.folder ?? '.' };
  if (!call.has('yes')) call.output.say('Press Enter for the value in brackets, or type - for none.');
  for (const question of questions) {
    if (answers[question.option] !== undefined) continue;
    const answer = call.has('yes') ? question.fallback(asking) : await answerTo(question, asking, call);
    if (answer !== undefined) Object.assign(answers, question.set?.(answer) ?? { [question.option]: answer });
  }
  const missing = questions.filter(({ option, without }) => answers[option] === undefined && without === undefined);
  if (missing.length > 0)
    throw refusal(missing.map(({ option }) => ({ path: flagName(option), message: 'is needed' })));
  return answers;
}

async function answerTo(question: Question, asking: Asking, call: CommandContext): Promise<string | undefined> {
  const { output, io } = call;
  const offered = question.offered?.(asking) ?? [];
  const fallback = question.fallback(asking);
  const without = question.without?.(asking);
  const bracket = fallback ?? without;
  if (offered.length > 0) {
    for (const line of table(offered.map((each, i) => [String(i + 1), each]))) output.say(line);
  }
  const hint = bracket === undefined ? '' : ` [${printable(bracket)}]`;
  const choice = offered.length > 0 ? ' (or its number)' : '';
  for (;;) {
    const text = (await ask(`${question.text}${choice}${hint}:`, call)).trim();
    if (io.stdin.readableEnded)
      throw new Problem('interrupted', 'The input ended.', { advice: 'Nothing was written.' });
    const answer = text === '' ? fallback : text === '-' ? undefined : (offered[Number(text) - 1] ?? text);
    if (answer === undefined && without !== undefined) return undefined;
    const why = answer === undefined ? 'is needed' : whyBad(question, answer, asking);
    if (why === undefined) return answer;
    output.say(`It ${why}.`);
  }
}

function whyBad(question: Question, answer: string, asking: Asking): string | undefined {
  const own = question.whyBad?.(answer, asking);
  if (own !== undefined || question.set !== undefined) return own;
  const read = flagOf(question.option).schema.safeParse(answer);
  return read.success ? undefined : (read.error.issues[0]?.message ?? 'is not valid');
}
