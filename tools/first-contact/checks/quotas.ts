/** Quotas of a new project: how they are spelt, where they are told, how much there is. */

import { quotaIdOf } from '../../../functions/steps/cloud/quota-request.js';
import { type Bench, type Check, heldIf, type Tree } from '../check.js';
import { Untried } from '../untried.js';

const regional = ['CPUS', 'PREEMPTIBLE_CPUS', 'SSD_TOTAL_GB', 'IN_USE_ADDRESSES', 'STATIC_ADDRESSES', 'N2D_CPUS'];
const everywhere = 'CPUS_ALL_REGIONS';

/** The least that was seen of new projects, by public issues. */
const least: Readonly<Record<string, number>> = {
  CPUS: 8,
  SSD_TOTAL_GB: 250,
  IN_USE_ADDRESSES: 4,
  STATIC_ADDRESSES: 1,
};

const limitsIn = (quotas: readonly { readonly metric: string; readonly limit: number }[]): Record<string, number> =>
  Object.fromEntries(quotas.map(({ metric, limit }) => [metric, limit]));

const regionOf = async ({ cloud, project, region }: Bench) =>
  limitsIn((await cloud.compute.region(project, region))?.quotas ?? []);
const projectOf = async ({ cloud, project }: Bench) => limitsIn(await cloud.compute.projectQuotas(project));

const infos = ({ project }: Bench): string =>
  `/v1/projects/${project}/locations/global/services/compute.googleapis.com/quotaInfos`;

/** All that a bootstrap may need. */
export const neededMetrics: readonly string[] = [
  'CPUS',
  'PREEMPTIBLE_CPUS',
  everywhere,
  'SSD_TOTAL_GB',
  'INSTANCES',
  'STATIC_ADDRESSES',
  'IN_USE_ADDRESSES',
  'NETWORKS',
  'ROUTERS',
  'FIREWALLS',
];

export const quotaChecks: readonly Check[] = [
  {
    id: 'quotas.regional',
    believes: 'regions.get tells the quotas that plinth reads, under the names that it reads.',
    source: 'reported',
    needs: ['services.first-call'],
    async run(bench) {
      const limits = await regionOf(bench);
      const missing = regional.filter((metric) => limits[metric] === undefined);
      return heldIf(missing.length === 0, missing.length === 0 ? 'all are there' : `missing: ${missing.join(', ')}`);
    },
  },
  {
    id: 'quotas.everywhere',
    believes: `${everywhere} is told by projects.get, and not by regions.get.`,
    source: 'reported',
    needs: ['services.first-call'],
    async run(bench) {
      const [inRegion, inProject] = [await regionOf(bench), await projectOf(bench)];
      const holds = inProject[everywhere] !== undefined && inRegion[everywhere] === undefined;
      return heldIf(
        holds,
        `projects.get: ${inProject[everywhere] ?? 'not told'}, regions.get: ${inRegion[everywhere] ?? 'not told'}`,
      );
    },
  },
  {
    id: 'quotas.least',
    believes:
      'A new project has at least 8 CPUs, 250 GB of SSD, four addresses in use and one static address in a region.',
    source: 'reported',
    needs: ['services.first-call'],
    async run(bench) {
      const limits = await regionOf(bench);
      const seen = regional.map((metric) => `${metric} ${limits[metric] ?? 'not told'}`).join(', ');
      return heldIf(
        Object.entries(least).every(([metric, need]) => (limits[metric] ?? 0) >= need),
        seen,
      );
    },
  },
  {
    id: 'quotas.id',
    believes: 'Cloud Quotas calls the CPUs of a region CPUS-per-project-region, with the region as a dimension.',
    source: 'documented',
    needs: ['services.each-api'],
    async run(bench) {
      const { status, body, message } = await bench.ask('cloudquotas', `GET ${infos(bench)}/CPUS-per-project-region`);
      if (status === 403) throw new Untried(`quotas can't be read: ${message}`);
      if (status !== 200) return heldIf(false, `${status} ${message}`);
      const { ineligibilityReason } = (body['quotaIncreaseEligibility'] ?? {}) as Tree & {
        readonly ineligibilityReason?: string;
      };
      const dimensions = (body['dimensions'] ?? []) as string[];
      const rise = ineligibilityReason === undefined ? 'a rise can be asked for' : `no rise: ${ineligibilityReason}`;
      return heldIf(dimensions.includes('region'), `dimensions ${dimensions.join(', ')}; ${rise}`);
    },
  },
  {
    id: 'quotas.each-id',
    believes: 'Cloud Quotas knows each quota that a bootstrap needs by the id that plinth makes of its metric.',
    source: 'reported',
    needs: ['quotas.id'],
    async run(bench) {
      const inRegion = await regionOf(bench);
      const wrong: string[] = [];
      for (const metric of neededMetrics) {
        const isRegional = inRegion[metric] !== undefined;
        const id = quotaIdOf(metric, isRegional);
        const { status, body, message } = await bench.ask('cloudquotas', `GET ${infos(bench)}/${id}`);
        if (status === 403) throw new Untried(`quotas can't be read: ${message}`);
        const dimensions = (body['dimensions'] ?? []) as string[];
        if (status !== 200) wrong.push(`${id}: ${status}`);
        else if (dimensions.includes('region') !== isRegional) wrong.push(`${id}: dimensions ${dimensions.join(', ')}`);
      }
      return heldIf(wrong.length === 0, wrong.length === 0 ? `all ${neededMetrics.length}` : wrong.join('; '));
    },
  },
  {
    id: 'quotas.request',
    believes: 'A request for quota is taken in a new project, and its first reply tells what is granted so far.',
    source: 'documented',
    needs: ['quotas.id'],
    async run(bench) {
      const { ask, project, region } = bench;
      // What it has already, so that nothing is raised.
      const preferred = (await regionOf(bench))['CPUS'] ?? 0;
      const reply = await ask(
        'cloudquotas',
        `POST /v1/projects/${project}/locations/global/quotaPreferences?quotaPreferenceId=first-contact`,
        {
          service: 'compute.googleapis.com',
          quotaId: 'CPUS-per-project-region',
          dimensions: { region },
          quotaConfig: { preferredValue: String(preferred) },
          justification: 'First contact of plinth: nothing more than there is.',
        },
      );
      if (reply.status === 403) throw new Untried(`no request may be made: ${reply.message}`);
      if (reply.status !== 200) return heldIf(false, `${reply.status} ${reply.message}`);
      const { grantedValue, stateDetail = '' } = (reply.body['quotaConfig'] ?? {}) as Readonly<Record<string, string>>;
      const said = `reconciling ${String(reply.body['reconciling'] ?? false)}, granted ${grantedValue} ${stateDetail}`;
      return heldIf(grantedValue !== undefined, said.trim());
    },
  },
];
