/** The one failure that says which quotas are too low, what Google was asked and answered, and the ways out. Pure. */
import type { QuotaShort } from '../../../shared/bootstrap/bootstrap.js';
import { Problem } from '../../../shared/problems.js';
import type { BootstrapFacts } from '../../engine/step.js';
import { type Lack, quotaIdOf, type Reply } from './quota-request.js';

/** How long the answer to a request is awaited. */
export const answerSeconds = 600;

export interface TooLow {
  readonly bootstrap: Pick<BootstrapFacts, 'options' | 'projectId'>;
  /** Replies, or plain lacks where nothing was asked. */
  readonly short: readonly (Lack | Reply)[];
  /** Whom Google may write to. Undefined: the deployment names nobody. */
  readonly contact: string | undefined;
  /** The limit under which spot VMs would fit. Undefined: they would not. */
  readonly spotLimit: number | undefined;
}

export function quotaTooLow(parts: TooLow): Problem {
  const { bootstrap, short } = parts;
  const { region } = bootstrap.options;
  const words = short.map(inWords);
  const says = [...new Set(short.flatMap((each) => answersIn(each)))];
  const bars = [...new Set(short.flatMap((each) => (isBarred(each) ? [each.answer] : [])))];
  const detail = [
    `The quotas of this project are too low for a bootstrap in ${region}. ${words.join('; ')}.`,
    ...says.map((answer) => `Google says: "${answer}"`),
    ...bars.map((why) => `plinth could not ask Google for more: ${why}`),
  ].join(' ');
  return new Problem('cloud-quota', detail, {
    advice: adviceFor(parts).join('\n'),
    members: { region, short: short.map(shown) },
  });
}

const isReply = (each: Lack | Reply): each is Reply => 'state' in each;
const isBarred = (each: Lack | Reply): each is Reply => isReply(each) && each.state === 'barred';

/** Google's own words about what it gave. Most often it says the same of each quota. */
const answersIn = (each: Lack | Reply): readonly string[] =>
  isReply(each) && each.state === 'short' && each.answer !== undefined ? [each.answer] : [];

function inWords(each: Lack | Reply): string {
  const plain = `${each.metric}: limit ${each.limit}, needed ${each.need}`;
  if (!isReply(each) || each.asked === undefined) return plain;
  const asked = `${plain}, asked Google for ${each.asked}`;
  switch (each.state) {
    case 'open':
      return `${asked}, no answer within ${answerSeconds / 60} min`;
    case 'granted':
      return `${asked}, granted ${each.granted}, but Compute Engine does not show it yet`;
    default:
      return `${asked}, granted ${each.granted}`;
  }
}

const shown = ({ metric, limit, need, ...rest }: Lack | Reply): QuotaShort => {
  const { asked, granted, answer } = rest as Partial<Reply>;
  return {
    metric,
    limit,
    need,
    ...(asked === undefined ? {} : { asked }),
    ...(granted === undefined ? {} : { granted }),
    ...(answer === undefined ? {} : { answer }),
  };
};

function adviceFor({ bootstrap, short, contact, spotLimit }: TooLow): string[] {
  const { projectId } = bootstrap;
  const unasked = short.filter((each) => !isReply(each) || each.asked === undefined);
  return [
    ...waits(short),
    ...(unasked.length === 0
      ? []
      : [
          `Ask Google to raise ${unasked.map(({ metric }) => metric).join(', ')} of the project ${projectId}, then run the same command again:`,
          `  gcloud services enable cloudquotas.googleapis.com --project=${projectId}`,
          ...unasked.map((each) => `  ${commandFor(each, projectId)}`),
        ]),
    ...(contact === undefined
      ? ['With the setting PLINTH_QUOTA_CONTACT of the deployment, plinth asks by itself.']
      : []),
    ...(spotLimit === undefined
      ? []
      : [
          `Or add --spot-vms: they use PREEMPTIBLE_CPUS, whose limit of ${spotLimit} is enough. A spot VM may be taken away at any time.`,
        ]),
    elsewhere(short),
    'What an operator has Google raise beforehand stands in docs/operate/deploy.md under "Quotas".',
  ];
}

/** What to wait for, where Google was asked. */
function waits(short: readonly (Lack | Reply)[]): string[] {
  const asked = short.filter(isReply).filter((each) => each.asked !== undefined);
  if (asked.length === 0) return [];
  const is = (state: Reply['state']) => asked.some((each) => each.state === state);
  return [
    ...(is('short')
      ? ['Google gave less than plinth asked for. Wait as its answer says: the same command then asks again.']
      : []),
    ...(is('open')
      ? ['Google has not answered yet. Run the same command again later: it goes on with the same request.']
      : []),
    ...(is('granted')
      ? ['Compute Engine does not show yet what Google granted. Run the same command again in some minutes.']
      : []),
    'The project is removed at its time: to wait longer, give a longer --project-ttl.',
  ];
}

function elsewhere(short: readonly (Lack | Reply)[]): string {
  const everywhere = short.filter(({ region }) => region === undefined).map(({ metric }) => metric);
  if (everywhere.length === 0) {
    return 'Or give another --region, or the --billing-account of an account with more history.';
  }
  const count = everywhere.length === 1 ? 'counts' : 'count';
  return `Or give the --billing-account of an account with more history. Another --region does not help: ${everywhere.join(', ')} ${count} in all regions together.`;
}

const commandFor = ({ metric, need, region }: Lack, projectId: string): string =>
  [
    'gcloud beta quotas preferences create',
    '--service=compute.googleapis.com',
    `--project=${projectId}`,
    `--quota-id=${quotaIdOf(metric, region !== undefined)}`,
    ...(region === undefined ? [] : [`--dimensions=region=${region}`]),
    `--preferred-value=${need}`,
    '--email=<your e-mail>',
  ].join(' ');
