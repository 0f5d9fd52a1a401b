/** Checks that the quotas of region and project suffice, before anything costly is made. */
import type { BootstrapOptions } from '../../../shared/bootstrap/options.js';
import { Problem } from '../../../shared/problems.js';
import { type BootstrapFacts, done, type StepCall } from '../../engine/step.js';
import { needsOf } from '../topology.js';
import { apis } from './apis.js';
import { QuotaOutput } from './outputs.js';
import { defineProjectStep } from './settling.js';

export const quota = defineProjectStep({
  name: 'quota',
  title: 'Quota',
  lane: 'cloud',
  needs: { apis },
  describe: (options) => [
    `check of the quotas of ${options.region}: ${Object.entries(needsOf(options))
      .map(([metric, need]) => `${metric} ${need}`)
      .join(', ')}`,
  ],
  output: QuotaOutput,

  async observe({ context, bootstrap }) {
    const checked = await check(context, bootstrap);
    return checked.every(({ need, limit }) => need <= limit) ? { checked } : undefined;
  },

  async run({ context, bootstrap }) {
    const short = (await check(context, bootstrap)).filter(({ need, limit }) => need > limit);
    if (short.length === 0) return done;
    const { region } = bootstrap.options;
    const words = short.map(({ metric, need, limit }) => `${metric}: limit ${limit}, needed ${need}`);
    throw new Problem('cloud-quota', `The quotas of ${region} are too low for this bootstrap. ${words.join('; ')}.`, {
      advice: `Ask Google to raise ${short.map(({ metric }) => metric).join(', ')} in ${region} for the project ${bootstrap.projectId}, or give another --region; then run the same command again.`,
      members: { region, short },
    });
  },
  goes: 'nothing',
});

/**
 * Compares with the limit, not with the free rest. The project is the bootstrap's own, so what is used is part of the need.
 */
async function check({ cloud }: StepCall['context'], { options, projectId }: BootstrapFacts) {
  const { region, zone } = options;
  const found = await cloud.compute.region(projectId, region);
  if (found === undefined) throw unknownPlace('--region', region);
  const { quotas = [], zones = [] } = found;
  if (!zones.some((link) => link.endsWith(`/${zone}`))) throw unknownPlace('--zone', zone);
  const everywhere = await cloud.compute.projectQuotas(projectId);
  const limits = new Map([...quotas, ...everywhere].map(({ metric, limit }) => [metric, limit]));
  return Object.entries(asCounted(options, limits)).flatMap(([metric, need]) => {
    const limit = limits.get(metric);
    return limit === undefined ? [] : [{ metric, need, limit }];
  });
}

/** Spot and preemptible VMs use CPUs of their own quota, unless that is 0. All count in CPUS_ALL_REGIONS. */
function asCounted(options: BootstrapOptions, limits: ReadonlyMap<string, number>): Readonly<Record<string, number>> {
  const { CPUS = 0, ...rest } = needsOf(options);
  const isSpot = (options.spotVms || options.preemptible) && (limits.get(spotMetric) ?? 0) > 0;
  return { [isSpot ? spotMetric : 'CPUS']: CPUS, CPUS_ALL_REGIONS: CPUS, ...rest };
}

const spotMetric = 'PREEMPTIBLE_CPUS';

const unknownPlace = (flag: string, name: string): Problem =>
  new Problem('cloud-input', `Google Cloud has no ${flag.slice(2)} ${name} for this project.`, {
    errors: [{ path: flag, message: `${name} does not exist` }],
    advice: `Give another ${flag}, then run the same command again.`,
  });
