/** The one failure that says which quotas are too low, what Google was asked and answered, and the ways out. Pure. */
import type { QuotaShort } from '../../../shared/bootstrap/bootstrap.js';
import { Problem } from '../../../shared/problems.js';
import type { BootstrapFacts } from '../../engine/step.js';
import { type Lack, quotaIdOf, type Reply } from './quota-request.js';

export interface TooLow {
  readonly bootstrap: Pick<BootstrapFacts, 'options' | 'projectId'>;
  /** Replies, or plain lacks where nothing was asked. */
  readonly short: readonly (Lack | Reply)[];
  /** Whom Google may write to. Undefined: the deployment names nobody. */
  readonly contact: string | undefined;
  readonly waitSeconds: number;
  /** The limit under which spot VMs would fit. Undefined: they would not. */
  readonly spotLimit: number | undefined;
}

export function quotaTooLow(parts: TooLow): Problem {
  const { bootstrap, short, waitSeconds } = parts;
  const { region } = bootstrap.options;
  const words = short.map((each) => inWords(each, waitSeconds));
  const bars = [...new Set(short.flatMap((each) => (isBarred(each) ? [each.answer] : [])))];
  const detail = [
    `The quotas of ${region} are too low for this bootstrap. ${words.join('; ')}.`,
    ...bars.map((why) => `plinth could not ask Google for more: ${why}`),
  ].join(' ');
  return new Problem('cloud-quota', detail, {
    advice: adviceFor(parts).join('\n'),
    members: { region, short: short.map(shown) },
  });
}

const isReply = (each: Lack | Reply): each is Reply => 'state' in each;
const isBarred = (each: Lack | Reply): each is Reply => isReply(each) && each.state === 'barred';

function inWords(each: Lack | Reply, waitSeconds: number): string {
  const plain = `${each.metric}: limit ${each.limit}, needed ${each.need}`;
  if (!isReply(each) || each.asked === undefined) return plain;
  const asked = `${plain}, asked Google for ${each.asked}`;
  switch (each.state) {
    case 'open':
      return `${asked}, no answer within ${Math.round(waitSeconds / 60)} min`;
    case 'granted':
      return `${asked}, granted ${each.granted}, but Compute Engine does not show it yet`;
    default:
      return `${asked}, granted ${each.granted}${each.answer === undefined ? '' : ` ("${each.answer}")`}`;
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
  const { options, projectId } = bootstrap;
  const unasked = short.filter((each) => !isReply(each) || each.asked === undefined);
  const asked = short.length > unasked.length;
  return [
    ...(asked
      ? [
          "Wait as Google's answer says; the same command then asks again, or goes on once it is granted.",
          'The project is removed at its time: to wait longer, give a longer --project-ttl.',
        ]
      : []),
    ...(unasked.length === 0
      ? []
      : [
          `Ask Google to raise ${unasked.map(({ metric }) => metric).join(', ')} in ${options.region} for the project ${projectId}, then run the same command again:`,
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
    'Or run the same command again with another --region, or with the --billing-account of an account with more history.',
    'What an operator has Google raise beforehand stands in docs/operate/deploy.md under "Quotas".',
  ];
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
