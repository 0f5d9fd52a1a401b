/** Checks that the quotas of region and project suffice, before anything costly is made. Asks Google for what lacks. */
import { Problem } from '../../../shared/problems.js';
import { again, type BootstrapFacts, done, type Outcome, type StepCall } from '../../engine/step.js';
import { countedNeeds, needsOf, spotMetric } from '../topology.js';
import { apis } from './apis.js';
import { QuotaOutput } from './outputs.js';
import { answerSeconds, quotaTooLow } from './quota-problem.js';
import { askForMore, type Lack, type Reply, readNotes, writeNotes } from './quota-request.js';
import { defineProjectStep } from './settling.js';

export const quota = defineProjectStep({
  name: 'quota',
  title: 'Quota',
  lane: 'cloud',
  prepares: 'again',
  needs: { apis },
  describe: (options, _key, machineAccess) => [
    `check of the quotas of ${options.region}: ${Object.entries(needsOf(options, machineAccess))
      .map(([metric, need]) => `${metric} ${need}`)
      .join(', ')}`,
    'request to Google for what lacks, if the deployment names a contact',
  ],
  output: QuotaOutput,

  async observe({ context, bootstrap }) {
    const { checked } = await check(context, bootstrap);
    return checked.some(lacks) ? undefined : { checked: checked.map(({ region: _, ...each }) => each) };
  },

  async run(call) {
    const found = await check(call.context, call.bootstrap);
    const short = found.checked.filter(lacks);
    if (short.length === 0) return done;
    const { quotaContact: contact } = call.context.config;
    const parts = {
      bootstrap: call.bootstrap,
      contact,
      spotLimit: spotLimitIn(call.bootstrap, found.limits),
    };
    if (contact === undefined) throw quotaTooLow({ ...parts, short });
    const notes = await readNotes(call);
    const replies = await askForMore(call, short, notes, contact);
    const wait = waitFor(replies, notes.waited);
    if (wait === undefined) throw quotaTooLow({ ...parts, short: replies });
    await writeNotes(call, { ...notes, waited: notes.waited + lookSeconds });
    return wait;
  },
  goes: 'nothing',
});

const lacks = ({ need, limit }: Lack): boolean => need > limit;

const lookSeconds = 15;
/** Rights on a new project, and an API that was enabled just now, take a while. */
const barredSeconds = 120;

/** Undefined: all is answered, or it was waited long enough. */
function waitFor(replies: readonly Reply[], waited: number): Outcome | undefined {
  const pending = replies.filter(({ state }) => state === 'open' || state === 'granted');
  const barred = replies.filter(({ mayPass }) => mayPass === true);
  const most = pending.length > 0 ? answerSeconds : barred.length > 0 ? barredSeconds : 0;
  if (waited >= most) return undefined;
  const words = (of: readonly Reply[]) =>
    of.map(({ metric, need, limit }) => `${metric} ${need} (now ${limit})`).join(', ');
  const [open, granted] = (['open', 'granted'] as const).map((is) => replies.filter(({ state }) => state === is));
  const note = [
    open?.length ? `Google looks at the request for ${words(open)}` : '',
    granted?.length ? `Google granted ${words(granted)}; Compute Engine does not show it yet` : '',
    barred[0] === undefined ? '' : `Google takes no request yet: ${barred[0].answer}`,
  ];
  // The engine's own patience must not end before this bound.
  return again(lookSeconds, note.filter((each) => each !== '').join('; '), answerSeconds + 3600);
}

/**
 * Compares with the limit, not with the free rest. The project is the bootstrap's own, so what is used is part of the need.
 */
async function check({ cloud }: StepCall['context'], bootstrap: BootstrapFacts) {
  const { options, projectId, loadBalancers } = bootstrap;
  const { region, zone } = options;
  const found = await cloud.compute.region(projectId, region);
  if (found === undefined) throw unknownPlace('--region', region);
  const { quotas = [], zones = [] } = found;
  if (!zones.some((link) => link.endsWith(`/${zone}`))) throw unknownPlace('--zone', zone);
  const everywhere = await cloud.compute.projectQuotas(projectId);
  const regional = new Set(quotas.map(({ metric }) => metric));
  const limits = new Map([...everywhere, ...quotas].map(({ metric, limit }) => [metric, limit]));
  const checked = Object.entries(countedNeeds(bootstrap, limits, loadBalancers)).flatMap(([metric, need]): Lack[] => {
    const limit = limits.get(metric);
    return limit === undefined ? [] : [{ metric, need, limit, region: regional.has(metric) ? region : undefined }];
  });
  return { checked, limits };
}

/** The limit of spot CPUs, where the bootstrap would fit with spot VMs. */
function spotLimitIn(facts: BootstrapFacts, limits: ReadonlyMap<string, number>): number | undefined {
  const { options, loadBalancers } = facts;
  if (options.spotVms || options.preemptible) return undefined;
  const spot = { ...facts, options: { ...options, spotVms: true } };
  const needs = Object.entries(countedNeeds(spot, limits, loadBalancers));
  return needs.every(([metric, need]) => need <= (limits.get(metric) ?? need)) ? limits.get(spotMetric) : undefined;
}

const unknownPlace = (flag: string, name: string): Problem =>
  new Problem('cloud-input', `Google Cloud has no ${flag.slice(2)} ${name} for this project.`, {
    errors: [{ path: flag, message: `${name} does not exist` }],
    advice: `Give another ${flag}, then run the same command again.`,
  });
